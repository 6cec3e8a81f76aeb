import Foundation

/// This program once more, as a server.
final class ServerProcess {
  let port: UInt16
  private let process = Process()
  private let input = Pipe()

  /// Why there is no server.
  struct Failure: Error, CustomStringConvertible {
    let description = "crowd-bench: the server's process has not said its port"
  }

  /// Starts it; comes back once it listens.
  init(port: UInt16) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["serve", "\(port)"]
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var word = Data()
    while word.last != UInt8(ascii: "\n") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      word += more
    }
    guard let bound = UInt16(String(decoding: word, as: UTF8.self).dropLast()) else {
      throw Failure()
    }
    self.port = bound
  }

  deinit { kill() }

  /// Ends it without a word.
  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The server's side of it.
  static func announce(_ port: UInt16) {
    FileHandle.standardOutput.write(Data("\(port)\n".utf8))
  }

  /// Blocks until the parent is gone, or lets go of it.
  static func waitForParent() {
    while !FileHandle.standardInput.availableData.isEmpty {}
  }
}
