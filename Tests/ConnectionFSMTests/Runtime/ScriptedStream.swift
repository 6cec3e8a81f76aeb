import ConnectionFSM

/// A byte stream that takes and gives what the test says.
final class ScriptedStream: ByteStream {
  /// What reads give, oldest first; then nothing.
  var inbound: [ReadResult] = []
  /// What the bytes are that reads give; of those that are not told none is written down.
  private var contents: [[UInt8]] = []
  /// What writes may take, each at most so many bytes; after that all of it.
  var writes: [WriteResult] = []
  private(set) var taken: [UInt8] = []
  private(set) var isClosed = false
  private(set) var hasFinishedWriting = false
  weak var observer: (any ByteStreamObserver)?

  /// The peer says something.
  func give(_ text: String) {
    contents.append(Array(text.utf8))
    inbound.append(.bytes(text.utf8.count))
  }

  func read(into buffer: inout MutableRawSpan) -> ReadResult {
    if case .bytes? = inbound.first, !contents.isEmpty {
      for (place, byte) in contents.removeFirst().enumerated() {
        buffer.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
      }
    }
    return inbound.isEmpty ? .wouldBlock : inbound.removeFirst()
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

  /// What was taken since the last call.
  func takeBytes() -> [UInt8] {
    defer { taken = [] }
    return taken
  }

  func setReading(_ isReading: Bool) {}
  func finishWriting() { hasFinishedWriting = true }
  func close() { isClosed = true }
}

/// Makes scripted streams and keeps them.
final class ScriptedDialer: ByteStreamDialer, @unchecked Sendable {
  let loop: ManualLoop
  private(set) var streams: [ScriptedStream] = []
  private(set) var endpoints: [Endpoint] = []

  init(_ loop: ManualLoop) { self.loop = loop }

  var eventLoop: any EventLoop { loop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> ScriptedStream {
    let stream = ScriptedStream()
    stream.observer = observer
    streams.append(stream)
    endpoints.append(endpoint)
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
