#if os(Linux)
  public import ConnectionFSM

  /// A version of the protocol.
  public enum TLSVersion: Sendable {
    /// TLS 1.2 (RFC 5246).
    case v12
    /// TLS 1.3 (RFC 8446).
    case v13
  }

  /// TLS over another stream, made by ``TLSDialer``. Everything of it happens on the dialer's loop.
  ///
  /// Opens when the handshake is done and the peer's certificates are good. Until `streamOpened`
  /// reading and writing answer `wouldBlock`. After that the observer hears `streamReadable` in
  /// every turn of the loop in which something is left to read, as with the stream below.
  ///
  /// What a write takes is encrypted at once; at most one record of 16 KiB then waits for the
  /// stream below, and until that has taken it nothing more is. ``finishWriting()`` says so to the
  /// peer (close_notify) and finishes below; reading goes on. The peer's own close_notify is read
  /// as the end. Without it an end of the stream below is `Cause.tls(.closed)`: anybody on the way
  /// could have cut the rest off.
  ///
  /// The stream should be closed; one that is dropped instead closes itself.
  public final class TLSStream<Base: ByteStream>: ByteStream {
    enum Stage {
      case connecting, handshaking, open, closed
    }

    let loop: any EventLoop
    weak var observer: (any ByteStreamObserver)?
    var stage = Stage.connecting
    /// What the stream below, timers and later turns hold in place of this one.
    let ear = TLSEar<Base>()
    var base: Base?
    var session: TLSSession?
    var makeSession: (() throws(TLSError) -> TLSSession)?
    let handshakeLimit: TimeSpan?
    var handshakeDeadline: Instant?
    var error: (any Error)?

    /// What every further read gives; the observer hears of it until it has read it.
    var readEnd: ReadResult?
    var endIsRead = false
    /// Nothing can be read before the stream below says something; else a turn is on its way.
    var isDry = true
    var turnIsAhead = false
    var isReading = true
    /// Bytes of the stream below that are looked at in one go: a flood of records without content
    /// must not hold up the loop.
    static var readsAtOnce: Int { 16 }

    /// What every further write gives.
    var writeFailure: Cause?
    /// The stream below takes nothing until it says so.
    var isFull = false
    /// The observer was told that nothing is taken.
    var isWriterWaiting = false
    var hasFinishedWriting = false
    var hasSaidGoodbye = false
    var hasFinishedBase = false

    /// What the two sides agreed on by ALPN; nil before opening, and if it is nothing.
    public private(set) var applicationProtocol: String?
    /// The version that the two sides agreed on; nil before opening.
    public private(set) var version: TLSVersion?
    /// Whether an earlier session with this peer went on, without certificates and signatures
    /// anew.
    public private(set) var isResumed = false

    /// What is behind the cause: a ``TLSError``, or what the stream below has to say.
    public var diagnosis: (any Error)? { error ?? base?.diagnosis }

    init(
      loop: any EventLoop, handshakeLimit: TimeSpan?,
      makeSession: @escaping () throws(TLSError) -> TLSSession
    ) {
      self.loop = loop
      self.handshakeLimit = handshakeLimit
      self.makeSession = makeSession
      ear.stream = self
    }

    public func close() {
      guard stage != .closed else { return }
      if stage == .open, writeFailure == nil {
        hasFinishedWriting = true
        flush()
      }
      letGo()
    }

    func letGo() {
      stage = .closed
      observer = nil
      session = nil
      makeSession = nil
      disarm()
      base?.close()
    }

    func disarm() {
      guard handshakeDeadline != nil else { return }
      handshakeDeadline = nil
      loop.arm(ear, at: nil)
    }

    func fail(_ cause: Cause) {
      let observer = observer
      letGo()
      observer?.streamFailed(cause)
    }

    func fail(_ error: TLSError) {
      self.error = error
      fail(error.cause)
    }
  }

  // MARK: Beginning

  extension TLSStream {
    /// Takes the stream below, which is about to connect.
    func dial(observer: any ByteStreamObserver, _ dial: (any ByteStreamObserver) -> Base) {
      self.observer = observer
      base = dial(ear)
    }

    /// Fails in a later turn, without a stream below.
    func refuse(_ error: TLSError?, observer: any ByteStreamObserver) {
      self.observer = observer
      later { stream in
        guard stream.stage == .connecting else { return }
        stream.error = error
        stream.fail(.unsupportedEndpoint)
      }
    }

    /// In a later turn, if the stream is still there then.
    func later(_ work: @escaping (TLSStream) -> Void) {
      let confined = Confined { [ear] in
        if let stream = ear.stream { work(stream) }
      }
      loop.execute { confined.work() }
    }

    func baseOpened() {
      guard stage == .connecting, let makeSession else { return }
      self.makeSession = nil
      stage = .handshaking
      if let handshakeLimit {
        handshakeDeadline = loop.now + handshakeLimit
        loop.arm(ear, at: handshakeDeadline)
      }
      do throws(TLSError) { session = try makeSession() } catch { return fail(error) }
      shakeHands()
    }

    func baseFailed(_ cause: Cause) { fail(cause) }

    func deadlineReached() {
      guard stage == .handshaking, let deadline = handshakeDeadline else { return }
      guard deadline <= loop.now else { return loop.arm(ear, at: deadline) }
      handshakeDeadline = nil
      fail(.timedOut(.handshake))
    }

    func shakeHands() {
      while let session {
        let step = session.handshake()
        flush()
        switch step {
        case .done: return writeFailure == nil ? becomeOpen() : failUnwritten()
        case .wantsOutput:
          guard session.output == nil else { return failUnwritten() }
        case .wantsInput:
          switch fill() {
          case .bytes: continue
          case .wouldBlock: return failUnwritten()
          case .end: return fail(handshakeCause(of: writeFailure) ?? .tls(.closed))
          case .failed(let cause): return fail(handshakeCause(of: writeFailure ?? cause) ?? cause)
          }
        case .ended:
          return fail(TLSError(.failure(.tls(.closed)), "the peer ended inside the handshake"))
        case .failed(let error): return fail(error)
        }
      }
    }

    /// Once what the peer said before it went is read: an alert says more than a reset.
    func failUnwritten() {
      if let cause = handshakeCause(of: writeFailure) { fail(cause) }
    }

    func handshakeCause(of cause: Cause?) -> Cause? {
      switch cause {
      case .system(.connectionReset), .system(.connectionAborted), .system(.brokenPipe):
        .tls(.reset)
      case let other: other
      }
    }

    func becomeOpen() {
      guard let session else { return }
      stage = .open
      disarm()
      applicationProtocol = session.applicationProtocol
      version = session.version
      isResumed = session.isResumed
      guard let observer else { return close() }
      // Also what the handshake of the other side needs, and failed to leave.
      flush()
      observer.streamOpened()
      // What came behind the handshake is in memory, and nobody will announce it.
      isDry = false
      haveTurn()
    }
  }

  // MARK: What others hold

  /// Unchecked: made and run on one loop.
  private struct Confined: @unchecked Sendable {
    let work: () -> Void
  }

  /// Hears in place of a ``TLSStream``, which it does not keep.
  final class TLSEar<Base: ByteStream> {
    weak var stream: TLSStream<Base>?
  }

  extension TLSEar: ByteStreamObserver {
    func streamOpened() { stream?.baseOpened() }
    func streamReadable() { stream?.baseReadable() }
    func streamWritable() { stream?.baseWritable() }
    func streamFailed(_ cause: Cause) { stream?.baseFailed(cause) }
  }

  extension TLSEar: DeadlineHandler {
    func deadlineReached() { stream?.deadlineReached() }
  }
#endif
