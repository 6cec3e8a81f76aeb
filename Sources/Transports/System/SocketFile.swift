#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A socket in the file system, as it was when it was looked at: its name outlives whoever listens
/// on it, and another program may put a file of its own there.
struct SocketFile {
  /// What is at a path.
  enum Entry {
    case nothing
    case socket(SocketFile)
    case somethingElse
  }

  private let path: String
  private let device: UInt64
  private let inode: UInt64

  static func entry(at path: String) -> Entry {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .nothing }
    guard status.st_mode & S_IFMT == S_IFSOCK else { return .somethingElse }
    return .socket(
      SocketFile(
        path: path, device: UInt64(truncatingIfNeeded: status.st_dev),
        inode: UInt64(truncatingIfNeeded: status.st_ino)))
  }

  /// Whether somebody listens there. A queue that is full (EAGAIN) is somebody's.
  var isServed: Bool {
    guard let address = SocketAddress(path: path) else { return false }
    do throws(Errno) {
      let probe = try System.streamSocket(family: address.family)
      try System.connect(probe.raw, to: address)
      return true
    } catch {
      return error.number != ECONNREFUSED && error.number != ENOENT
    }
  }

  /// Removes the file, if it is still this one.
  func remove() {
    guard case .socket(let present) = Self.entry(at: path), present.device == device,
      present.inode == inode
    else { return }
    unlink(path)
  }
}
