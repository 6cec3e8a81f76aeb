import Foundation

/// Reads files that the user names, which may be anything.
enum InputFile {
  /// All of a file.
  /// - Parameters:
  ///   - limit: The most bytes; a device that never ends must not fill the memory.
  ///   - mend: What to do about a file that cannot be read.
  static func bytes(of path: String, limit: Int, mend: String) throws(Failure) -> Data {
    guard let file = fopen(path, "r") else { throw unreadable(path, errno, mend) }
    defer { fclose(file) }
    var bytes = Data()
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      let count = fread(&chunk, 1, chunk.count, file)
      bytes.append(contentsOf: chunk[..<count])
      if count < chunk.count {
        if ferror(file) != 0 { throw unreadable(path, errno, mend) }
        return bytes
      }
    }
    throw Failure(.badData, "\(path): is above \(limit >> 20) MiB, which is more than is read")
  }

  private static func unreadable(_ path: String, _ problem: Int32, _ mend: String) -> Failure {
    Failure(.noInput, "\(path): \(String(cString: strerror(problem))); \(mend)")
  }
}
