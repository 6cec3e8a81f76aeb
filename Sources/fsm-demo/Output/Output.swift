import Foundation

/// Where a command writes what it was asked for: standard output, or a file.
struct Output: Sendable {
  static let standard = Output(descriptor: STDOUT_FILENO)

  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Makes the file, or empties the one that is there.
  /// - Parameter source: The file that is read meanwhile: it must be another one.
  init(file path: String, insteadOf source: String? = nil) throws(Failure) {
    if let source, Self.isOneFile(path, source) {
      throw Failure(.usage, "\(path): is the file that is read; write to another one")
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw Failure(.ioError, "\(path): \(String(cString: strerror(errno)))")
    }
    self.descriptor = descriptor
  }

  private static func isOneFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino
  }

  var usesColour: Bool { descriptor == STDOUT_FILENO && Console.usesColour }

  func print(_ line: String) { write(Array((line + "\n").utf8)) }

  func write(_ bytes: [UInt8]) { Console.output(bytes, to: descriptor) }
}
