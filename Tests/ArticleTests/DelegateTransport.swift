// A block of the article “Writing a transport”; `BlocksTests` checks that the page shows it.

import ConnectionFSM

/// Over a client with a delegate. Unchecked: touched on the loop alone.
final class DelegateTransport: Transport, @unchecked Sendable {
  let eventLoop: any EventLoop
  let canPing = true
  private let makeClient: (Endpoint) -> StandInRocket
  private var links: [Epoch: Link] = [:]

  private struct Link {
    let client: StandInRocket
    let ear: Ear
    let observer: any TransportObserver
    var lastPing: UInt32 = 0
  }

  init(on loop: any EventLoop, client: @escaping (Endpoint) -> StandInRocket) {
    eventLoop = loop
    makeClient = client
  }

  func admits(_ message: Message) -> Bool { message.kind == .text || message.kind == .binary }

  func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    let client = makeClient(endpoint)
    let ear = Ear { [weak self, eventLoop] event in
      eventLoop.execute { [weak self] in self?.heard(event, on: epoch) }
    }
    links[epoch] = Link(client: client, ear: ear, observer: observer)
    client.delegate = ear
    client.open()
  }

  /// The client does not say when it has written: once it was given counts as written.
  func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    guard let link = links[epoch] else { return }
    if message.kind == .text {
      link.client.send(string: message.text)
    } else {
      link.client.send(data: message.bytes)
    }
    if let id { link.observer.transport(epoch, reports: .written(through: id)) }
  }

  func ping(_ number: UInt32, on epoch: Epoch) {
    links[epoch]?.lastPing = number
    links[epoch]?.client.sendPing()
  }

  func close(_ epoch: Epoch) { links[epoch]?.client.close() }

  func abort(_ epoch: Epoch) {
    guard let link = links.removeValue(forKey: epoch) else { return }
    link.client.delegate = nil
    link.client.close()
  }

  private enum Heard: Sendable {
    case text(String)
    case pong
    case event(TransportEvent)
  }

  private func heard(_ heard: Heard, on epoch: Epoch) {
    guard let link = links[epoch] else { return }
    switch heard {
    case .text(let text):
      link.observer.transport(epoch, reports: .received(byteCount: UInt32(text.utf8.count)))
      link.observer.transport(epoch, received: Message(text))
    case .pong: link.observer.transport(epoch, reports: .pong(link.lastPing))
    case .event(let event):
      if event != .opened { links[epoch] = nil }
      link.observer.transport(epoch, reports: event)
    }
  }

  /// Hears one client, so that nothing of an old one is taken for the new one's.
  private final class Ear: StandInRocketDelegate {
    private let tell: (Heard) -> Void

    init(_ tell: @escaping (Heard) -> Void) { self.tell = tell }

    func webSocketDidOpen(_ webSocket: StandInRocket) { tell(.event(.opened)) }
    func webSocket(_ webSocket: StandInRocket, didReceiveMessage text: String) {
      tell(.text(text))
    }
    func webSocketDidReceivePong(_ webSocket: StandInRocket) { tell(.pong) }
    func webSocketDidFail(_ webSocket: StandInRocket) { tell(.event(.failed(.truncated))) }
    func webSocket(_ webSocket: StandInRocket, didCloseWithCode code: UInt16) {
      tell(.event(.closed(CloseCode(code))))
    }
  }
}
