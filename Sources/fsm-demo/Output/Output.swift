import Foundation

/// Where a command writes what it was asked for: standard output, or a file.
struct Output: Sendable {
  static let standard = Output(descriptor: STDOUT_FILENO)

  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Makes the file, or empties the one that is there.
  init(file path: String) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw Failure(.ioError, "\(path): \(String(cString: strerror(errno)))")
    }
    self.descriptor = descriptor
  }

  var usesColour: Bool { descriptor == STDOUT_FILENO && Console.usesColour }

  func print(_ line: String) { write(Array((line + "\n").utf8)) }

  func write(_ bytes: [UInt8]) { Console.output(bytes, to: descriptor) }
}
