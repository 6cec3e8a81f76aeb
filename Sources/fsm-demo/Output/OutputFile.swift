import Foundation

/// Writes files that the user names.
enum OutputFile {
  static func write(_ text: String, to path: String) throws(Failure) {
    guard let file = fopen(path, "w") else { throw failure(path, errno) }
    let bytes = Array(text.utf8)
    let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count
    let problem = errno
    // What the system kept back until now may fail too.
    guard fclose(file) == 0, isWritten else { throw failure(path, isWritten ? errno : problem) }
  }

  /// Finds out before long work whether a file can be written at its end.
  static func probe(_ path: String) throws(Failure) {
    guard access(path, F_OK) != 0 else {
      guard access(path, W_OK) == 0 else { throw failure(path, errno) }
      return
    }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard access(folder, W_OK) == 0 else { throw failure(path, errno) }
  }

  /// Makes a folder, and those around it, unless it is there.
  static func makeFolder(_ path: String) throws(Failure) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw Failure(.ioError, "\(path): no folder can be made here: \(error.localizedDescription)")
    }
    guard access(path, W_OK) == 0 else { throw failure(path, errno) }
  }

  private static func failure(_ path: String, _ problem: Int32) -> Failure {
    Failure(.ioError, "\(path): cannot be written: \(String(cString: strerror(problem)))")
  }
}
