import ConnectionFSM
import Transports

/// One WebSocket, from dial to end. Lives on its loop until it is over, and is read only then.
final class Session: TransportObserver, @unchecked Sendable {
  private let url: WebSocketURL
  private let loop: SocketEventLoop
  private let isEcho: Bool
  private let transport: StreamTransport<TCPDialer, WebSocketEngine>
  private var whenOver: (() -> Void)?
  private(set) var isOpened = false
  /// What it has received, where it does not send it back.
  private(set) var texts: [String] = []
  /// How it ended, in words.
  private(set) var end = "not yet"

  private static let epoch = Epoch(1)

  init(_ url: WebSocketURL, _ loop: SocketEventLoop, isEcho: Bool) throws {
    self.url = url
    self.loop = loop
    self.isEcho = isEcho
    // Above the longest message of any case, 16 MiB.
    let limits = try WebSocketLimits(
      maximumMessageLength: 64 << 20, maximumOutgoingLength: 64 << 20)
    // The threshold: that short messages are compressed is what many cases are about.
    let options = try WebSocketOptions(
      url, compression: WebSocketCompression(threshold: 0), limits: limits)
    transport = StreamTransport(TCPDialer(loop: loop)) { WebSocketEngine(options) }
  }

  /// Dials, and comes back when it is over.
  func run() async {
    await withCheckedContinuation { continuation in
      loop.execute { [self] in
        whenOver = { continuation.resume() }
        transport.open(Self.epoch, to: url.endpoint, with: nil, observer: self)
      }
    }
  }

  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    switch event {
    case .opened: isOpened = true
    case .failed, .closed:
      end = "\(event)"
      whenOver?()
      whenOver = nil
    default: break
    }
  }

  func transport(_ epoch: Epoch, received message: Message) {
    guard isEcho else { return texts.append(message.text) }
    transport.send(message, id: nil, on: epoch, more: false)
  }
}
