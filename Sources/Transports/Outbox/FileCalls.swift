#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The calls by which an outbox changes and reads its file, in one place so that a test can let one
/// of them fail. Each answers with a count, 0 or a negated errno.
package struct FileCalls: Sendable {
  /// Reads at an offset.
  package var read: @Sendable (Int32, UnsafeMutableRawBufferPointer, Int) -> Int
  /// Writes at an offset; may take less than it is given.
  package var write: @Sendable (Int32, UnsafeRawBufferPointer, Int) -> Int
  /// Comes back once what was written is on disk, as far as the system can tell.
  package var sync: @Sendable (Int32) -> Int
  /// Cuts the file to this size.
  package var cut: @Sendable (Int32, Int) -> Int
  /// Gives the file at the first path the second one, in place of what is there.
  package var rename: @Sendable (String, String) -> Int
  /// Comes back once the names in this folder are on disk.
  package var syncFolder: @Sendable (String) -> Int

  /// The system's.
  package static let system = FileCalls(
    read: { file, buffer, offset in
      System.call { pread(file, buffer.baseAddress, buffer.count, off_t(offset)) }
    },
    write: { file, bytes, offset in
      System.call { pwrite(file, bytes.baseAddress, bytes.count, off_t(offset)) }
    },
    sync: { file in
      #if canImport(Darwin)
        // fsync leaves the bytes in the drive's cache there; not every file system has the other.
        let result = System.call { Int(fcntl(file, F_FULLFSYNC)) }
        return result >= 0 ? result : System.call { Int(fsync(file)) }
      #else
        // With the size, which a read of the data needs.
        System.call { Int(fdatasync(file)) }
      #endif
    },
    cut: { file, size in System.call { Int(ftruncate(file, off_t(size))) } },
    rename: { old, new in
      System.call {
        #if canImport(Darwin)
          Int(Darwin.rename(old, new))
        #elseif canImport(Musl)
          Int(Musl.rename(old, new))
        #else
          Int(Glibc.rename(old, new))
        #endif
      }
    },
    syncFolder: { path in
      let folder = System.call { Int(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) }
      guard folder >= 0 else { return folder }
      let owner = Descriptor(Int32(folder))
      return System.call { Int(fsync(owner.raw)) }
    })
}

extension FileCalls {
  /// Reads all of these bytes; that the file has fewer is a failure.
  func readWhole(_ file: Int32, at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
    var failure: FileFailure?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      while done < count, failure == nil {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[done...])
        let result = read(file, UnsafeMutableRawBufferPointer(rest), offset + done)
        // 0: the file has become shorter.
        if result <= 0 { failure = FileFailure("read", result == 0 ? EIO : Int32(-result)) }
        done += max(0, result)
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes all of these bytes, however many the system takes at once.
  func writeWhole(_ bytes: [UInt8], to file: Int32, at offset: Int) throws(FileFailure) {
    var done = 0
    while done < bytes.count {
      let result = bytes.withUnsafeBytes { bytes in
        write(file, UnsafeRawBufferPointer(rebasing: bytes[done...]), offset + done)
      }
      // A file takes at least a byte, or says why not.
      try FileFailure.check("write", result == 0 ? -Int(EIO) : result)
      done += result
    }
  }
}

/// A call on an outbox's file that failed.
struct FileFailure: Error, Equatable {
  /// What it was to do, as a verb.
  let step: String
  let number: Int32

  init(_ step: String, _ number: Int32) {
    self.step = step
    self.number = number
  }

  /// In the words of the system.
  var reason: String { "\(step): \(String(cString: strerror(number)))" }

  func error(at path: String) -> FileOutboxError {
    switch number {
    case ENOENT, ENOTDIR: .noFolder(path: path)
    case EACCES, EPERM, EROFS: .accessDenied(path: path)
    case ENOSPC, EDQUOT: .noSpace(path: path)
    case EISDIR, ELOOP: .otherFormat(path: path)
    default: .system(path: path, reason: reason)
    }
  }

  /// Throws unless the result of the call is a success.
  @discardableResult
  static func check(_ step: String, _ result: Int) throws(FileFailure) -> Int {
    guard result >= 0 else { throw FileFailure(step, Int32(-result)) }
    return result
  }
}
