/// One link of a ``StreamTransport``: an engine and its stream, from dial to end.
package final class StreamLink<Stream: ByteStream, Engine: ProtocolEngine> {
  package let epoch: Epoch
  /// Set right after the dial, before anything can be heard of it.
  @exclusivity(unchecked) package var stream: Stream?
  package var whenOver: () -> Void = {}
  /// Dials where the peer has pointed to; nil where nobody follows.
  package var redial: ((Endpoint) -> Stream)?

  // Unchecked, like all that changes below: the dynamic checks cost as much as all the rest of a
  // message. Sound, since no call out is made while one of these is being changed: an engine cannot
  // reach its link, and observers are told when the change is done.
  @exclusivity(unchecked) var engine: Engine
  let loop: any EventLoop
  private let buffer: ReadBuffer
  private let meter: TrafficMeter
  @exclusivity(unchecked) var observer: (any TransportObserver)?
  @exclusivity(unchecked) var output = EngineOutput()
  /// How far `output.events` has been reported.
  @exclusivity(unchecked) private var reported = 0
  /// How far `output.bytes` has been written.
  @exclusivity(unchecked) private var written = 0
  /// Messages whose last byte is not written yet: where each ends, counted like `output.bytes`.
  @exclusivity(unchecked) var marks: [(id: MessageID?, payload: Int, end: Int)] = []
  /// Messages in the engine's backlog, oldest first, and the bytes of their payloads.
  @exclusivity(unchecked) var waiting = FIFO<(id: MessageID?, payload: Int)>()
  @exclusivity(unchecked) var waitingByteCount = 0
  /// How much the stream took between the last two times that it was full, and since.
  @exclusivity(unchecked) private var takenBefore = 0
  @exclusivity(unchecked) private var takenSince = 0
  /// Room for what is reported at once.
  @exclusivity(unchecked) private var reports: [MessageID] = []
  /// The machine was told to give no more.
  @exclusivity(unchecked) private var isBlocked = false
  /// The stream takes no more until it says so.
  @exclusivity(unchecked) private var isFull = false
  @exclusivity(unchecked) private var isFinishing = false
  /// Messages are wanted. While they are not, the first one that was read stands before all that is
  /// to be reported behind it.
  @exclusivity(unchecked) var isReceiving = true
  /// The engine has said that the end is near.
  @exclusivity(unchecked) package private(set) var isLeaving = false
  @exclusivity(unchecked) private var isSettling = false
  @exclusivity(unchecked) var armedAt: Instant?

  /// How the link ends, once what was said before that is reported.
  @exclusivity(unchecked) private var verdict: TransportEvent?
  /// Why nothing can be written any more. What the peer said before it went is read first.
  @exclusivity(unchecked) private var writeFailure: Cause?
  @exclusivity(unchecked) private var isReadOut = false

  // Above the high mark the machine keeps its messages, where they can still expire or be
  // cancelled.
  private static var highMark: Int { 256 << 10 }
  private static var lowMark: Int { 64 << 10 }
  /// What a backlog is written in: as much as the stream takes before it is full, within bounds.
  /// Each write costs a wake-up of the peer; but what is written and not taken stands before all
  /// that is urgent, so that a slow stream had better be given little.
  private var portion: Int { min(max(64 << 10, takenBefore, takenSince), 1 << 20) }
  /// Reads a turn: a flood on one link must not starve the others, nor the timers.
  private static var readsPerTurn: Int { 4 }
  /// Events a turn: consumers on this loop run in between, or a burst would overrun their buffers.
  private static var eventsPerTurn: Int { 256 }

  package init(
    epoch: Epoch, engine: Engine, loop: any EventLoop, buffer: ReadBuffer,
    meter: TrafficMeter = TrafficMeter(), observer: any TransportObserver
  ) {
    self.epoch = epoch
    self.engine = engine
    self.loop = loop
    self.buffer = buffer
    self.meter = meter
    self.observer = observer
  }
}

// MARK: The stream's readiness

extension StreamLink: ByteStreamObserver {
  package func streamOpened() {
    engine.start(at: loop.now, into: &output)
    settle()
  }

  package func streamFailed(_ cause: Cause) {
    verdict = verdict ?? .failed(cause)
    settle()
  }

  package func streamWritable() {
    isFull = false
    settle()
  }

  package func streamReadable() {
    for _ in 0..<Self.readsPerTurn {
      // What was read is reported before more is read: the kernel is the buffer.
      guard observer != nil, verdict == nil, reported == output.events.count, let stream else {
        return
      }
      guard writeFailure == nil else { return settle() }
      switch read(from: stream) {
      case .bytes(let count):
        take(count)
        settle()
        if count < buffer.bytes.count { return }
      case .wouldBlock: return
      case .end:
        engine.receiveEnd(at: loop.now, into: &output)
        return settle()
      case .failed(let cause):
        if isLeaving { endUnheard() } else { verdict = .failed(cause) }
        return settle()
      }
    }
  }

  /// How the link ends is known already; the stream broke while we waited for the peer's own end,
  /// as it does under a peer that closes with bytes of ours unread.
  private func endUnheard() { engine.receiveEnd(at: loop.now, into: &output) }

  private func read(from stream: Stream) -> ReadResult {
    var bytes = buffer.bytes.mutableBytes
    return stream.read(into: &bytes)
  }

  private func take(_ count: Int) {
    meter.received(byteCount: count)
    let bytes = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count])
    // Before anybody hears of it: all links of the loop read into this buffer, and an observer's
    // answer may lead to a read.
    engine.receive(bytes.bytes, at: loop.now, into: &output)
    observer?.transport(epoch, reports: .received(byteCount: UInt32(count)))
  }

  /// After a failed write: what the peer said before it went. The write has used up the error, so
  /// what reads like an orderly end now is not one.
  private func readLastWords() {
    guard let stream, case .bytes(let count) = read(from: stream) else {
      isReadOut = true
      if isLeaving { endUnheard() }
      return
    }
    take(count)
  }
}

extension StreamLink: DeadlineHandler {
  package func deadlineReached() {
    armedAt = nil
    if let deadline = engine.nextDeadline, deadline <= loop.now {
      engine.deadlineReached(at: loop.now, into: &output)
    }
    settle()
  }
}

// MARK: What the engine wants

extension StreamLink {
  /// Reports what there is to report and writes what there is to write, then ends the link if that
  /// is what it has come to. A report may lead to an order that leads back here: the outer call
  /// goes on.
  func settle() {
    guard observer != nil, !isSettling else { return }
    isSettling = true
    var budget = Self.eventsPerTurn
    repeat {
      report(&budget)
      writeOut()
      if hasLastWords {
        readLastWords()
        budget -= 1
      }
    } while observer != nil && budget > 0 && hasMore
    isSettling = false
    guard observer != nil else { return }
    if hasMore {
      // The rest in the next turn.
      armedAt = loop.now
      return loop.arm(self, at: armedAt)
    }
    // What the peer said before the end is told first, once it is wanted.
    if isHeld { return rearm() }
    if let verdict { return end(verdict) }
    if let writeFailure { return end(.failed(writeFailure)) }
    rearm()
  }

  private var hasMore: Bool { canReport || canWrite || hasLastWords }

  private var canReport: Bool { reported < output.events.count && !isHeld }

  /// What is to be reported next is a message that is not wanted yet.
  private var isHeld: Bool {
    guard !isReceiving, reported < output.events.count else { return false }
    if case .message = output.events[reported] { return true }
    return false
  }

  /// Not before all that was read is reported: a consumer may hold that back for long.
  private var hasLastWords: Bool {
    writeFailure != nil && !isReadOut && verdict == nil && reported == output.events.count
  }

  private var canWrite: Bool {
    (written < output.bytes.count || engine.hasMore) && !isFull && writeFailure == nil
  }

  private func report(_ budget: inout Int) {
    if output.events[reported...].contains(where: \.isEnd) { holdBack() }
    while canReport, budget > 0, observer != nil {
      let event = output.events[reported]
      reported += 1
      budget -= 1
      switch event {
      case .opened: observer?.transport(epoch, reports: .opened)
      case .message(let message):
        meter.received(message)
        observer?.transport(epoch, received: message)
      case .pong(let number): observer?.transport(epoch, reports: .pong(number))
      case .acknowledged(let id):
        observer?.transport(epoch, reports: .acknowledged(through: id))
      case .redirected(let endpoint): follow(to: endpoint)
      case .ending:
        isLeaving = true
        holdBack()
      case .finished: isFinishing = true
      case .closed(let code): verdict = verdict ?? .closed(code)
      case .failed(let cause): verdict = verdict ?? .failed(cause)
      }
    }
    guard reported == output.events.count else { return }
    output.events.removeAll(keepingCapacity: true)
    reported = 0
  }

  private func follow(to endpoint: Endpoint) {
    guard let redial else {
      verdict = verdict ?? .failed(.unsupportedEndpoint)
      return
    }
    stream?.close()
    // Nothing but the handshake was written so far.
    output.bytes.removeAll(keepingCapacity: true)
    written = 0
    isFull = false
    isFinishing = false
    // What the old stream failed at is none of the new one's.
    writeFailure = nil
    isReadOut = false
    stream = redial(endpoint)
  }

  /// The end is known: what is not given yet had better wait for the next link.
  private func holdBack() {
    guard !isBlocked else { return }
    isBlocked = true
    observer?.transport(epoch, reports: .writabilityChanged(false))
  }

  private var isEnding: Bool {
    verdict != nil || writeFailure != nil || output.events[reported...].contains(where: \.isEnd)
  }

  private func writeOut() {
    guard let stream, observer != nil, writeFailure == nil else { return }
    // What is given to a full stream counts, too: the machine had better keep it.
    guard !isFull else { return updateWritability() }
    while written < output.bytes.count || writeOn() {
      switch stream.write(output.bytes.span.bytes.extracting(droppingFirst: written)) {
      case .wrote(let count):
        written += count
        takenSince += count
        meter.sent(byteCount: count)
      case .wouldBlock:
        isFull = true
        takenBefore = takenSince
        takenSince = 0
        return reportWritten()
      case .failed(let cause):
        writeFailure = cause
        holdBack()
        return reportWritten()
      }
    }
    if isFinishing {
      isFinishing = false
      stream.finishWriting()
    }
    reportWritten()
  }

  /// Lets the engine go on with its backlog, now that all is written.
  private func writeOn() -> Bool {
    guard engine.hasMore else { return false }
    compact()
    let portion = portion
    while engine.hasMore, output.bytes.count < portion {
      let backlog = engine.backlog
      engine.writeOn(into: &output)
      guard engine.backlog < backlog, let (id, payload) = waiting.popFirst() else { continue }
      waitingByteCount -= payload
      marks.append((id, payload, output.bytes.count))
    }
    return !output.bytes.isEmpty
  }

  private func reportWritten() {
    var done = 0
    while done < marks.count, marks[done].end <= written { done += 1 }
    // One report for a run of messages of one lane.
    reports.removeAll(keepingCapacity: true)
    for mark in marks[..<done] {
      meter.sentMessage(payload: mark.payload)
      guard let id = mark.id else { continue }
      if reports.last?.lane == id.lane { reports.removeLast() }
      reports.append(id)
    }
    if done == marks.count {
      marks.removeAll(keepingCapacity: true)
    } else {
      marks.removeFirst(done)
    }
    compact()
    updateWritability()
    for id in reports { observer?.transport(epoch, reports: .written(through: id)) }
  }

  /// Gives up the written part once it is all there is, or large.
  private func compact() {
    guard written == output.bytes.count || written > Self.highMark else { return }
    if written == output.bytes.count {
      output.bytes.removeAll(keepingCapacity: true)
    } else {
      output.bytes.removeFirst(written)
    }
    for index in marks.indices { marks[index].end -= written }
    written = 0
  }

  private func updateWritability() {
    guard !isEnding, !isLeaving else { return }
    let pending = output.bytes.count - written + waitingByteCount
    if isBlocked ? pending <= Self.lowMark : pending > Self.highMark {
      isBlocked.toggle()
      observer?.transport(epoch, reports: .writabilityChanged(!isBlocked))
    }
  }

  private func end(_ event: TransportEvent) {
    guard let observer else { return }
    if case .failed = event, let error = engine.diagnosis ?? stream?.diagnosis {
      observer.transport(epoch, diagnosed: error)
    }
    letGo()
    observer.transport(epoch, reports: event)
  }

  private func rearm() {
    let next = engine.nextDeadline
    guard next != armedAt else { return }
    armedAt = next
    loop.arm(self, at: next)
  }
}
