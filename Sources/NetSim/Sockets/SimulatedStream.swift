public import ConnectionFSM

/// A connection over a ``SimulatedInternet``, made by a ``SimulatedDialer`` or accepted by a
/// listener.
///
/// Behaves like the socket streams: an error is told in both directions, `streamReadable` is heard
/// in every turn of the loop in which something is left to read. One that is dropped closes itself.
public final class SimulatedStream: ByteStream {
  private enum Stage {
    case dialling
    case securing(PlayedTLS)
    case open
    case closed
  }

  private let internet: SimulatedInternet
  private let loop: any EventLoop
  private weak var observer: (any ByteStreamObserver)?
  private var stage = Stage.dialling
  /// Whether a played handshake follows the connection.
  private var isSecure = false
  /// The race for the connection; nil once it is over.
  private var race: DialRace<String, SocketID>?
  private var socket: SocketID?
  /// What every further read gives: the end, or the error, which the system tells only once.
  private var readEnd: ReadResult?
  private var writeFailure: Cause?
  private var isReading = true
  private var hasFinishedWriting = false
  /// A turn in which the observer hears of something to read is on its way.
  private var readableIsAhead = false

  init(internet: SimulatedInternet, loop: any EventLoop, observer: any ByteStreamObserver) {
    self.internet = internet
    self.loop = loop
    self.observer = observer
  }

  init(accepted socket: SocketID, by internet: SimulatedInternet, loop: any EventLoop) {
    self.internet = internet
    self.loop = loop
    self.socket = socket
    stage = .open
  }

  deinit {
    race?.cancel()
    if let socket { internet.close(socket) }
  }

  /// Starts to tell an accepted connection's observer what arrives, and what has arrived already.
  public func start(observer: any ByteStreamObserver) {
    self.observer = observer
    readable()
  }

  /// Closes with a reset: what a crashed or hostile peer does.
  public func reset() { letGo(withReset: true) }

  public func close() { letGo(withReset: false) }

  private func letGo(withReset: Bool) {
    stage = .closed
    observer = nil
    race?.cancel()
    race = nil
    guard let closing = socket else { return }
    socket = nil
    internet.close(closing, withReset: withReset)
  }

  public func setReading(_ isReading: Bool) {
    guard case .open = stage else { return }
    self.isReading = isReading
    if isReading { readable() }
  }

  public func read(into buffer: inout MutableRawSpan) -> ReadResult {
    guard let socket, case .open = stage else { return resultWhileNotOpen }
    if let readEnd { return readEnd }
    guard buffer.byteCount > 0 else { return .wouldBlock }
    let result = internet.read(socket, into: &buffer)
    switch result {
    case .bytes, .wouldBlock: break
    case .end: readEnd = .end
    case .failed(let cause):
      writeFailure = writeFailure ?? cause
      readEnd = result
    }
    return result
  }

  private var resultWhileNotOpen: ReadResult {
    if case .closed = stage { return .failed(.system(.notConnected)) }
    return .wouldBlock
  }

  public func write(_ bytes: RawSpan) -> WriteResult {
    guard let socket, case .open = stage else {
      if case .closed = stage { return .failed(.system(.notConnected)) }
      return .wouldBlock
    }
    if let writeFailure { return .failed(writeFailure) }
    let result = internet.write(bytes, to: socket)
    if case .failed(let cause) = result { writeFailure = cause }
    return result
  }

  public func finishWriting() {
    hasFinishedWriting = true
    guard let socket, case .open = stage else { return }
    internet.finishWriting(socket)
  }
}

// MARK: Dialling

extension SimulatedStream {
  func start(_ endpoint: Endpoint, from host: HostID, _ timing: DialTiming) {
    isSecure = endpoint.scheme == "tls"
    guard ["tcp", "tls"].contains(endpoint.scheme), endpoint.port > 0, !endpoint.host.isEmpty,
      !endpoint.host.utf8.contains(0)
    else { return later { $0.fail(.unsupportedEndpoint) } }
    let internet = internet
    race = DialRace(timing, on: loop) { [weak self] address in
      guard let self else { return .failed(.system(.notConnected)) }
      return .connected(internet.dial(address, port: endpoint.port, from: host, for: self))
    } abandon: {
      internet.close($0)
    } over: { [weak self] in
      self?.dialled($0)
    }
    internet.resolve(endpoint.host, from: host, for: self)
  }

  /// The resolver of this internet answers for both families at once.
  func resolved(_ addresses: [String], _ cause: Cause?) {
    later { stream in
      guard let race = stream.race else { return }
      for family in AddressFamily.allCases {
        if let cause {
          race.resolutionFailed(family, cause)
        } else {
          race.resolved(family, addresses.filter { $0.contains(":") == (family == .version6) })
        }
      }
    }
  }

  func failed(_ failed: SocketID, _ cause: Cause) {
    if failed == socket { socket = nil }
    later { $0.race?.failed(cause) { $0 == failed } }
  }

  func opened(_ opened: SocketID) {
    later { stream in
      guard let race = stream.race, race.sockets.contains(opened) else { return }
      // A reset can be there already, if the program was held up: then the attempt has failed.
      if let cause = stream.internet.takeError(of: opened) {
        stream.internet.close(opened)
        return race.failed(cause) { $0 == opened }
      }
      race.connected { $0 == opened }
    }
  }

  private func dialled(_ outcome: DialRace<String, SocketID>.Outcome) {
    race = nil
    switch outcome {
    case .failed(let cause): fail(cause)
    case .connected(let socket):
      self.socket = socket
      guard isSecure else { return becomeOpen() }
      stage = .securing(PlayedTLS())
      secure()
    }
  }

  private func becomeOpen() {
    stage = .open
    if hasFinishedWriting, let socket { internet.finishWriting(socket) }
    observer?.streamOpened()
    readable()
  }

  private func fail(_ cause: Cause) {
    let observer = observer
    close()
    observer?.streamFailed(cause)
  }

  /// Plays the handshake as far as it gets.
  private func secure() {
    guard let socket, case .securing(var handshake) = stage else { return }
    let step = handshake.advance(
      read: { self.internet.read(socket, into: &$0) },
      write: { self.internet.write($0, to: socket) })
    stage = .securing(handshake)
    switch step {
    case .waits: return
    case .isDone: becomeOpen()
    case .fails(let cause): fail(cause)
    }
  }
}

// MARK: Readiness

extension SimulatedStream {
  /// On the stream's own loop, if it is still there then.
  private func later(_ work: @escaping (SimulatedStream) -> Void) {
    loop.later { [weak self] in
      if let self { work(self) }
    }
  }

  func readable() {
    guard !readableIsAhead else { return }
    readableIsAhead = true
    later { $0.tellReadable() }
  }

  private func tellReadable() {
    readableIsAhead = false
    guard let socket else { return }
    if case .securing = stage { return secure() }
    guard case .open = stage, isReading, readEnd == nil, internet.isReadable(socket),
      let observer
    else { return }
    observer.streamReadable()
    // Asked anew: the observer may have closed the stream, or read all there was.
    if let socket = self.socket, isReading, readEnd == nil, internet.isReadable(socket) {
      readable()
    }
  }

  func writable() {
    later { stream in
      guard case .open = stream.stage else { return stream.secure() }
      stream.observer?.streamWritable()
    }
  }
}
