import ConnectionFSM
import Transports

/// The exchange on a bare transport, without a machine above it. Lives on its loop.
final class Exchange: TransportObserver, @unchecked Sendable {
  let stopwatch = Stopwatch()
  private let transport: StreamTransport<TCPDialer, WebSocketEngine>
  private let endpoint: Endpoint
  private let trial: Trial
  private let message: Message
  private let done: () -> Void
  private var sent = 0
  private var received = 0

  private static let epoch = Epoch(1)

  init(
    _ options: WebSocketOptions, _ loop: SocketEventLoop, _ trial: Trial,
    done: @escaping () -> Void
  ) {
    transport = StreamTransport(TCPDialer(loop: loop)) { WebSocketEngine(options) }
    endpoint = options.url.endpoint
    self.trial = trial
    message = trial.message
    self.done = done
  }

  func start() { transport.open(Self.epoch, to: endpoint, with: nil, observer: self) }

  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    switch event {
    case .opened:
      stopwatch.start()
      while sent < min(trial.inFlight, trial.count) { send() }
    case .failed, .closed: fatalError("the link ended: \(event)")
    default: break
    }
  }

  func transport(_ epoch: Epoch, received echo: Message) {
    guard echo.bytes.count == trial.size else { fatalError("\(echo.bytes.count) bytes") }
    received += 1
    guard received < trial.count else {
      stopwatch.stop()
      transport.abort(Self.epoch)
      return done()
    }
    if sent < trial.count { send() }
  }

  private func send() {
    sent += 1
    let id = MessageID(lane: LaneID(0), sequence: UInt64(sent))
    transport.send(message, id: id, on: Self.epoch, more: false)
  }
}
