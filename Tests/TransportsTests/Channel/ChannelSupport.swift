import ConnectionFSM
import NetSim
import Synchronization
import Transports

/// What a channel told, in order, as text; from any thread.
final class ChannelLog: Sendable {
  private let entries = Mutex<[String]>([])

  var lines: [String] { entries.withLock { $0 } }

  func note(_ line: String) { entries.withLock { $0.append(line) } }

  /// All so far, which are forgotten.
  func take() -> [String] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }

  func contains(_ line: String) -> Bool { lines.contains(line) }
}

extension ByteChannel {
  /// Reads and notes the result under the tag.
  @discardableResult
  func read(
    _ request: ReadRequest, _ tag: Int, _ log: ChannelLog, timeout: TimeSpan? = nil,
    onTimeout: Extension? = nil
  ) -> RequestID {
    read(request, tag: tag, timeout: timeout, onTimeout: onTimeout) { tag, result in
      switch result {
      case .success(let bytes) where bytes.count > 100:
        log.note("read \(tag): \(bytes.count) bytes")
      case .success(let bytes): log.note("read \(tag): \(String(decoding: bytes, as: UTF8.self))")
      case .failure(let error): log.note("read \(tag) failed: \(error.word)")
      }
    }
  }

  /// Writes and notes the result under the tag.
  @discardableResult
  func write(
    _ bytes: some Sequence<UInt8>, _ tag: Int, _ log: ChannelLog, timeout: TimeSpan? = nil,
    onTimeout: Extension? = nil
  ) -> RequestID {
    write(Array(bytes), tag: tag, timeout: timeout, onTimeout: onTimeout) { tag, result in
      switch result {
      case .success: log.note("written \(tag)")
      case .failure(let error): log.note("write \(tag) failed: \(error.word)")
      }
    }
  }
}

extension ChannelError {
  /// The case and its values, where the description explains.
  var word: String {
    switch self {
    case .timedOut(let timeout, let count): "timedOut(\(timeout), \(count))"
    case .ended(let count): "ended(\(count))"
    case .terminatorNotFound(let maximum): "terminatorNotFound(\(maximum))"
    case .cancelled: "cancelled"
    case .bufferFull: "bufferFull"
    case .closing: "closing"
    case .closed(let cause): "closed(\(cause))"
    case .alreadyConnected: "alreadyConnected"
    case .invalidCount, .maximumTooSmall, .invalidMarks: "invalid"
    }
  }
}

extension ChannelEvent {
  var word: String {
    switch self {
    case .opened: "opened"
    case .readClosed: "readClosed"
    case .writable: "writable"
    case .closed(let cause): "closed(\(cause))"
    }
  }
}

/// A byte stream that takes and gives what the test says. Readiness is told in every turn, as the
/// sockets tell it.
final class PlayedStream: ByteStream {
  let loop: any EventLoop
  weak var observer: (any ByteStreamObserver)?
  /// What has arrived and is not read.
  private(set) var arrived: ArraySlice<UInt8> = []
  /// What follows it.
  private(set) var after: ReadResult = .wouldBlock
  /// How much each write takes, 0 being none; after that all of it.
  var takes: [Int] = []
  var writeFailure: Cause?
  private(set) var taken: [UInt8] = []
  private(set) var isReading = true
  private(set) var isClosed = false
  private(set) var hasFinishedWriting = false

  init(_ loop: any EventLoop, _ observer: any ByteStreamObserver) {
    self.loop = loop
    self.observer = observer
  }

  func read(into buffer: inout MutableRawSpan) -> ReadResult {
    guard !arrived.isEmpty else { return after }
    let count = min(buffer.byteCount, arrived.count)
    buffer.withUnsafeMutableBytes { $0.copyBytes(from: arrived.prefix(count)) }
    arrived.removeFirst(count)
    return .bytes(count)
  }

  func write(_ bytes: RawSpan) -> WriteResult {
    if let writeFailure { return .failed(writeFailure) }
    let limit = takes.isEmpty ? bytes.byteCount : takes.removeFirst()
    guard limit > 0 else { return .wouldBlock }
    let count = min(limit, bytes.byteCount)
    bytes.withUnsafeBytes { taken += $0.prefix(count) }
    return .wrote(count)
  }

  func setReading(_ isReading: Bool) {
    self.isReading = isReading
    tell()
  }

  func finishWriting() { hasFinishedWriting = true }

  func close() {
    isClosed = true
    observer = nil
  }

  func arrive(_ text: String) {
    arrived += Array(text.utf8)
    tell()
  }

  func arrive(_ result: ReadResult) {
    after = result
    tell()
  }

  private var isReadable: Bool { isReading && (!arrived.isEmpty || after != .wouldBlock) }

  private func tell() {
    let confined = Confined(self)
    loop.execute {
      guard confined.value.isReadable, let observer = confined.value.observer else { return }
      observer.streamReadable()
      // An end that is read is told no more.
      if !confined.value.arrived.isEmpty { confined.value.tell() }
    }
  }
}

/// Makes one played stream.
final class PlayedDialer: ByteStreamDialer, @unchecked Sendable {
  // Unchecked: a simulation has one thread.
  let loop: SimulatedEventLoop
  private(set) var stream: PlayedStream!

  init(_ loop: SimulatedEventLoop) { self.loop = loop }

  var eventLoop: any EventLoop { loop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> PlayedStream {
    stream = PlayedStream(loop, observer)
    return stream
  }
}

/// A channel over a played stream, in virtual time.
struct PlayedChannel {
  let loop: SimulatedEventLoop
  let dialer: PlayedDialer
  let channel: ByteChannel<PlayedDialer>
  let log = ChannelLog()

  init(
    _ loop: SimulatedEventLoop, marks: WaterMarks? = nil, halfClose: HalfClosePolicy = .close
  ) {
    self.loop = loop
    dialer = PlayedDialer(loop)
    let log = log
    channel = ByteChannel(
      dialer, marks: marks ?? .standard, halfClose: halfClose, onEvent: { log.note($0.word) })
  }

  var stream: PlayedStream { dialer.stream }

  func connect(timeout: TimeSpan? = nil) async throws {
    channel.connect(to: Endpoint(host: "peer", port: 1), timeout: timeout, completion: nil)
    try await turn()
  }

  /// Connects and notes how that failed.
  func connectNoting(timeout: TimeSpan?) {
    channel.connect(to: Endpoint(host: "peer", port: 1), timeout: timeout) { [log] result in
      if case .failure(let error) = result { log.note(error.word) }
    }
  }

  func open() async throws {
    try await connect()
    stream.observer?.streamOpened()
    try await turn()
  }

  /// Lets everything happen that is ready.
  func turn() async throws { try await loop.clock.sleep(for: .nanoseconds(1)) }

  /// Lets time pass, and gives what was told meanwhile.
  func pass(_ span: TimeSpan) async throws -> [String] {
    try await loop.clock.sleep(for: Duration(span))
    return log.take()
  }

  func told() async throws -> [String] {
    try await turn()
    return log.take()
  }
}
