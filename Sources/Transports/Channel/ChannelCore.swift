import ConnectionFSM

/// What a read that waits owes, beside the value that decides.
struct PendingRead: Sendable {
  let tag: Int
  let onTimeout: (@Sendable (Int) -> TimeSpan?)?
  let completion: @Sendable (Int, Result<[UInt8], ChannelError>) -> Void
}

/// The same of a write.
struct PendingWrite: Sendable {
  let tag: Int
  let onTimeout: (@Sendable (Int) -> TimeSpan?)?
  let completion: @Sendable (Int, Result<Void, ChannelError>) -> Void
}

/// Drives the requests of a ``ByteChannel`` over its stream.
///
/// Confined to the dialer's loop; `Sendable` only in that its reference may be captured by work for
/// it. Never re-entrant: whatever an application calls inside a result is work for the loop, too.
final class ChannelCore<Dialer: ByteStreamDialer & SendableMetatype>: @unchecked Sendable {
  enum Stage {
    case idle, connecting, open
    /// FIN is sent; the peer's end is waited for.
    case draining
    case over(Cause)
  }

  let loop: any EventLoop
  private let dialer: Dialer
  private let halfClose: HalfClosePolicy
  let diagnosed: (@Sendable (any Error) -> Void)?
  let onEvent: @Sendable (ChannelEvent) -> Void

  var stage = Stage.idle
  var stream: Dialer.Stream?
  var reads = ReadRequests()
  var writes: WriteRequests
  var readEffects: [ReadRequests.Effect] = []
  var writeEffects: [WriteRequests.Effect] = []
  var pendingReads: [RequestID: PendingRead] = [:]
  var pendingWrites: [RequestID: PendingWrite] = [:]
  var writableWaiters: [(id: RequestID, completion: @Sendable (ChannelError?) -> Void)] = []
  var connected: (@Sendable (Result<Void, ChannelError>) -> Void)?
  var closed: [@Sendable (Cause) -> Void] = []

  private var isReading = true
  /// The next turn is on its way.
  private var goesOn = false
  private var peerHasEnded = false
  /// The stream takes no more until it says so.
  private var isFull = false
  private var linger: TimeSpan?
  var connectDeadline: Instant?
  var lingerDeadline: Instant?
  private var armedAt: Instant?

  /// What is read at once: the stream's own buffer is the larger one.
  private static var chunk: Int { 16 << 10 }
  /// Reads and writes a turn: a flood on one channel must not starve others, nor the timers.
  private static var callsPerTurn: Int { 4 }

  init(
    _ dialer: Dialer, marks: WaterMarks, halfClose: HalfClosePolicy,
    diagnosed: (@Sendable (any Error) -> Void)?,
    onEvent: @escaping @Sendable (ChannelEvent) -> Void
  ) {
    self.dialer = dialer
    loop = dialer.eventLoop
    writes = WriteRequests(marks: marks)
    self.halfClose = halfClose
    self.diagnosed = diagnosed
    self.onEvent = onEvent
  }

  deinit {
    // Only where the loop stopped before the channel was closed: nobody else will tell them.
    for (_, read) in pendingReads.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      read.completion(read.tag, .failure(.closed(.closedByUser)))
    }
    for (_, write) in pendingWrites.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      write.completion(write.tag, .failure(.closed(.closedByUser)))
    }
    for waiter in writableWaiters { waiter.completion(.closed(.closedByUser)) }
    connected?(.failure(.closed(.closedByUser)))
    for completion in closed { completion(.closedByUser) }
  }

  var isOver: Bool {
    if case .over = stage { true } else { false }
  }
}

// MARK: Wishes

extension ChannelCore {
  func connect(
    to endpoint: Endpoint, timeout: TimeSpan?,
    _ completion: (@Sendable (Result<Void, ChannelError>) -> Void)?
  ) {
    switch stage {
    case .idle: break
    case .connecting, .open, .draining:
      completion?(.failure(.alreadyConnected))
      return
    case .over(let cause):
      completion?(.failure(.closed(cause)))
      return
    }
    stage = .connecting
    connected = completion
    connectDeadline = timeout.map { loop.now + $0 }
    stream = dialer.dial(endpoint, observer: self)
    rearm()
  }

  func read(
    _ request: ReadRequest, _ id: RequestID, _ timeout: TimeSpan?, _ pending: PendingRead
  ) {
    pendingReads[id] = pending
    handle(.asked(id, request, timeout: timeout))
    settle()
  }

  func write(
    _ bytes: [UInt8], _ id: RequestID, _ timeout: TimeSpan?, _ pending: PendingWrite
  ) {
    pendingWrites[id] = pending
    handle(.asked(id, bytes, timeout: timeout))
    settle()
  }

  func cancel(_ id: RequestID) {
    if pendingReads[id] != nil { handle(.cancelled(id) as ReadRequests.Input) }
    if pendingWrites[id] != nil { handle(.cancelled(id) as WriteRequests.Input) }
    if let index = writableWaiters.firstIndex(where: { $0.id == id }) {
      writableWaiters.remove(at: index).completion(.cancelled)
    }
    settle()
  }

  func whenWritable(_ id: RequestID, _ completion: @escaping @Sendable (ChannelError?) -> Void) {
    if case .over(let cause) = stage { return completion(.closed(cause)) }
    guard writes.isFull else { return completion(nil) }
    writableWaiters.append((id, completion))
  }

  func close() {
    end(.closedByUser)
    handle(.closed)
  }

  func closeAfterWriting(_ linger: TimeSpan, _ completion: (@Sendable (Cause) -> Void)?) {
    if case .over(let cause) = stage {
      completion?(cause)
      return
    }
    if let completion { closed.append(completion) }
    guard self.linger == nil else { return }
    self.linger = linger
    lingerDeadline = loop.now + linger
    handle(.closing as ReadRequests.Input)
    handle(.closing as WriteRequests.Input)
    settle()
  }
}

// MARK: The stream

extension ChannelCore: ByteStreamObserver {
  func streamOpened() {
    guard case .connecting = stage else { return }
    stage = .open
    connectDeadline = nil
    noteProgress()
    connected?(.success(()))
    connected = nil
    onEvent(.opened)
    handle(.opened as ReadRequests.Input)
    handle(.opened as WriteRequests.Input)
    settle()
  }

  func streamFailed(_ cause: Cause) { end(cause) }

  func streamReadable() {
    var calls = Self.callsPerTurn
    while calls > 0, readOnce() { calls -= 1 }
    settle()
  }

  func streamWritable() {
    isFull = false
    settle()
  }

  /// Reads as much as is wanted. Whether it is worth while to go on.
  private func readOnce() -> Bool {
    let room = min(wanted, Self.chunk)
    // The rest waits until the application has heard what there is.
    guard let stream, room > 0, !reads.hasNext else { return false }
    let isKept = !drops
    let result = withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { raw in
      var span = raw.mutableBytes
      let result = stream.read(into: &span)
      if case .bytes(let count) = result, isKept {
        let arrived = UnsafeRawBufferPointer(rebasing: raw[..<count])
        reads.receive(arrived.bytes, at: loop.now, into: &readEffects)
      }
      return result
    }
    deliverReads()
    switch result {
    case .bytes(let count): return count == room
    case .wouldBlock: return false
    case .end:
      peerHasEnded = true
      handle(.ended)
      if isDraining { end(.closedByUser) }
      // Whoever closes in order has said what is still to be written.
      if !isOver, linger == nil {
        switch halfClose {
        case .close: end(.closedByPeer(nil))
        case .keepWriting: onEvent(.readClosed)
        }
      }
      return false
    case .failed(let cause):
      end(cause)
      return false
    }
  }

  /// What arrives is for nobody any more, and is read all the same: a peer that waits to be read
  /// may not read either.
  private var drops: Bool { linger != nil && reads.isEmpty }

  private var isDraining: Bool {
    if case .draining = stage { true } else { false }
  }

  /// How many bytes are to be read from the stream.
  private var wanted: Int {
    guard !peerHasEnded else { return 0 }
    switch stage {
    case .idle, .connecting, .over: return 0
    case .open, .draining: return drops ? Self.chunk : reads.room
    }
  }

  private func flush() {
    guard case .open = stage else { return }
    var calls = Self.callsPerTurn
    while !isFull, !isOver, let stream, let bytes = writes.next {
      guard calls > 0 else { return goOnLater() }
      calls -= 1
      switch stream.write(bytes.span.bytes) {
      case .wrote(let count):
        noteProgress()
        handle(.took(count))
      case .wouldBlock: isFull = true
      case .failed(let cause):
        readLastWords()
        end(cause)
      }
    }
  }

  /// What the peer said before it went. The write has used up the error, so what reads like an
  /// orderly end now is not one.
  private func readLastWords() {
    while let stream, wanted > 0 {
      var count = 0
      let room = min(wanted, Self.chunk)
      withUnsafeTemporaryAllocation(byteCount: room, alignment: 16) { raw in
        var span = raw.mutableBytes
        guard case .bytes(let read) = stream.read(into: &span) else { return }
        count = read
        let arrived = UnsafeRawBufferPointer(rebasing: raw[..<read])
        reads.receive(arrived.bytes, at: loop.now, into: &readEffects)
      }
      guard count > 0 else { return }
      deliverReads()
    }
  }

  private func noteProgress() {
    if let linger { lingerDeadline = loop.now + linger }
  }
}

// MARK: The turn

extension ChannelCore {
  /// After every piece of work: writes what there is, goes on with closing, and tells stream and
  /// loop what is waited for.
  private func settle() {
    flush()
    advanceClosing()
    guard !isOver else { return }
    if reads.hasNext { goOnLater() }
    if case .connecting = stage { return rearm() }
    let wantsBytes = wanted > 0
    if wantsBytes != isReading, let stream {
      isReading = wantsBytes
      stream.setReading(wantsBytes)
    }
    rearm()
  }

  /// The next turn of a line, after what the application does at the last result.
  private func goOnLater() {
    guard !goesOn else { return }
    goesOn = true
    loop.execute { [self] in
      goesOn = false
      handle(.next)
      settle()
    }
  }

  private func advanceClosing() {
    guard linger != nil else { return }
    switch stage {
    case .over, .draining: return
    // Nothing is lost, and nobody is there who could be told.
    case .idle: end(.closedByUser)
    case .connecting: if writes.isEmpty { end(.closedByUser) }
    case .open:
      guard writes.isEmpty else { return }
      stream?.finishWriting()
      if peerHasEnded { return end(.closedByUser) }
      stage = .draining
      noteProgress()
    }
  }
}

// MARK: Time

extension ChannelCore: DeadlineHandler {
  func deadlineReached() {
    armedAt = nil
    let now = loop.now
    if let connectDeadline, connectDeadline <= now { return end(.timedOut(.connect)) }
    if let lingerDeadline, lingerDeadline <= now {
      return end(.timedOut(lingeringFor))
    }
    handle(.deadline as ReadRequests.Input)
    handle(.deadline as WriteRequests.Input)
    settle()
  }

  private var lingeringFor: Timeout {
    switch stage {
    case .idle, .connecting: .connect
    case .open: .write
    case .draining, .over: .read
    }
  }

  func rearm() {
    let deadlines = [
      connectDeadline, lingerDeadline, isOver ? nil : reads.nextDeadline,
      isOver ? nil : writes.nextDeadline,
    ]
    guard let next = deadlines.compactMap(\.self).min() else {
      if armedAt != nil { loop.arm(self, at: nil) }
      armedAt = nil
      return
    }
    // A loop that comes early does no harm, and most deadlines move back.
    if let armedAt, armedAt <= next { return }
    armedAt = next
    loop.arm(self, at: next)
  }
}
