import ConnectionFSM
import Foundation

/// A trace in JSON Lines, read line by line and never as a whole.
///
/// Everything it objects to is a ``Failure`` that names the line.
struct TraceFile: ~Copyable {
  /// The number of the line that was read last, from 1.
  private(set) var line = 0

  private let path: String
  private let descriptor: Int32
  private var reader: LineReader
  private let headerLine: Data
  private let decoder = JSONDecoder()

  // The longest line is the header of a part of a recording: with a million messages that live it
  // takes as much.
  private static let lengthLimit = 16 << 20

  private struct Format: Decodable {
    let format: Int
    let start: Start?

    struct Start: Decodable {}
  }

  /// Whether it is a part of a recording, which may have been begun just before its end.
  private var isPart: Bool {
    (try? decoder.decode(Format.self, from: headerLine))?.start != nil
  }

  /// Opens a trace and looks whether it is one.
  init(_ path: String) throws(Failure) {
    (descriptor, reader, headerLine) = try Self.opened(path)
    self.path = path
    line = 1
  }

  deinit { close(descriptor) }

  private static func opened(
    _ path: String
  ) throws(Failure) -> (descriptor: Int32, reader: LineReader, headerLine: Data) {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw unreadable(path, errno) }
    var reader = LineReader(of: descriptor, lengthLimit: lengthLimit)
    do throws(Failure) {
      let header = try header(from: &reader, of: path)
      return (descriptor, reader, header)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func header(
    from reader: inout LineReader, of path: String
  ) throws(Failure) -> Data {
    let first = reader.next()
    guard reader.problem == 0 else { throw unreadable(path, reader.problem) }
    guard let first else { throw Failure(.badData, "\(path): is empty, and no trace") }
    guard case .bytes(let bytes) = first, case let header = Data(bytes),
      let format = try? JSONDecoder().decode(Format.self, from: header).format
    else {
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
    return header
  }

  private static func unreadable(_ path: String, _ problem: Int32) -> Failure {
    Failure(
      .noInput,
      "\(path): \(String(cString: strerror(problem))); fsm-demo simulate --format jsonl writes a "
        + "trace")
  }
}

extension TraceFile {
  /// What the trace says of itself.
  func header() throws(Failure) -> TraceHeader {
    try decode(TraceHeader.self, from: headerLine, line: 1)
  }

  /// The next step; nil at the end.
  mutating func next() throws(Failure) -> TraceLine? {
    guard let bytes = try nextBytes() else { return nil }
    return try step(from: bytes, line: line)
  }

  /// The next line as it stands; nil at the end.
  mutating func nextBytes() throws(Failure) -> Data? {
    let next = reader.next()
    guard reader.problem == 0 else { throw Self.unreadable(path, reader.problem) }
    guard let next else {
      if line == 1, !isPart { throw Failure(.badData, "\(path): has a header and no step") }
      return nil
    }
    line += 1
    guard case .bytes(let bytes) = next else {
      throw problem("is above \(Self.lengthLimit >> 20) MiB, and no step of a trace")
    }
    return Data(bytes)
  }

  /// Reads a line as a step.
  func step(from bytes: Data, line: Int) throws(Failure) -> TraceLine {
    try decode(TraceLine.self, from: bytes, line: line)
  }

  /// A failure that names a line: the last one, if no other is given.
  func problem(_ text: String, line: Int? = nil) -> Failure {
    // It may quote what stands in the file.
    Failure(.badData, "\(path): line \(line ?? self.line): \(text.printable(upTo: 2_000))")
  }

  private func decode<Value: Decodable>(
    _: Value.Type, from bytes: Data, line: Int
  ) throws(Failure) -> Value {
    do {
      return try decoder.decode(Value.self, from: bytes)
    } catch {
      if reader.isCutOff, line == self.line, bytes.last != UInt8(ascii: "}") {
        throw problem("is cut off: the recording ended while it was written", line: line)
      }
      throw problem(DecodingProblem.describe(error, in: bytes), line: line)
    }
  }
}
