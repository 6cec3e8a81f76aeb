import ConnectionFSM

/// A transport that writes down its orders and reports what the test tells it to. The test and its
/// loop share one thread, so it may be handed over and kept.
final class ScriptedTransport: Transport, @unchecked Sendable {
  let loop: ManualLoop
  let canPing: Bool
  let canAuthenticate: Bool
  let home: Endpoint?
  private(set) var orders: [String] = []
  private(set) var flushes: [Epoch] = []
  private(set) var sent: [MessageID] = []
  private(set) var observer: (any TransportObserver)?
  /// Reports made from inside the next `send`.
  var duringSend: ((Epoch, MessageID) -> [TransportEvent]) = { _, _ in [] }
  var duringOpen: ((Epoch) -> [TransportEvent]) = { _ in [] }

  init(
    _ loop: ManualLoop, canPing: Bool = true, canAuthenticate: Bool = true, home: Endpoint? = nil
  ) {
    self.loop = loop
    self.home = home
    self.canPing = canPing
    self.canAuthenticate = canAuthenticate
  }

  var eventLoop: any EventLoop { loop }

  func admits(_ message: Message) -> Bool { message.text != "unsendable" }

  func open(
    _ epoch: Epoch, to endpoint: Endpoint, with credentials: Credentials?,
    observer: any TransportObserver
  ) {
    orders.append("open \(epoch) \(endpoint)\(credentials.map { " with \($0.token)" } ?? "")")
    self.observer = observer
    for event in duringOpen(epoch) { observer.transport(epoch, reports: event) }
  }

  func send(_ message: Message, id: MessageID?, on epoch: Epoch, more: Bool) {
    orders.append("send \(epoch) \(message.text)\(more ? " +" : "")")
    guard let id else { return }
    sent.append(id)
    for event in duringSend(epoch, id) { observer?.transport(epoch, reports: event) }
  }

  func ping(_ number: UInt32, on epoch: Epoch) { orders.append("ping \(epoch) \(number)") }
  func setReceiving(_ isReceiving: Bool, on epoch: Epoch) {
    orders.append("\(isReceiving ? "resume" : "hold") \(epoch)")
  }
  func flush(_ epoch: Epoch) { flushes.append(epoch) }
  func close(_ epoch: Epoch) { orders.append("close \(epoch)") }

  func abort(_ epoch: Epoch) {
    orders.append("abort \(epoch)")
    observer = nil
  }

  func report(_ event: TransportEvent, on epoch: UInt64) {
    observer?.transport(Epoch(epoch), reports: event)
    loop.settle()
  }

  func receive(_ text: String, on epoch: UInt64) {
    observer?.transport(Epoch(epoch), received: Message(text))
    loop.settle()
  }
}
