import ConnectionFSM

// A link is watched at its two seams, the engine above and the stream below: what one of them gave
// is what the other one gets, and what is reported of it has happened.

/// What went through one link.
final class LinkWatch {
  /// What the engine wrote and the stream has not taken.
  private var unwritten: [UInt8] = []
  private var unwrittenFrom = 0
  private var produced = 0
  private var taken = 0
  /// What was read and the engine has not been given.
  private var unheard: [UInt8] = []
  /// How much was read, a read at a time, and has not been reported.
  private var reads = Line<Int>()
  /// What the engine had to say and was not reported.
  private var sayings = Line<Saying>()
  /// Where each message ends, counted from the link's first byte. Looked up, never walked through.
  private var ends: [MessageID: Int] = [:]
  /// Whether the transport has let go of the stream.
  private(set) var isLetGo = false

  private let log: StreamLog

  /// What an engine says that a trace tells.
  private enum Saying: Equatable {
    case opened
    case pong(UInt32)
    case acknowledged(MessageID)
  }

  init(_ log: StreamLog) { self.log = log }
}

// MARK: What the engine and the stream do

extension LinkWatch {
  func produced(_ bytes: ArraySlice<UInt8>) {
    unwritten += bytes
    produced += bytes.count
  }

  func sent(_ message: Message, _ id: MessageID) {
    log.sent(message, id)
    if ends.updateValue(produced, forKey: id) != nil {
      log.fail(Violation("I22", "\(id) was given to one link twice"))
    }
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
      isTrue = sayings.popFirst() == .acknowledged(id) && ends[id] != nil
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

/// First in, first out, emptied now and then.
struct Line<Element> {
  private var elements: [Element] = []
  private var head = 0

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    head += 1
    let element = elements[head - 1]
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    }
    return element
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

  /// The engine made last has its stream.
  func dialled() -> LinkWatch {
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
  var nextDeadline: Instant? { mutating get { base.nextDeadline } }
  func admits(_ message: Message) -> Bool { base.admits(message) }

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
    watching(&output) { $0.send(message, id: id, into: &$1) }
    if let id { watch.sent(message, id) }
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
    WatchedStream(base.dial(endpoint, observer: observer), watches.dialled())
  }
}

final class WatchedStream: ByteStream {
  private let base: SimulatedStream
  private let watch: LinkWatch

  init(_ base: SimulatedStream, _ watch: LinkWatch) {
    self.base = base
    self.watch = watch
  }

  func read(into buffer: inout MutableRawSpan) -> ReadResult {
    let result = base.read(into: &buffer)
    if case .bytes(let count) = result { watch.read(buffer.bytes.extracting(first: count)) }
    return result
  }

  func write(_ bytes: RawSpan) -> WriteResult {
    let result = base.write(bytes)
    if case .wrote(let count) = result { watch.wrote(count, of: bytes) }
    return result
  }

  func setReading(_ isReading: Bool) { base.setReading(isReading) }

  func finishWriting() { base.finishWriting() }

  func close() {
    watch.letGo()
    base.close()
  }
}
