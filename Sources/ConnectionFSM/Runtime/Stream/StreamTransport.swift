/// A transport made of two parts: a dialer for byte streams and an engine for the protocol on them.
public final class StreamTransport<Dialer: ByteStreamDialer, Engine: ProtocolEngine>: Transport {
  private let dialer: Dialer
  private let makeEngine: () -> Engine
  /// An engine of no link, to ask what holds for all of them.
  private let model: Engine
  private let buffer: ReadBuffer
  private let meter = TrafficMeter()
  // One; two while a replacement opens beside it.
  private var links: [StreamLink<Dialer.Stream, Engine>] = []
  /// The last of them, which is nearly always the one that is meant: to search an array of generic
  /// elements costs more than to send a message.
  @exclusivity(unchecked) private var latest: StreamLink<Dialer.Stream, Engine>?

  /// Makes a transport.
  /// - Parameters:
  ///   - dialer: Makes the streams; its loop is the transport's.
  ///   - home: Where a connection dials that is not told where.
  ///   - engine: Makes a fresh engine for each link.
  public init(_ dialer: Dialer, home: Endpoint? = nil, engine: @escaping () -> Engine) {
    self.dialer = dialer
    self.home = home
    buffer = .shared(on: dialer.eventLoop)
    makeEngine = engine
    model = engine()
  }

  public let home: Endpoint?

  public var eventLoop: any EventLoop { dialer.eventLoop }

  /// What has passed over all links so far; to be read on the loop.
  public var traffic: Traffic { meter.traffic }

  public var canPing: Bool { model.canPing }

  public var canAuthenticate: Bool { model.canAuthenticate }

  public func admits(_ message: Message) -> Bool { model.admits(message) }

  public func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    var engine = makeEngine()
    if let credentials { engine.authenticate(with: credentials) }
    let link = StreamLink<Dialer.Stream, Engine>(
      epoch: epoch, engine: engine, loop: dialer.eventLoop, buffer: buffer,
      meter: meter, observer: observer)
    link.whenOver = { [weak self] in self?.forget(epoch) }
    link.redial = { [dialer, unowned link] in dialer.dial($0, observer: link) }
    links.append(link)
    latest = link
    link.stream = dialer.dial(endpoint, observer: link)
  }

  public func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    link(epoch)?.send(message, id: id, more: more)
  }

  public func flush(_ epoch: Epoch) { link(epoch)?.flush() }

  public func ping(_ number: UInt32, on epoch: Epoch) { link(epoch)?.ping(number) }

  public func setReceiving(_ isReceiving: Bool, on epoch: Epoch) {
    link(epoch)?.setReceiving(isReceiving)
  }

  public func close(_ epoch: Epoch) { link(epoch)?.close() }

  public func abort(_ epoch: Epoch) { link(epoch)?.letGo() }

  private func link(_ epoch: Epoch) -> StreamLink<Dialer.Stream, Engine>? {
    if let latest, latest.epoch == epoch { return latest }
    return links.first { $0.epoch == epoch }
  }

  private func forget(_ epoch: Epoch) {
    links.removeAll { $0.epoch == epoch }
    if latest?.epoch == epoch { latest = nil }
  }
}
