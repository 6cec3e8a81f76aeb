import ConnectionFSM

/// An engine that writes each message in parts of some bytes, and does what it reads:
///
/// - `?` is answered at once, by `!`, before the next part;
/// - `go` asks it to another endpoint, `end` says that the end is near;
/// - `fail` breaks it: its last word is `E`;
/// - anything else is a message.
struct PortionedEngine: ProtocolEngine {
  /// What happened to the engines of a test.
  final class Log {
    /// The most bytes that waited in the output when a part had been added.
    var longestOutput = 0
    var starts = 0
  }

  static let elsewhere = Endpoint(host: "elsewhere", port: 2)

  let log: Log
  private let part: Int
  private var waiting: [[UInt8]] = []
  private var offset = 0
  private var urgent: [UInt8] = []
  private var isClosing = false
  private var isOver = false

  init(part: Int, _ log: Log) {
    self.part = part
    self.log = log
  }

  var canPing: Bool { true }
  var nextDeadline: Instant? { nil }
  var backlog: Int { waiting.count }
  var hasMore: Bool { !isOver && (!urgent.isEmpty || !waiting.isEmpty || isClosing) }
  func admits(_ message: Message) -> Bool { true }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    log.starts += 1
    output.bytes += Array("HI".utf8)
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {
    let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    switch text {
    case "ok": output.events.append(.opened)
    case "?": urgent += Array("!".utf8)
    case "end": output.events.append(.ending)
    case let text where text.hasPrefix("go"):
      output.events.append(.redirected(to: Self.elsewhere))
    case "fail":
      output.bytes += Array("E".utf8)
      isOver = true
      waiting = []
      output.events.append(.failed(.protocolError))
    default: output.events.append(.message(Message(text)))
    }
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    isOver = true
    output.events.append(.closed(nil))
  }

  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    if !isOver { waiting.append(message.bytes) }
  }

  mutating func writeOn(into output: inout EngineOutput) {
    output.bytes += urgent
    urgent = []
    if let message = waiting.first {
      let end = min(offset + part, message.count)
      output.bytes += message[offset..<end]
      offset = end
      if end == message.count {
        waiting.removeFirst()
        offset = 0
      }
    } else if isClosing {
      isOver = true
      output.bytes += Array(".".utf8)
      output.events.append(.finished)
    }
    log.longestOutput = max(log.longestOutput, output.bytes.count)
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    urgent += Array("?".utf8)
  }

  mutating func close(at now: Instant, into output: inout EngineOutput) { isClosing = true }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}

/// Writes down what a link reports.
final class ReportLog: TransportObserver {
  var lines: [String] = []
  /// Called with each report, after it was written down.
  var reacts: (TransportEvent) -> Void = { _ in }

  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    switch event {
    // Of no interest here, and it comes with every read.
    case .received: break
    case .written(let id): lines.append("\(epoch) written \(id.sequence)")
    case let event: lines.append("\(epoch) \(event)")
    }
    reacts(event)
  }

  func transport(_ epoch: Epoch, received message: Message) {
    lines.append("\(epoch) says \(message.text)")
  }

  /// What was reported since the last call.
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}
