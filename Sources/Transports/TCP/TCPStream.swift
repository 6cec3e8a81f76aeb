public import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A TCP connection, made by ``TCPDialer``. Everything of it happens on the dialer's loop.
///
/// Nagle's algorithm is off and a broken connection never raises SIGPIPE. Until `streamOpened`
/// reading and writing answer `wouldBlock`. After that the observer hears `streamReadable` in every
/// turn of the loop in which something is left to read, and so need not read until `wouldBlock`;
/// but one that does not read at all keeps its loop busy.
///
/// The stream should be closed; one that is dropped instead closes itself.
public final class TCPStream: ByteStream {
  private enum Stage {
    case resolving, connecting, open, closed
  }

  private struct Socket {
    let registration: Registration
    let descriptor: Int32
    var interest: Interest
  }

  private let loop: SocketEventLoop
  private weak var observer: (any ByteStreamObserver)?
  private var stage = Stage.resolving
  private var lookup: Lookup?
  private var dialing = SequentialDialing<SocketAddress>()
  private var attempt = 0
  private var socket: Socket?
  /// What every further read gives: the end, or the error, which the kernel tells only once.
  private var readEnd: ReadResult?
  /// What every further write gives.
  private var writeFailure: Cause?
  private var hasFinishedWriting = false

  init(loop: SocketEventLoop, observer: any ByteStreamObserver) {
    self.loop = loop
    self.observer = observer
  }

  /// Takes over a connection that a listener accepted; it is open already.
  init(loop: SocketEventLoop, accepted descriptor: consuming Descriptor) throws(Errno) {
    self.loop = loop
    stage = .open
    let raw = descriptor.raw
    try System.disableDelay(raw)
    let registration = try loop.register(descriptor, for: [], self)
    socket = Socket(registration: registration, descriptor: raw, interest: [])
  }

  /// Starts to tell an accepted connection's observer what arrives.
  func start(observer: any ByteStreamObserver) {
    self.observer = observer
    if let socket { want(socket.interest.union(.read)) }
  }

  /// Closes with a reset instead of a FIN: what a crashed or hostile peer does.
  package func reset() {
    if let socket { System.resetOnClose(socket.descriptor) }
    close()
  }

  deinit {
    lookup?.cancel()
    if let socket { loop.close(socket.registration) }
  }

  public func read(into buffer: inout MutableRawSpan) -> ReadResult {
    guard let socket, stage == .open else {
      return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
    }
    loop.expectLoop()
    if let readEnd { return readEnd }
    // An empty read would be answered like the end.
    guard buffer.byteCount > 0 else { return .wouldBlock }
    let count = buffer.withUnsafeMutableBytes { System.receive(socket.descriptor, into: $0) }
    if count > 0 { return .bytes(count) }
    if count == -Int(EAGAIN) { return .wouldBlock }
    if count == 0 { return endReading(.end) }
    let cause = Errno(Int32(-count)).cause
    // The kernel tells a reset once, and then plays the end: both directions remember it.
    writeFailure = writeFailure ?? cause
    return endReading(.failed(cause))
  }

  public func setReading(_ isReading: Bool) {
    guard let socket, stage == .open, readEnd == nil else { return }
    want(isReading ? socket.interest.union(.read) : socket.interest.subtracting(.read))
  }

  public func write(_ bytes: RawSpan) -> WriteResult {
    guard let socket, stage == .open else {
      return stage == .closed ? .failed(.system(.notConnected)) : .wouldBlock
    }
    loop.expectLoop()
    if let writeFailure { return .failed(writeFailure) }
    guard !hasFinishedWriting else { return .failed(.system(.brokenPipe)) }
    guard bytes.byteCount > 0 else { return .wrote(0) }
    let count = bytes.withUnsafeBytes { System.send(socket.descriptor, $0) }
    if count > 0 { return .wrote(count) }
    if count == -Int(EAGAIN) {
      if let error = want(socket.interest.union(.write)) { return failWriting(error.cause) }
      return .wouldBlock
    }
    // Reading goes on: what the peer sent before it went is still there.
    return failWriting(Errno(Int32(-count)).cause)
  }

  /// Sends FIN behind what was written. Before the stream is open, it follows the opening; repeated
  /// calls do no harm.
  public func finishWriting() {
    guard stage != .closed, !hasFinishedWriting else { return }
    loop.expectLoop()
    hasFinishedWriting = true
    guard let socket, stage == .open else { return }
    System.finishWriting(socket.descriptor)
    want(socket.interest.subtracting(.write))
  }

  public func close() {
    guard stage != .closed else { return }
    loop.expectLoop()
    stage = .closed
    observer = nil
    lookup?.cancel()
    lookup = nil
    closeSocket()
  }

  /// The socket's number while there is one, for options that only tests look at.
  package var descriptor: Int32? { socket?.descriptor }

  private func endReading(_ result: ReadResult) -> ReadResult {
    readEnd = result
    // Or the loop would tell of it in every turn.
    if let socket { want(socket.interest.subtracting(.read)) }
    return result
  }

  private func failWriting(_ cause: Cause) -> WriteResult {
    writeFailure = cause
    if let socket { want(socket.interest.subtracting(.write)) }
    return .failed(cause)
  }

  @discardableResult
  private func want(_ interest: Interest) -> Errno? {
    guard let current = socket, current.interest != interest else { return nil }
    do throws(Errno) {
      try loop.setInterest(interest, of: current.registration)
    } catch {
      return error
    }
    socket?.interest = interest
    return nil
  }

  private func closeSocket() {
    guard let closing = socket else { return }
    socket = nil
    loop.close(closing.registration)
  }
}

// MARK: Dialling

extension TCPStream {
  func start(_ endpoint: Endpoint, _ resolver: Resolver) {
    guard stage == .resolving else { return }
    guard endpoint.scheme == "tcp", endpoint.port > 0, !endpoint.host.isEmpty,
      !endpoint.host.utf8.contains(0)
    else { return fail(.unsupportedEndpoint) }
    if case .addresses(let addresses) = Resolution(
      host: endpoint.host, port: endpoint.port, numeric: true)
    {
      return perform(dialing.handle(.resolved(addresses)))
    }
    let confined = WeakStream(self)
    let loop = loop
    lookup = resolver.lookUp(endpoint.host, port: endpoint.port) { resolution in
      loop.execute { confined.stream?.resolved(resolution) }
    }
  }

  private func resolved(_ resolution: Resolution) {
    // Closed between the answer's way here and now.
    guard stage == .resolving else { return }
    lookup = nil
    switch resolution {
    case .addresses(let addresses): perform(dialing.handle(.resolved(addresses)))
    case .failed(let cause): fail(cause)
    }
  }

  private func perform(_ effect: SequentialDialing<SocketAddress>.Effect) {
    var effect = effect
    while true {
      switch effect {
      case .none: return
      case .fail(let cause): return fail(cause)
      case .connect(let number, let address):
        stage = .connecting
        attempt = number
        guard let error = connect(to: address) else { return }
        effect = dialing.handle(.failed(attempt: number, error.cause))
      }
    }
  }

  /// Starts an attempt; its end is heard as readiness to write.
  private func connect(to address: SocketAddress) -> Errno? {
    do throws(Errno) {
      let descriptor = try System.streamSocket(family: address.family)
      let raw = descriptor.raw
      try System.disableDelay(raw)
      try System.connect(raw, to: address)
      let registration = try loop.register(descriptor, for: .write, self)
      socket = Socket(registration: registration, descriptor: raw, interest: .write)
      return nil
    } catch {
      return error
    }
  }

  private func finishConnecting(_ descriptor: Int32) {
    if let error = System.connectError(descriptor) ?? want(.read) {
      closeSocket()
      return perform(dialing.handle(.failed(attempt: attempt, error.cause)))
    }
    stage = .open
    if hasFinishedWriting { System.finishWriting(descriptor) }
    observer?.streamOpened()
  }

  private func fail(_ cause: Cause) {
    let observer = observer
    close()
    observer?.streamFailed(cause)
  }
}

// MARK: Readiness

extension TCPStream: DescriptorHandler {
  func descriptorReady(_ registration: Registration, for ready: Interest) {
    guard let socket, socket.registration == registration else { return }
    // Nobody is left who could read, and what is not read would keep the loop busy.
    guard observer != nil else { return close() }
    guard stage == .open else { return finishConnecting(socket.descriptor) }
    if ready.contains(.read), socket.interest.contains(.read) { observer?.streamReadable() }
    // Asked anew: the observer may have closed the stream, or written until all was out.
    if ready.contains(.write), let socket = self.socket, socket.interest.contains(.write) {
      want(socket.interest.subtracting(.write))
      observer?.streamWritable()
    }
  }

  func loopStopped() {
    // The loop has closed the socket already.
    socket = nil
    close()
  }
}
