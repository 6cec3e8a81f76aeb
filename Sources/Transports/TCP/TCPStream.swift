public import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A TCP connection, or one to a Unix domain socket, made by ``TCPDialer``. Everything of it
/// happens on the dialer's loop.
///
/// Nagle's algorithm is off and a broken connection never raises SIGPIPE. Until `streamOpened`
/// reading and writing answer `wouldBlock`. After that the observer hears `streamReadable` in every
/// turn of the loop in which something is left to read, and so need not read until `wouldBlock`;
/// but one that does not read at all keeps its loop busy.
///
/// The stream should be closed; one that is dropped instead closes itself.
public final class TCPStream: ByteStream {
  private enum Stage {
    case dialling, open, closed
  }

  struct Socket {
    let registration: Registration
    let descriptor: Int32
    var interest: Interest
  }

  private let loop: SocketEventLoop
  private weak var observer: (any ByteStreamObserver)?
  private var stage = Stage.dialling
  /// While it dials.
  private var dial: TCPDial?
  private var socket: Socket?
  /// What every further read gives: the end, or the error, which the kernel tells only once.
  private var readEnd: ReadResult?
  /// What every further write gives.
  private var writeFailure: Cause?
  private var hasFinishedWriting = false
  /// What the cause of a failed dial does not say: which path, which local address.
  public private(set) var diagnosis: (any Error)?

  init(loop: SocketEventLoop, observer: any ByteStreamObserver) {
    self.loop = loop
    self.observer = observer
  }

  /// Takes over a connection that a listener accepted; it is open already.
  /// - Parameter isOfInternet: Whether it is one of TCP; a path's socket has no such options.
  init(
    loop: SocketEventLoop, accepted descriptor: consuming Descriptor, isOfInternet: Bool
  ) throws(Errno) {
    self.loop = loop
    stage = .open
    let raw = descriptor.raw
    if isOfInternet { try System.disableDelay(raw) }
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
    dial?.cancelFromAnywhere()
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
    dial?.cancel()
    dial = nil
    guard let closing = socket else { return }
    socket = nil
    loop.close(closing.registration)
  }

  /// The socket's number while there is one, for options that only tests look at; of several that
  /// race the oldest.
  package var descriptor: Int32? { socket?.descriptor ?? dial?.sockets.first?.descriptor }

  /// How many sockets it holds.
  package var socketCount: Int { (socket == nil ? 0 : 1) + (dial?.sockets.count ?? 0) }

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
}

// MARK: Dialling

extension TCPStream {
  func start(_ endpoint: Endpoint, _ plan: TCPDial.Plan) {
    guard stage == .dialling else { return }
    let dial = TCPDial(plan, on: loop, for: self)
    self.dial = dial
    dial.begin(endpoint)
  }

  /// The look-up of a family was answered, on its way back from the resolver.
  func resolved(_ family: AddressFamily, _ resolution: Resolution) {
    // Closed, or decided, between the answer's way here and now.
    dial?.resolved(family, resolution)
  }

  func dialled(_ outcome: TCPDial.Outcome) {
    let dial = dial
    dial?.cancel()
    self.dial = nil
    switch outcome {
    case .failed(let cause):
      diagnosis = dial?.problem(behind: cause)
      fail(cause)
    case .connected(let connected):
      socket = connected
      stage = .open
      if let error = want(.read) { return fail(error.cause) }
      if hasFinishedWriting { System.finishWriting(connected.descriptor) }
      observer?.streamOpened()
    }
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
    // Nobody is left who could read, and what is not read would keep the loop busy.
    guard observer != nil else { return close() }
    if let dial { return dial.ready(registration) }
    guard let socket, socket.registration == registration else { return }
    if ready.contains(.read), socket.interest.contains(.read) { observer?.streamReadable() }
    // Asked anew: the observer may have closed the stream, or written until all was out.
    if ready.contains(.write), let socket = self.socket, socket.interest.contains(.write) {
      want(socket.interest.subtracting(.write))
      observer?.streamWritable()
    }
  }

  func loopStopped() {
    // The loop closes its sockets, all of them.
    socket = nil
    close()
  }
}
