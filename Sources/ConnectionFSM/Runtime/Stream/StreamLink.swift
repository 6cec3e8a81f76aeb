/// One link of a ``StreamTransport``: an engine and its stream, from dial to end.
final class StreamLink<Stream: ByteStream, Engine: ProtocolEngine> {
  let epoch: Epoch
  /// Set right after the dial, before anything can be heard of it.
  var stream: Stream?
  var whenOver: () -> Void = {}

  private var engine: Engine
  private let loop: any EventLoop
  private let buffer: ReadBuffer
  private var observer: (any TransportObserver)?
  private var output = EngineOutput()
  /// How far `output.bytes` has been written.
  private var written = 0
  /// Messages whose last byte is not written yet: where each ends, counted like `output.bytes`.
  private var marks: [(id: MessageID, end: Int)] = []
  private var isBlocked = false
  private var isFinishing = false
  private var isReporting = false
  private var armedAt: Instant?

  // Above the high mark the machine keeps its messages, where they can still expire or be
  // cancelled.
  private static var highMark: Int { 256 << 10 }
  private static var lowMark: Int { 64 << 10 }
  /// Reads a turn: a flood on one link must not starve the others, nor the timers.
  private static var readsPerTurn: Int { 4 }

  init(
    epoch: Epoch, engine: Engine, loop: any EventLoop, buffer: ReadBuffer,
    observer: any TransportObserver
  ) {
    self.epoch = epoch
    self.engine = engine
    self.loop = loop
    self.buffer = buffer
    self.observer = observer
  }
}

// MARK: Orders

extension StreamLink {
  func send(_ message: Message, id: MessageID, more: Bool) {
    engine.send(message, id: id, into: &output)
    marks.append((id, output.bytes.count))
    if !more { settle() }
  }

  func ping(_ number: UInt32) {
    engine.ping(number, into: &output)
    settle()
  }

  func close() {
    engine.close(at: loop.now, into: &output)
    settle()
  }

  /// Ends the link without a word.
  func letGo() {
    guard observer != nil else { return }
    observer = nil
    stream?.close()
    if armedAt != nil { loop.arm(self, at: nil) }
    armedAt = nil
    whenOver()
  }
}

// MARK: The stream's readiness

extension StreamLink: ByteStreamObserver {
  func streamOpened() {
    engine.start(at: loop.now, into: &output)
    settle()
  }

  func streamFailed(_ cause: Cause) { end(.failed(cause)) }

  func streamWritable() { settle() }

  func streamReadable() {
    for _ in 0..<Self.readsPerTurn {
      guard observer != nil, let stream else { return }
      switch read(from: stream) {
      case .bytes(let count):
        observer?.transport(epoch, reports: .received(byteCount: UInt32(count)))
        guard observer != nil else { return }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count])
        engine.receive(bytes.bytes, at: loop.now, into: &output)
        settle()
        if count < buffer.bytes.count { return }
      case .wouldBlock: return
      case .end:
        engine.receiveEnd(at: loop.now, into: &output)
        return settle()
      case .failed(let cause): return end(.failed(cause))
      }
    }
  }

  private func read(from stream: Stream) -> ReadResult {
    var bytes = buffer.bytes.mutableBytes
    return stream.read(into: &bytes)
  }
}

extension StreamLink: DeadlineHandler {
  func deadlineReached() {
    armedAt = nil
    if let deadline = engine.nextDeadline, deadline <= loop.now {
      engine.deadlineReached(at: loop.now, into: &output)
    }
    settle()
  }
}

// MARK: What the engine wants

extension StreamLink {
  /// Writes what there is to write and reports what there is to report, until neither is left.
  private func settle() {
    guard observer != nil else { return }
    report()
    flush()
    rearm()
  }

  private func report() {
    // A report may lead to an order that leads back here; the outer call goes on with its list.
    guard !isReporting else { return }
    isReporting = true
    defer { isReporting = false }
    var next = 0
    while next < output.events.count, observer != nil {
      let event = output.events[next]
      next += 1
      switch event {
      case .opened: observer?.transport(epoch, reports: .opened)
      case .message(let message): observer?.transport(epoch, received: message)
      case .pong(let number): observer?.transport(epoch, reports: .pong(number))
      case .acknowledged(let id):
        observer?.transport(epoch, reports: .acknowledged(through: id))
      case .finished: isFinishing = true
      case .closed(let code): end(.closed(code))
      case .failed(let cause): end(.failed(cause))
      }
    }
    output.events.removeAll(keepingCapacity: true)
  }

  private func flush() {
    guard let stream, observer != nil else { return }
    while written < output.bytes.count {
      switch stream.write(output.bytes.span.bytes.extracting(droppingFirst: written)) {
      case .wrote(let count):
        written += count
      case .wouldBlock:
        return reportWritten()
      case .failed(let cause):
        reportWritten()
        return end(.failed(cause))
      }
    }
    if isFinishing {
      isFinishing = false
      stream.finishWriting()
    }
    reportWritten()
  }

  private func reportWritten() {
    var done = 0
    while done < marks.count, marks[done].end <= written { done += 1 }
    let ended = marks[..<done]
    // One report for a run of messages of one lane.
    var reports: [MessageID] = []
    for mark in ended {
      if reports.last?.lane == mark.id.lane { reports.removeLast() }
      reports.append(mark.id)
    }
    marks.removeFirst(done)
    compact()
    updateWritability()
    for id in reports { observer?.transport(epoch, reports: .written(through: id)) }
  }

  /// Gives up the written part once it is all there is, or large.
  private func compact() {
    guard written == output.bytes.count || written > Self.highMark else { return }
    output.bytes.removeFirst(written)
    for index in marks.indices { marks[index].end -= written }
    written = 0
  }

  private func updateWritability() {
    let pending = output.bytes.count - written
    if isBlocked ? pending <= Self.lowMark : pending > Self.highMark {
      isBlocked.toggle()
      observer?.transport(epoch, reports: .writabilityChanged(!isBlocked))
    }
  }

  private func end(_ event: TransportEvent) {
    guard let observer else { return }
    // Last words of the engine (a close frame) go out if the stream takes them at once.
    if let stream, written < output.bytes.count {
      _ = stream.write(output.bytes.span.bytes.extracting(droppingFirst: written))
    }
    letGo()
    observer.transport(epoch, reports: event)
  }

  private func rearm() {
    guard observer != nil else { return }
    let next = engine.nextDeadline
    guard next != armedAt else { return }
    armedAt = next
    loop.arm(self, at: next)
  }
}
