// A block of the article “Writing a transport”; `BlocksTests` checks that the page shows it.

import ConnectionFSM

/// Over a client that tells its events to a closure. Unchecked: touched on the loop alone.
final class ClosureTransport: Transport, @unchecked Sendable {
  let eventLoop: any EventLoop
  let canPing = true
  private let makeClient: (Endpoint) -> StandInSocket
  private var links: [Epoch: (client: StandInSocket, observer: any TransportObserver)] = [:]
  private var lastPing: UInt32 = 0

  init(on loop: any EventLoop, client: @escaping (Endpoint) -> StandInSocket) {
    eventLoop = loop
    makeClient = client
  }

  func admits(_ message: Message) -> Bool { message.kind == .text || message.kind == .binary }

  func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    let client = makeClient(endpoint)
    links[epoch] = (client, observer)
    client.onEvent = { [weak self, eventLoop] event in
      eventLoop.execute { [weak self] in self?.heard(event, on: epoch) }
    }
    client.connect()
  }

  func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    let written = { [weak self, eventLoop] in
      guard let id else { return }
      eventLoop.execute { [weak self] in self?.report(.written(through: id), on: epoch) }
    }
    if message.kind == .text {
      links[epoch]?.client.write(string: message.text, completion: written)
    } else {
      links[epoch]?.client.write(data: message.bytes, completion: written)
    }
  }

  func ping(_ number: UInt32, on epoch: Epoch) {
    lastPing = number
    links[epoch]?.client.writePing()
  }

  func close(_ epoch: Epoch) { links[epoch]?.client.disconnect() }

  func abort(_ epoch: Epoch) { links.removeValue(forKey: epoch)?.client.forceDisconnect() }

  private func heard(_ event: StandInSocket.Event, on epoch: Epoch) {
    switch event {
    case .connected: report(.opened, on: epoch)
    case .text(let text): deliver(Message(text), on: epoch)
    case .binary(let bytes): deliver(Message(bytes: bytes), on: epoch)
    case .pong: report(.pong(lastPing), on: epoch)
    case .viabilityChanged(let isViable): report(.viabilityChanged(isViable), on: epoch)
    case .reconnectSuggested(true): report(.betterPathAvailable, on: epoch)
    case .reconnectSuggested(false): break
    case .disconnected(let code): end(.closed(CloseCode(code)), on: epoch)
    case .peerClosed, .cancelled: end(.closed(nil), on: epoch)
    case .error: end(.failed(.truncated), on: epoch)
    }
  }

  private func report(_ event: TransportEvent, on epoch: Epoch) {
    links[epoch]?.observer.transport(epoch, reports: event)
  }

  private func deliver(_ message: Message, on epoch: Epoch) {
    report(.received(byteCount: UInt32(message.bytes.count)), on: epoch)
    links[epoch]?.observer.transport(epoch, received: message)
  }

  /// Once: what the client says after its end finds no link.
  private func end(_ event: TransportEvent, on epoch: Epoch) {
    links.removeValue(forKey: epoch)?.observer.transport(epoch, reports: event)
  }
}
