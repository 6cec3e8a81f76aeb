import ConnectionFSM
import Foundation

/// A trace in JSON Lines, of which only the lines that are asked for are read.
struct TraceFile {
  private let path: String
  private let lines: [Data]
  /// The sequence of the first step: 1, but for the later parts of a long recording.
  private let first: UInt64

  private struct Header: Decodable {
    let format: Int
  }

  /// Opens a trace and reads its header and its first step.
  init(_ path: String) throws(Failure) {
    // Some half a million steps.
    let bytes = try InputFile.bytes(
      of: path, limit: 256 << 20, mend: "fsm-demo simulate --format jsonl writes a trace")
    self.path = path
    lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard let header = lines.first, !header.isEmpty else {
      throw Failure(.badData, "\(path): is empty, and no trace")
    }
    guard let format = try? JSONDecoder().decode(Header.self, from: header).format else {
      throw Failure(
        .badData,
        "\(path): is no trace: line 1 must be the header that fsm-demo simulate --format jsonl "
          + "writes")
    }
    guard format == TraceHeader.currentFormat else {
      throw Failure(
        .badData,
        "\(path): line 1: format: this release reads format \(TraceHeader.currentFormat) only")
    }
    guard lines.count > 1, !lines[1].isEmpty else {
      throw Failure(.badData, "\(path): has a header and no step")
    }
    first = try Self.decode(lines[1], line: 2, of: path).sequence
    guard 1...UInt64(Int64.max) ~= first else {
      throw Failure(.badData, "\(path): line 2: sequence: \(first) is no number of a step")
    }
  }

  /// The steps from the one that begins the chain to this one, each led to by the one before.
  func chain(to sequence: UInt64) throws(Failure) -> [TraceLine] {
    guard contains(sequence) else {
      throw Failure(
        .usage, "\(path): there is no step \(sequence); there are \(first) to \(last)")
    }
    var chain = [try step(sequence)]
    while let step = chain.last, let parent = step.parent {
      guard parent < step.sequence else {
        throw Failure(
          .badData,
          "\(path): line \(line(of: step.sequence)): parent: \(parent) is no step before "
            + "\(step.sequence)")
      }
      // In a part of a recording, what is earlier lies in another file.
      guard contains(parent) else { break }
      chain.append(try self.step(parent))
    }
    return chain.reversed()
  }

  private var last: UInt64 {
    first + UInt64(lines.count - (lines.last?.isEmpty == true ? 3 : 2))
  }

  private func contains(_ sequence: UInt64) -> Bool { first <= sequence && sequence <= last }

  private func line(of sequence: UInt64) -> Int { Int(sequence - first) + 2 }

  private func step(_ sequence: UInt64) throws(Failure) -> TraceLine {
    let line = line(of: sequence)
    let step = try Self.decode(lines[line - 1], line: line, of: path)
    guard step.sequence == sequence else {
      throw Failure(
        .badData,
        "\(path): line \(line): is step \(step.sequence) where step \(sequence) must be: lines are "
          + "missing or changed")
    }
    return step
  }

  private static func decode(
    _ bytes: Data, line: Int, of path: String
  ) throws(Failure) -> TraceLine {
    do {
      return try JSONDecoder().decode(TraceLine.self, from: bytes)
    } catch {
      let problem = DecodingProblem.describe(error, in: bytes)
      throw Failure(.badData, "\(path): line \(line): \(problem)")
    }
  }
}
