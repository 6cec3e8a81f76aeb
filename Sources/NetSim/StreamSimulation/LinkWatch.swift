import ConnectionFSM

// A link is watched at its two seams, the engine above and the stream below: what one of them gave
// is what the other one gets, and what is reported of it has happened.

/// What went through one link.
final class LinkWatch {
  /// What the engine wrote and the stream has not taken.
  private var unwritten: [UInt8] = []
  private var unwrittenFrom = 0
  private(set) var produced = 0
  private var taken = 0
  /// What was read and the engine has not been given.
  private var unheard: [UInt8] = []
  /// How much was read, a read at a time, and has not been reported.
  private var reads = FIFO<Int>()
  /// What the engine had to say and was not reported.
  private var sayings = FIFO<Saying>()
  /// Where each message ends, counted from the link's first byte; nowhere while it is not written
  /// whole. Looked up, never walked through.
  private var ends: [MessageID: Int] = [:]
  /// Messages in the engine's backlog.
  private var waiting = FIFO<MessageID?>()
  /// Whether the transport has let go of the stream.
  private(set) var isLetGo = false
  /// The link that is watched.
  fileprivate weak var link: (any ByteStreamObserver)?

  private let log: StreamLog

  /// What an engine says that a trace tells.
  private enum Saying: Equatable {
    case opened
    case pong(UInt32)
    case acknowledged(MessageID)
  }

  private static let nowhere = Int.max

  init(_ log: StreamLog) { self.log = log }
}

// MARK: What the engine and the stream do

extension LinkWatch {
  func produced(_ bytes: ArraySlice<UInt8>) {
    unwritten += bytes
    produced += bytes.count
  }

  /// The engine was given a message.
  /// - Parameters:
  ///   - backlog: How many it has not written whole now.
  ///   - start: How many bytes it had written before.
  func sent(_ message: Message, _ id: MessageID?, backlog: Int, from start: Int) {
    let waits = backlog > waiting.count
    if waits { waiting.append(id) }
    guard let id else { return }
    log.sent(message, id)
    // Of what an engine neither wrote nor kept nothing has an end.
    let end = waits || produced == start ? Self.nowhere : produced
    if ends.updateValue(end, forKey: id) != nil {
      log.fail(Violation("I22", "\(id) was given to one link twice"))
    }
  }

  /// The engine went on with its backlog.
  func wroteOn(backlog before: Int, _ after: Int) {
    guard after != before else { return }
    // Of an engine that drops its backlog on the way nobody knows which message has left it.
    guard after == before - 1, before == waiting.count else {
      return log.fail(
        Violation(
          "I11", "of \(waiting.count) in the backlog \(before) were left, then \(after)"))
    }
    if case let id?? = waiting.popFirst() { ends[id] = produced }
  }

  func has(_ id: MessageID) -> Bool { ends[id] != nil }

  func said(_ event: EngineEvent) {
    switch event {
    case .opened: sayings.append(.opened)
    case .pong(let number): sayings.append(.pong(number))
    case .acknowledged(let id): sayings.append(.acknowledged(id))
    case .message, .redirected, .ending, .finished, .closed, .failed: break
    }
  }

  /// The stream took so many of the bytes it was offered.
  func wrote(_ count: Int, of bytes: RawSpan) {
    let expected = unwritten[unwrittenFrom...].prefix(count)
    guard count <= expected.count, count <= bytes.byteCount, expected.isEqual(to: bytes) else {
      return log.fail(
        Violation("I12", "after \(taken) bytes others were written than the engine wrote"))
    }
    taken += count
    unwrittenFrom += count
    guard unwrittenFrom == unwritten.count || unwrittenFrom > 1 << 16 else { return }
    unwritten.removeFirst(unwrittenFrom)
    unwrittenFrom = 0
  }

  func read(_ bytes: RawSpan) {
    if !unheard.isEmpty { log.fail(Violation("I12", "\(unheard.count) bytes were read and lost")) }
    unheard.removeAll(keepingCapacity: true)
    bytes.withUnsafeBytes { unheard += $0 }
    reads.append(bytes.byteCount)
  }

  func heard(_ bytes: RawSpan) {
    guard bytes.byteCount == unheard.count, unheard[...].isEqual(to: bytes) else {
      return log.fail(Violation("I12", "the engine was given other bytes than were read"))
    }
    unheard.removeAll(keepingCapacity: true)
  }

  func letGo() { isLetGo = true }

  /// The link was dialled again, elsewhere: nothing of the old stream matters any more.
  func redialled() {
    if !isLetGo {
      log.fail(Violation("I18", "a link was redirected, and its old stream was not let go of"))
    }
    if !ends.isEmpty {
      log.fail(Violation("I11", "a link was redirected that had been given messages"))
    }
    isLetGo = false
    taken = produced
    unwritten.removeAll()
    unwrittenFrom = 0
  }

  /// Somebody uses a stream that was let go of.
  func usedAfterEnd() { log.fail(Violation("I18", "a stream was used after it was let go of")) }
}

// MARK: What is reported

extension LinkWatch {
  /// Whether what the transport reports has happened on this link.
  func judge(_ event: TransportEvent, at now: Instant) throws(Violation) {
    let isTrue: Bool
    switch event {
    case .opened: isTrue = sayings.popFirst() == .opened
    case .pong(let number): isTrue = sayings.popFirst() == .pong(number)
    case .acknowledged(let id):
      isTrue = sayings.popFirst() == .acknowledged(id) && ends[id].map { $0 <= taken } ?? false
    case .received(let count): isTrue = reads.popFirst() == Int(count)
    case .written(let id): isTrue = ends[id].map { $0 <= taken } ?? false
    case .failed, .closed:
      guard isLetGo else {
        throw Violation("I18", "\(event) at \(now), and its stream was not let go of")
      }
      isTrue = true
    case .writabilityChanged, .viabilityChanged, .drainRequested, .betterPathAvailable:
      isTrue = true
    }
    if !isTrue {
      throw Violation(event.promise, "\(event) at \(now), which has not happened on that link")
    }
  }
}

extension TransportEvent {
  /// What is broken where it is not true.
  fileprivate var promise: String {
    switch self {
    case .received: "I23"
    case .written, .acknowledged: "I11"
    case .opened, .failed, .closed, .pong, .writabilityChanged, .viabilityChanged,
      .drainRequested, .betterPathAvailable:
      "I2"
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate func isEqual(to bytes: RawSpan) -> Bool {
    withUnsafeBytes { own in
      bytes.withUnsafeBytes { own.elementsEqual($0.prefix(own.count)) }
    }
  }
}

// MARK: The watched parts

/// The watches of all links of a connection, in the order of their dials.
///
/// Confined to the simulation's thread.
final class LinkWatches: @unchecked Sendable {
  private(set) var all: [LinkWatch] = []
  /// Made for an engine whose stream is not dialled yet.
  private var next: LinkWatch
  private let log: StreamLog

  init(_ log: StreamLog) {
    self.log = log
    next = LinkWatch(log)
  }

  /// For a new engine. One that is never dialled, as a model is not, has none of its own.
  func begin() -> LinkWatch {
    next = LinkWatch(log)
    return next
  }

  /// A link has its stream: that of the engine made last, or one that was redirected.
  func dialled(_ link: any ByteStreamObserver) -> LinkWatch {
    if let known = all.last(where: { $0.link === link }) {
      known.redialled()
      return known
    }
    next.link = link
    all.append(next)
    return next
  }
}

struct WatchedEngine<Base: ProtocolEngine>: ProtocolEngine {
  private var base: Base
  private let watch: LinkWatch

  init(_ base: Base, _ watch: LinkWatch) {
    self.base = base
    self.watch = watch
  }

  var canPing: Bool { base.canPing }
  var canAuthenticate: Bool { base.canAuthenticate }
  var nextDeadline: Instant? { mutating get { base.nextDeadline } }
  var backlog: Int { mutating get { base.backlog } }
  var hasMore: Bool { mutating get { base.hasMore } }
  func admits(_ message: Message) -> Bool { base.admits(message) }

  mutating func authenticate(with credentials: Credentials) {
    base.authenticate(with: credentials)
  }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    watching(&output) { $0.start(at: now, into: &$1) }
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {
    watch.heard(bytes)
    let (count, events) = (output.bytes.count, output.events.count)
    base.receive(bytes, at: now, into: &output)
    note(output, count, events)
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    watching(&output) { $0.receiveEnd(at: now, into: &$1) }
  }

  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    let start = watch.produced
    watching(&output) { $0.send(message, id: id, into: &$1) }
    watch.sent(message, id, backlog: base.backlog, from: start)
  }

  mutating func writeOn(into output: inout EngineOutput) {
    let before = base.backlog
    watching(&output) { $0.writeOn(into: &$1) }
    watch.wroteOn(backlog: before, base.backlog)
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    watching(&output) { $0.ping(number, into: &$1) }
  }

  mutating func close(at now: Instant, into output: inout EngineOutput) {
    watching(&output) { $0.close(at: now, into: &$1) }
  }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    watching(&output) { $0.deadlineReached(at: now, into: &$1) }
  }

  private mutating func watching(
    _ output: inout EngineOutput, _ body: (inout Base, inout EngineOutput) -> Void
  ) {
    let (count, events) = (output.bytes.count, output.events.count)
    body(&base, &output)
    note(output, count, events)
  }

  private func note(_ output: EngineOutput, _ count: Int, _ events: Int) {
    if output.bytes.count > count { watch.produced(output.bytes[count...]) }
    for event in output.events[events...] { watch.said(event) }
  }
}

final class WatchedDialer: ByteStreamDialer {
  private let base: SimulatedDialer
  private let watches: LinkWatches

  init(_ base: SimulatedDialer, _ watches: LinkWatches) {
    self.base = base
    self.watches = watches
  }

  var eventLoop: any EventLoop { base.eventLoop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> WatchedStream {
    WatchedStream(base.dial(endpoint, observer: observer), watches.dialled(observer))
  }
}

final class WatchedStream: ByteStream {
  private let base: SimulatedStream
  private let watch: LinkWatch
  private var isClosed = false

  init(_ base: SimulatedStream, _ watch: LinkWatch) {
    self.base = base
    self.watch = watch
  }

  func read(into buffer: inout MutableRawSpan) -> ReadResult {
    if isClosed { watch.usedAfterEnd() }
    let result = base.read(into: &buffer)
    if case .bytes(let count) = result { watch.read(buffer.bytes.extracting(first: count)) }
    return result
  }

  func write(_ bytes: RawSpan) -> WriteResult {
    if isClosed { watch.usedAfterEnd() }
    let result = base.write(bytes)
    if case .wrote(let count) = result { watch.wrote(count, of: bytes) }
    return result
  }

  func setReading(_ isReading: Bool) { base.setReading(isReading) }

  func finishWriting() { base.finishWriting() }

  func close() {
    isClosed = true
    watch.letGo()
    base.close()
  }
}
