// A block of the article “Writing a transport”; `BlocksTests` checks that the page shows it.

import ConnectionFSM

/// Text over a client with two calls and one closure. Unchecked: touched on the loop alone.
final class PlainTransport: Transport, @unchecked Sendable {
  let eventLoop: any EventLoop
  let canPing = false
  private(set) var links: [Epoch: (client: StandInClient, observer: any TransportObserver)] = [:]

  init(on loop: any EventLoop) { eventLoop = loop }

  func admits(_ message: Message) -> Bool { message.kind == .text }

  func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    let client = StandInClient("\(endpoint)") { [weak self, eventLoop] event in
      // From whatever thread it came.
      eventLoop.execute { [weak self] in self?.heard(event, on: epoch) }
    }
    links[epoch] = (client, observer)
  }

  private func heard(_ event: StandInClient.Event, on epoch: Epoch) {
    guard let observer = links[epoch]?.observer else { return }  // let go of meanwhile
    switch event {
    case .opened: observer.transport(epoch, reports: .opened)
    case .text(let text):
      observer.transport(epoch, reports: .received(byteCount: UInt32(text.utf8.count)))
      observer.transport(epoch, received: Message(text))
    case .ended:
      links[epoch] = nil
      observer.transport(epoch, reports: .closed(nil))
    }
  }

  func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    guard let (client, observer) = links[epoch] else { return }
    client.send(message.text)
    if let id { observer.transport(epoch, reports: .written(through: id)) }
  }

  func ping(_ number: UInt32, on epoch: Epoch) {}
  func close(_ epoch: Epoch) { links[epoch]?.client.cancel() }  // `ended` follows
  func abort(_ epoch: Epoch) { links.removeValue(forKey: epoch)?.client.cancel() }
}
