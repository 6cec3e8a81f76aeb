import ConnectionFSM
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Segments as files of a folder: `NAME-000001.jsonl`, readable by their owner alone.
final class SegmentFolder: SegmentStore {
  private let folder: String
  private let prefix: String
  private let file = Mutex<OpenFile>(OpenFile())

  private struct OpenFile {
    var descriptor: Int32 = -1
    var path = ""
  }

  private static let suffix = ".jsonl"

  init(_ folder: String, name: String) {
    self.folder = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    prefix = name + "-"
  }

  deinit { end() }

  func numbers() throws(RecordingError) -> [UInt64] {
    guard let stream = opendir(folder) else { throw failure("open", folder, errno) }
    defer { closedir(stream) }
    var numbers: [UInt64] = []
    while let entry = readdir(stream) {
      // The name is the last field, and a C string within the entry.
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
      }
      guard name.hasPrefix(prefix), name.hasSuffix(Self.suffix) else { continue }
      let digits = name.dropFirst(prefix.count).dropLast(Self.suffix.count)
      // Nothing but what `path(of:)` writes, so that no other file is ever removed.
      guard let number = UInt64(digits), path(of: number) == "\(folder)/\(name)" else { continue }
      numbers.append(number)
    }
    return numbers
  }

  func begin(_ number: UInt64) throws(RecordingError) {
    end()
    let path = path(of: number)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND
    let descriptor = System.call { Int(open(path, flags, 0o600)) }
    guard descriptor >= 0 else { throw failure("create", path, Int32(-descriptor)) }
    file.withLock { $0 = OpenFile(descriptor: Int32(descriptor), path: path) }
  }

  func append(_ bytes: [UInt8]) throws(RecordingError) {
    let file = file.withLock { $0 }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        System.call { write(file.descriptor, bytes.baseAddress, bytes.count) }
      }
      // A file takes at least one byte, or says why not.
      guard count > 0 else { throw failure("write", file.path, count == 0 ? EIO : Int32(-count)) }
      rest = rest.dropFirst(count)
    }
  }

  func remove(_ number: UInt64) throws(RecordingError) {
    let path = path(of: number)
    let result = System.call { Int(unlink(path)) }
    guard result >= 0 || result == -Int(ENOENT) else {
      throw failure("remove", path, Int32(-result))
    }
  }

  func end() {
    let descriptor = file.withLock { file in
      defer { file.descriptor = -1 }
      return file.descriptor
    }
    if descriptor >= 0 { System.close(descriptor) }
  }

  private func path(of number: UInt64) -> String {
    let digits = String(number)
    let zeros = String(repeating: "0", count: max(0, 6 - digits.count))
    return "\(folder)/\(prefix)\(zeros)\(digits)\(Self.suffix)"
  }

  private func failure(_ step: String, _ path: String, _ number: Int32) -> RecordingError {
    .system(
      step: step, path: path, SystemError(errno: number),
      reason: String(cString: strerror(number)))
  }
}
