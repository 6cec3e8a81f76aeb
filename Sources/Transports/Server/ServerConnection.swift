import ConnectionFSM

/// One connection of a ``Server``, which plays the server's fault.
final class ServerConnection<Stream: ServedStream, Engine: ProtocolEngine> {
  enum Event {
    /// It arrived.
    case message(Message)
    /// It is time to answer it.
    case due(Message)
    case ended(String)
  }

  let link: StreamLink<Stream, Engine>
  /// An engine of no link, to ask what all of them admit.
  private let model: Engine
  private let loop: SocketEventLoop
  private let fault: ServerFault
  private let report: (Event) -> Void
  private var messages = 0
  /// Messages whose time has not come, oldest first.
  private var delayed: [(at: Instant, message: Message)] = []
  /// The fault is due: no message is looked at any more.
  private var isDoomed = false
  private var isOver = false
  /// Whether the peer does not read, and the bytes given to it since.
  private var isBlocked = false
  private var backlog = 0

  private static var backlogLimit: Int { 16 << 20 }
  private static var delayedLimit: Int { 1024 }

  init(
    number: Int, engine: Engine, loop: SocketEventLoop, buffer: ReadBuffer, fault: ServerFault,
    report: @escaping (Event) -> Void
  ) {
    model = engine
    self.loop = loop
    self.fault = fault
    self.report = report
    let relay = Relay()
    link = StreamLink(
      epoch: Epoch(UInt64(number)), engine: engine, loop: loop, buffer: buffer, observer: relay)
    relay.connection = self
  }

  /// Begins, with the stream below; the link is its observer.
  func begin(_ stream: Stream) {
    link.stream = stream
    if fault == .acceptAndDrop { end("dropped") }
  }

  func send(_ message: Message) {
    // What the protocol cannot say is not said: a link must not end for what came by another.
    guard !isOver, model.admits(message) else { return }
    if isBlocked { backlog += message.bytes.count }
    // Nor must whoever does not read what others say make us keep it.
    guard backlog <= Self.backlogLimit else { return end("does not read") }
    link.send(message, id: nil, more: false)
  }

  /// Closes without a word to the server.
  func letGo() {
    isOver = true
    loop.arm(self, at: nil)
    link.letGo()
  }

  private func end(_ how: String) {
    guard !isOver else { return }
    letGo()
    report(.ended(how))
  }
}

extension ServerConnection {
  /// What the link holds in place of the connection, which holds the link.
  private final class Relay: TransportObserver {
    weak var connection: ServerConnection?

    func transport(_ epoch: Epoch, reports event: TransportEvent) { connection?.heard(event) }

    func transport(_ epoch: Epoch, received message: Message) { connection?.received(message) }
  }

  private func heard(_ event: TransportEvent) {
    switch event {
    case .closed(let code):
      end("closed by the peer" + (code.map { " with code \($0.rawValue)" } ?? ""))
    case .failed(let cause): end("\(cause)")
    case .writabilityChanged(let isWritable):
      // A link that ends takes nothing more, and yet has to hear the peer's end.
      isBlocked = !isWritable && !link.isLeaving
      backlog = 0
      adjustReading()
    case .opened, .received, .pong, .written, .acknowledged, .viabilityChanged, .drainRequested,
      .betterPathAvailable:
      break
    }
  }

  /// A peer that does not read what it asked for is not read from either, nor one that asks for
  /// more than is due.
  private func adjustReading() {
    link.stream?.setReading(!isBlocked && delayed.count < Self.delayedLimit)
  }

  private func received(_ message: Message) {
    guard !isOver, !isDoomed else { return }
    messages += 1
    report(.message(message))
    switch fault {
    case .none, .refuse, .acceptAndDrop: report(.due(message))
    case .mute: break
    case .reset(let place):
      if messages < place { report(.due(message)) } else { resetSoon() }
    case .halfClose(let most):
      if messages <= most { report(.due(message)) }
      if messages == most { link.close() }
    case .slow(let delay):
      delayed.append((loop.now + delay, message))
      if delayed.count == 1 { loop.arm(self, at: delayed[0].at) }
      if delayed.count == Self.delayedLimit { adjustReading() }
    case .poison(let bytes, let place):
      guard messages == place else { return report(.due(message)) }
      isDoomed = true
      link.write(bytes)
    }
  }

  /// Resets in the next turn: what was answered before is written by then.
  private func resetSoon() {
    isDoomed = true
    loop.arm(self, at: loop.now)
  }
}

extension ServerConnection: DeadlineHandler {
  func deadlineReached() {
    if isDoomed, !isOver {
      link.stream?.reset()
      end("reset on purpose")
    }
    let due = Array(delayed.prefix { $0.at <= loop.now })
    delayed.removeFirst(due.count)
    for (_, message) in due where !isOver { report(.due(message)) }
    if !due.isEmpty, !isOver { adjustReading() }
    if !isOver, let first = delayed.first { loop.arm(self, at: first.at) }
  }
}
