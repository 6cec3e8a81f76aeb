import ConnectionFSM
import Foundation

extension TraceFile {
  /// The steps from the one that begins the chain to this one, each led to by the one before.
  static func chain(to sequence: UInt64, in path: String) throws(Failure) -> [TraceLine] {
    var file = try TraceFile(path)
    let lines = try KeptLines(of: &file, to: sequence)
    guard let last = try lines.step(sequence, of: file) else {
      let (first, last) = (lines.first, try lines.last(of: &file))
      throw Failure(.usage, "\(path): there is no step \(sequence); there are \(first) to \(last)")
    }
    var chain = [last]
    while let step = chain.last, let parent = step.parent {
      guard parent < step.sequence else {
        throw file.problem(
          "parent: \(parent) is no step before \(step.sequence)",
          line: lines.line(of: step.sequence))
      }
      // In a part of a recording, what is earlier lies in another file.
      guard let earlier = try lines.step(parent, of: file) else { break }
      chain.append(earlier)
    }
    return chain.reversed()
  }
}

/// The lines of a trace up to a step, of which only those that are asked for are decoded.
private struct KeptLines {
  // Some half a million steps.
  private static let byteLimit = 256 << 20

  /// The sequence of the first step: 1, but for the later parts of a long recording.
  let first: UInt64
  private var lines: [Data] = []

  init(of file: inout TraceFile, to sequence: UInt64) throws(Failure) {
    guard let bytes = try file.nextBytes() else {
      first = 1
      return
    }
    first = try file.step(from: bytes, line: file.line).sequence
    guard 1...UInt64(Int64.max) ~= first else {
      throw file.problem("sequence: \(first) is no number of a step")
    }
    lines = [bytes]
    var count = bytes.count
    while first + UInt64(lines.count) <= sequence, let bytes = try file.nextBytes() {
      lines.append(bytes)
      count += bytes.count
      guard count <= Self.byteLimit else {
        throw file.problem("the steps up to here are above 256 MiB, which is more than is kept")
      }
    }
  }

  func line(of sequence: UInt64) -> Int { Int(sequence - first) + 2 }

  /// The step of that number; nil if it is not among these lines.
  func step(_ sequence: UInt64, of file: borrowing TraceFile) throws(Failure) -> TraceLine? {
    guard sequence >= first, sequence - first < UInt64(lines.count) else { return nil }
    let line = line(of: sequence)
    let step = try file.step(from: lines[line - 2], line: line)
    guard step.sequence == sequence else {
      throw file.problem(
        "is step \(step.sequence) where step \(sequence) must be: lines are missing or changed",
        line: line)
    }
    return step
  }

  /// The number of the last step of the file, which is read to its end.
  func last(of file: inout TraceFile) throws(Failure) -> UInt64 {
    while try file.nextBytes() != nil {}
    return first + UInt64(file.line) - 2
  }
}
