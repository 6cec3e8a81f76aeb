import ConnectionFSM

/// The network and the server as one connection sees them, at machine level: dials are answered,
/// links live and die, messages are taken and acknowledged.
///
/// Scripted until a server is said to be up: until then attempts are answered only by what the
/// story says. What is sent while the path is down is lost for good: no retransmission is modelled.
struct Network: Sendable {
  /// What will be reported, and after how long.
  struct Answer {
    let epoch: Epoch
    let event: TransportEvent
    let delay: TimeSpan
  }

  /// Something of the story that waits for an attempt or a link it can befall.
  struct Waiting: Sendable {
    let action: NetworkAction
    let attempt: Epoch?
    let repeats: Int
    let step: Int
    var applied = 0
  }

  /// The one link there can be.
  private struct Link: Sendable {
    let epoch: Epoch
    var isOpen = false
    /// The dial has its answer, or the story said that there will be none.
    var isAnswered = false
    var isSilent = false
    var isBlocked = false
    var lastPing: UInt32?
    var unwritten: [MessageID] = []
    var unacknowledged: [MessageID] = []
  }

  private enum Server { case scripted, up, down }

  /// From the client to the server, or back.
  var latency = TimeSpan.milliseconds(20)
  private(set) var waiting: [Waiting] = []
  private var link: Link?
  private var lastEpoch = Epoch(0)
  private var server = Server.scripted
  private var pathIsDown = false
  private var jitter: RandomStream

  // The story's own answers come after this: not in the same instant as the dial, yet at once.
  private static let soon = TimeSpan.milliseconds(1)

  init(seed: UInt64) { jitter = RandomStream(seed: seed, name: "network.jitter") }

  /// There and back, with up to a tenth more.
  private mutating func roundTrip() -> TimeSpan {
    let base = TimeSpan.nanoseconds(latency.nanoseconds.multipliedClamping(by: 2))
    return .nanoseconds(
      (base.nanoseconds)
        + jitter.span(through: .nanoseconds(base.nanoseconds / 10)).nanoseconds)
  }
}

extension Int64 {
  fileprivate func multipliedClamping(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max / 4 : Swift.min(product, .max / 4)
  }
}

// MARK: What the client does

extension Network {
  mutating func dialled(_ epoch: Epoch) -> [Answer] {
    lastEpoch = epoch
    link = Link(epoch: epoch)
    if pathIsDown {
      link?.isAnswered = true
      return [Answer(epoch: epoch, event: .failed(.system(.networkUnreachable)), delay: Self.soon)]
    }
    switch server {
    case .scripted: return []
    case .up:
      link?.isAnswered = true
      return [Answer(epoch: epoch, event: .opened, delay: roundTrip())]
    case .down:
      link?.isAnswered = true
      return [
        Answer(epoch: epoch, event: .failed(.system(.connectionRefused)), delay: roundTrip())
      ]
    }
  }

  mutating func closeAsked() -> [Answer] {
    guard let link, isServed else { return [] }
    return [Answer(epoch: link.epoch, event: .closed(nil), delay: roundTrip())]
  }

  mutating func letGo() { link = nil }

  mutating func pinged(_ number: UInt32) -> [Answer] {
    link?.lastPing = number
    guard let link, isServed else { return [] }
    return [Answer(epoch: link.epoch, event: .pong(number), delay: roundTrip())]
  }

  mutating func given(_ ids: [MessageID], acknowledges: (MessageID) -> Bool) -> [Answer] {
    guard let epoch = link?.epoch else { return [] }
    link?.unacknowledged += ids.filter(acknowledges)
    if link?.isBlocked == true {
      link?.unwritten += ids
      return []
    }
    var answers = written(ids, on: epoch)
    if isServed { answers += acknowledgements(after: roundTrip()) }
    return answers
  }

  /// The system takes what it is given at once; it does not know that the peer is gone.
  private func written(_ ids: [MessageID], on epoch: Epoch) -> [Answer] {
    ids.map { Answer(epoch: epoch, event: .written(through: $0), delay: .zero) }
  }

  private mutating func acknowledgements(after delay: TimeSpan) -> [Answer] {
    guard let link else { return [] }
    let ids = link.unacknowledged
    self.link?.unacknowledged = []
    return ids.map {
      Answer(epoch: link.epoch, event: .acknowledged(through: $0), delay: delay)
    }
  }

  private var isServed: Bool {
    guard let link else { return false }
    return server == .up && link.isOpen && !link.isSilent && !pathIsDown
  }

  /// A report reaches the client.
  mutating func delivered(_ event: TransportEvent, of epoch: Epoch) {
    guard link?.epoch == epoch else { return }
    switch event {
    case .opened: link?.isOpen = true
    case .failed, .closed: link = nil
    case .received, .pong, .written, .acknowledged, .writabilityChanged, .viabilityChanged,
      .drainRequested, .betterPathAvailable:
      break
    }
  }
}

// MARK: What befalls it

extension Network {
  mutating func serverUp() -> [Answer] {
    server = .up
    return []
  }

  /// The server is killed: its host lives on, ends the links with a FIN and refuses new ones.
  mutating func serverDown() -> [Answer] {
    server = .down
    guard let link, !link.isSilent, !pathIsDown else { return [] }
    return [Answer(epoch: link.epoch, event: .closed(nil), delay: roundTrip())]
  }

  mutating func pathChanged(isDown: Bool) -> [Answer] {
    pathIsDown = isDown
    return []
  }

  /// The event that an action would be on an attempt that is over; nil if that attempt lives or is
  /// to come.
  func stale(_ action: NetworkAction, attempt: Epoch) -> TransportEvent? {
    guard attempt <= lastEpoch, link?.epoch != attempt else { return nil }
    switch action {
    case .open: return .opened
    case .refuse: return .failed(.system(.connectionRefused))
    case .resolutionFails: return .failed(.resolution(.unknownName))
    case .reset: return .failed(.system(.connectionReset))
    case .finish: return .closed(nil)
    case .serverClose(let code): return .closed(code)
    case .message, .hang, .goSilent, .acknowledge: return .received(byteCount: 1)
    case .pong: return .pong(1)
    case .writable(let writable): return .writabilityChanged(writable)
    }
  }

  /// Applies an action to the link there is, or lets it wait for the next one.
  mutating func befall(_ waiting: Waiting) -> [Answer] {
    var waiting = waiting
    var answers: [Answer] = []
    let isForThis = waiting.attempt == nil || waiting.attempt == link?.epoch
    let isFirst = self.waiting.isEmpty || waiting.action.isAnswer == false
    if isForThis, isFirst, let now = apply(waiting.action, isFresh: true) {
      answers = now
      waiting.applied = 1
    }
    // “The next n attempts” come after the one that it befell at once.
    if waiting.applied == 0 || waiting.repeats > 1 { self.waiting.append(waiting) }
    return answers
  }

  /// Applies what waits, oldest first, as far as the link admits.
  mutating func pump() -> [Answer] {
    var answers: [Answer] = []
    while let head = waiting.first, let link, head.attempt == nil || head.attempt == link.epoch {
      guard let now = apply(head.action, isFresh: false) else {
        // What befalls a link, for each of the next attempts: open it first.
        if head.repeats > 1, !head.action.isAnswer, let opening = apply(.open, isFresh: false) {
          answers += opening
        }
        break
      }
      answers += now
      waiting[0].applied += 1
      if waiting[0].applied >= max(waiting[0].repeats, 1) { waiting.removeFirst() }
    }
    return answers
  }

  /// Nil if the action finds nothing that it can befall now.
  private mutating func apply(_ action: NetworkAction, isFresh: Bool) -> [Answer]? {
    guard let link else { return nil }
    // A step at its own time answers the attempt at once, even one that was left hanging before.
    let delay = isFresh ? .zero : Self.soon
    func answer(_ event: TransportEvent) -> [Answer] {
      [Answer(epoch: link.epoch, event: event, delay: delay)]
    }
    if action.isAnswer {
      guard !link.isOpen, isFresh || !link.isAnswered else { return nil }
      self.link?.isAnswered = true
    } else if action != .reset || !isFresh {
      guard link.isOpen else { return nil }
    }
    switch action {
    case .hang: return []
    case .open: return answer(.opened)
    case .refuse: return answer(.failed(.system(.connectionRefused)))
    case .resolutionFails: return answer(.failed(.resolution(.unknownName)))
    case .reset: return end(answer(.failed(.system(.connectionReset))))
    case .finish: return end(answer(.closed(nil)))
    case .serverClose(let code): return end(answer(.closed(code)))
    case .goSilent:
      self.link?.isSilent = true
      return []
    case .message: return answer(.received(byteCount: 1))
    case .pong: return link.lastPing.map { answer(.pong($0)) } ?? answer(.received(byteCount: 1))
    case .acknowledge: return acknowledgements(after: delay)
    case .writable(let writable):
      self.link?.isBlocked = !writable
      let unwritten = writable ? link.unwritten : []
      if writable { self.link?.unwritten = [] }
      return answer(.writabilityChanged(writable)) + written(unwritten, on: link.epoch)
    }
  }

  /// Nothing more befalls a link whose end is on its way.
  private mutating func end(_ answers: [Answer]) -> [Answer] {
    link?.isOpen = false
    link?.isAnswered = true
    return answers
  }
}
