import ConnectionFSM

/// The inside of a ``ProxyStream``: hears of the stream to the proxy, shakes hands over it, and
/// then passes everything on.
final class ProxyTunnel<Base: ByteStream> {
  private enum Stage {
    case dialling, shaking, open, closed
  }

  /// The stream to the proxy.
  var base: Base?
  /// Where the proxy is, and where it is to lead; nil without a proxy.
  var way: (proxy: Endpoint, target: Endpoint)?
  /// Nil without a proxy.
  var handshake: (any ProxyHandshake)?
  /// How long the handshake may take.
  var limit: TimeSpan?

  private let loop: any EventLoop
  private weak var observer: (any ByteStreamObserver)?
  private var stage = Stage.dialling
  /// What is still to be said to the proxy.
  private var output: [UInt8] = []
  /// What came behind the proxy's answer and was not read yet.
  private var surplus: ArraySlice<UInt8> = []
  private var hasFinishedWriting = false
  private var isReading = true
  /// Told in the next turn, since it was known inside of `dial`.
  private var failure: (cause: Cause, problem: ProxyError.Problem)?
  private var error: ProxyError?
  private let alarm = Alarm()

  init(on loop: any EventLoop, observer: any ByteStreamObserver) {
    self.loop = loop
    self.observer = observer
    alarm.ring = { [weak self] in self?.alarmRang() }
  }

  deinit {
    // The loop would keep the alarm until its time. Not here: this can be any thread.
    let (loop, alarm) = (loop, alarm)
    if alarm.isArmed { loop.execute { loop.arm(alarm, at: nil) } }
  }

  var diagnosis: (any Error)? {
    guard let error else { return base?.diagnosis }
    if case .notReached = error.problem, let deeper = base?.diagnosis { return deeper }
    return error
  }
}

/// Unchecked: used on its loop alone, where it is armed.
private final class Alarm: DeadlineHandler, @unchecked Sendable {
  var ring: () -> Void = {}
  var isArmed = false

  func deadlineReached() {
    isArmed = false
    ring()
  }
}

// MARK: The stream

extension ProxyTunnel {
  func read(into buffer: inout MutableRawSpan) -> ReadResult {
    guard stage == .open, let base else {
      return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
    }
    guard !surplus.isEmpty else { return base.read(into: &buffer) }
    let count = min(surplus.count, buffer.byteCount)
    guard count > 0 else { return .wouldBlock }
    buffer.withUnsafeMutableBytes { $0.copyBytes(from: surplus.prefix(count)) }
    surplus.removeFirst(count)
    return .bytes(count)
  }

  func write(_ bytes: RawSpan) -> WriteResult {
    guard stage == .open, let base else {
      return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
    }
    return base.write(bytes)
  }

  func setReading(_ isReading: Bool) {
    guard stage == .open else { return }
    self.isReading = isReading
    base?.setReading(isReading)
    if isReading, !surplus.isEmpty { arm(at: loop.now) }
  }

  func finishWriting() {
    guard stage != .closed else { return }
    hasFinishedWriting = true
    if stage == .open { base?.finishWriting() }
  }

  func close() {
    guard stage != .closed else { return }
    stage = .closed
    observer = nil
    surplus = []
    disarm()
    base?.close()
  }

  func failSoon(_ cause: Cause, _ problem: ProxyError.Problem) {
    failure = (cause, problem)
    arm(at: loop.now)
  }

  private func fail(_ cause: Cause, _ problem: ProxyError.Problem) {
    guard stage != .closed else { return }
    if let way { error = ProxyError(proxy: way.proxy, target: way.target, problem: problem) }
    let observer = observer
    close()
    observer?.streamFailed(cause)
  }
}

// MARK: The stream below

extension ProxyTunnel: ByteStreamObserver {
  func streamOpened() {
    guard stage == .dialling else { return }
    guard handshake != nil else { return becomeOpen() }
    stage = .shaking
    if let limit { arm(at: loop.now + limit) }
    handshake?.start(into: &output)
    flush()
  }

  func streamFailed(_ cause: Cause) { fail(cause, .notReached(cause)) }

  func streamWritable() {
    switch stage {
    case .shaking: flush()
    case .open: observer?.streamWritable()
    case .dialling, .closed: break
    }
  }

  func streamReadable() {
    switch stage {
    case .shaking: shake()
    case .open: observer?.streamReadable()
    case .dialling, .closed: break
    }
  }

  private func flush() {
    while let base, stage == .shaking, !output.isEmpty {
      switch base.write(output.span.bytes) {
      case .wrote(let count): output.removeFirst(count)
      case .wouldBlock: return
      case .failed(let cause):
        hearLastWords()
        return fail(cause, .notReached(cause))
      }
    }
  }

  /// After a failed write: a refusal that came before it says more, and is then the cause.
  private func hearLastWords() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { buffer.deallocate() }
    while let base {
      var bytes = buffer.mutableBytes
      guard case .bytes(let count) = base.read(into: &bytes),
        let progress = handshake?.receive(
          UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes, into: &output)
      else { return }
      switch progress {
      case .goesOn: continue
      case .failed(let cause, let problem): return fail(cause, problem)
      case .isDone: return
      }
    }
  }

  private func shake() {
    guard let base, let handshake else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { buffer.deallocate() }
    var bytes = buffer.mutableBytes
    switch base.read(into: &bytes) {
    case .bytes(let count):
      take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    case .wouldBlock: break
    case .end: fail(.truncated, .truncated(offset: handshake.offset))
    case .failed(let cause): fail(cause, .notReached(cause))
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    guard let progress = handshake?.receive(bytes.bytes, into: &output) else { return }
    switch progress {
    case .goesOn: flush()
    case .failed(let cause, let problem): fail(cause, problem)
    case .isDone(let taken):
      // Answered before it was asked: whoever that is, no proxy.
      guard output.isEmpty else { return fail(.protocolError, .garbled(offset: 0)) }
      surplus = Array(bytes[taken...])[...]
      disarm()
      becomeOpen()
    }
  }

  private func becomeOpen() {
    stage = .open
    handshake = nil
    if hasFinishedWriting { base?.finishWriting() }
    observer?.streamOpened()
    tellSurplus()
  }

  /// The stream below tells of its own bytes alone.
  private func tellSurplus() {
    guard stage == .open, isReading, !surplus.isEmpty else { return }
    observer?.streamReadable()
    // Again in the next turn, for an observer that reads in pieces.
    if stage == .open, isReading, !surplus.isEmpty { arm(at: loop.now) }
  }
}

// MARK: Time

extension ProxyTunnel {
  private func arm(at deadline: Instant) {
    alarm.isArmed = true
    loop.arm(alarm, at: deadline)
  }

  private func disarm() {
    guard alarm.isArmed else { return }
    alarm.isArmed = false
    loop.arm(alarm, at: nil)
  }

  private func alarmRang() {
    switch stage {
    case .dialling:
      if let failure { fail(failure.cause, failure.problem) }
    case .shaking:
      if let limit { fail(.timedOut(.handshake), .tookTooLong(limit)) }
    case .open: tellSurplus()
    case .closed: break
    }
  }
}
