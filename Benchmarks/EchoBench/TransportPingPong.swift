import ConnectionFSM
import Transports

/// The same over a transport. Lives on its loop.
final class TransportPingPong: TransportObserver, @unchecked Sendable {
  private let transport: StreamTransport<TCPDialer, PlainBytes>
  private let stopwatch: Stopwatch
  private let rounds: Int
  private var left: Int
  private var sequence: UInt64 = 0
  private let message = Message(bytes: [UInt8](repeating: 97, count: EchoBench.size))
  private let done: () -> Void

  init(_ loop: SocketEventLoop, rounds: Int, stopwatch: Stopwatch, done: @escaping () -> Void) {
    transport = StreamTransport(TCPDialer(loop: loop)) { PlainBytes() }
    self.rounds = rounds
    self.stopwatch = stopwatch
    left = stopwatch.warmUp + rounds
    self.done = done
  }

  func start(_ endpoint: Endpoint) {
    transport.open(Epoch(1), to: endpoint, with: nil, observer: self)
  }

  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    switch event {
    case .opened: send()
    case .failed, .closed: fatalError("the link ended: \(event)")
    default: break
    }
  }

  func transport(_ epoch: Epoch, received message: Message) {
    guard message.bytes.count == EchoBench.size else { fatalError("a message in pieces") }
    left -= 1
    if left == rounds { stopwatch.start() }
    guard left > 0 else {
      stopwatch.stop()
      return done()
    }
    send()
  }

  private func send() {
    sequence += 1
    let id = MessageID(lane: LaneID(0), sequence: sequence)
    transport.send(message, id: id, on: Epoch(1), more: false)
  }
}
