import Dispatch
import Foundation

/// The built `fsm-demo`, run as a user runs it.
struct Demo {
  /// What a run gave.
  struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  private final class Place {}

  /// SwiftPM builds the tool beside the bundle, or the executable, of the tests.
  static let executable: URL = {
    let tests = Bundle(for: Place.self).bundleURL
    let folder = tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests
    return folder.appendingPathComponent("fsm-demo")
  }()

  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()

  private let input = Pipe()
  /// What was read of the output before the end.
  private var heard = Data()

  /// Starts the tool; it is ended after a minute, which none of the tests needs.
  /// - Parameter input: All that it reads; nil if the test says more, line by line.
  init(_ arguments: [String], input text: String? = "") throws {
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = input
    try process.run()
    if let text {
      input.fileHandleForWriting.write(Data(text.utf8))
      try input.fileHandleForWriting.close()
    }
    let process = process
    DispatchQueue.global().asyncAfter(deadline: .now() + 60) {
      if process.isRunning { process.terminate() }
    }
  }

  /// Runs the tool to its end.
  static func run(_ arguments: String..., input: String = "") throws -> Outcome {
    try Demo(arguments, input: input).finish()
  }

  /// Does something with a file that holds this text, and is gone afterwards.
  static func withFile<Result>(
    _ text: String, _ use: (_ path: String) throws -> Result
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appendingPathComponent("fsm-demo-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try text.write(to: file, atomically: true, encoding: .utf8)
    return try use(file.path)
  }

  /// Writes to a tool that was started without an input.
  func say(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }

  /// Waits until the output has a text, or ends. A tool whose input ends as soon as it is written
  /// leaves before its peer has answered, or after: that is a matter of luck.
  mutating func hear(_ text: String) {
    while heard.firstRange(of: Data(text.utf8)) == nil {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { return }
      heard += bytes
    }
  }

  /// Ends the input of a tool that was started without one, and waits for the tool.
  func hangUp() throws -> Outcome {
    try input.fileHandleForWriting.close()
    return finish()
  }

  func finish() -> Outcome {
    // What complains is short and fits the pipe, so one after the other will do.
    let output = heard + output.fileHandleForReading.readDataToEndOfFile()
    let errors = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// Waits for the first line of the output.
  func firstLine() -> String { firstLines(1).first ?? "" }

  /// Waits for the first lines of the output.
  func firstLines(_ count: Int) -> [String] {
    var text = Data()
    while text.count(where: { $0 == UInt8(ascii: "\n") }) < count {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      text += bytes
    }
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return lines.prefix(count).map { String(decoding: $0, as: UTF8.self) }
  }

  func end() {
    process.terminate()
    process.waitUntilExit()
  }
}
