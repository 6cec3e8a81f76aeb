import ConnectionFSM

/// A byte stream that takes and gives what the test says.
final class ScriptedStream: ByteStream {
  /// What reads give, oldest first; then nothing.
  var inbound: [ReadResult] = []
  /// What writes may take, each at most so many bytes; after that all of it.
  var writes: [WriteResult] = []
  private(set) var taken: [UInt8] = []
  private(set) var isClosed = false
  private(set) var hasFinishedWriting = false
  weak var observer: (any ByteStreamObserver)?

  func read(into buffer: inout MutableRawSpan) -> ReadResult {
    inbound.isEmpty ? .wouldBlock : inbound.removeFirst()
  }

  func write(_ bytes: RawSpan) -> WriteResult {
    let limit: Int
    switch writes.isEmpty ? .wrote(bytes.byteCount) : writes.removeFirst() {
    case .wrote(let count): limit = min(count, bytes.byteCount)
    case .wouldBlock: return .wouldBlock
    case .failed(let cause): return .failed(cause)
    }
    bytes.withUnsafeBytes { taken += $0.prefix(limit) }
    return .wrote(limit)
  }

  func setReading(_ isReading: Bool) {}
  func finishWriting() { hasFinishedWriting = true }
  func close() { isClosed = true }
}

/// Makes scripted streams and keeps them.
final class ScriptedDialer: ByteStreamDialer, @unchecked Sendable {
  let loop: ManualLoop
  private(set) var streams: [ScriptedStream] = []

  init(_ loop: ManualLoop) { self.loop = loop }

  var eventLoop: any EventLoop { loop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> ScriptedStream {
    let stream = ScriptedStream()
    stream.observer = observer
    streams.append(stream)
    return stream
  }
}

/// An engine that answers each read with the next list of events, and writes a message as its text.
struct ScriptedEngine: ProtocolEngine {
  /// One list a read; shared by the engines of all links.
  final class Script: @unchecked Sendable {
    var opensAtOnce = true
    var answers: [[EngineEvent]] = []
    /// The message that the engine fails at instead of writing it.
    var failsAt: String?
  }

  let script: Script
  private var isOver = false

  init(_ script: Script) { self.script = script }

  var canPing: Bool { false }
  var nextDeadline: Instant? { nil }
  func admits(_ message: Message) -> Bool { true }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    if script.opensAtOnce { output.events.append(.opened) }
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {
    guard !script.answers.isEmpty else { return }
    for event in script.answers.removeFirst() {
      output.events.append(event)
      switch event {
      case .closed, .failed: isOver = true
      case .opened, .message, .pong, .acknowledged, .redirected, .ending, .finished: break
      }
    }
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.closed(nil))
  }

  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    if message.text == script.failsAt {
      isOver = true
      output.events.append(.failed(.system(.connectionReset)))
    }
    if !isOver { output.bytes += message.bytes }
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  mutating func close(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.finished)
  }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}
