import ConnectionFSM

/// The network, the server and the credentials provider as one connection sees them, at machine
/// level: dials are answered, links live and die, messages are taken and acknowledged.
///
/// Scripted until a server is said to be up: until then attempts are answered only by what the
/// story says, and what it says of an attempt outranks what the server would. What is sent while
/// the path is down is lost until all is well again: no retransmission is modelled.
struct Network: Sendable {
  /// What will be reported, and after how long.
  struct Answer {
    let epoch: Epoch
    let report: Report
    let delay: TimeSpan
  }

  /// What comes from outside.
  enum Report: Sendable {
    case transport(TransportEvent)
    case session(SessionEvent)
    case credentials(CredentialsAnswer)
  }

  /// Something of the story that waits for an attempt or a link it can befall.
  struct Waiting: Sendable {
    let action: NetworkAction
    let aim: Aim
    let repeats: Int
    let step: Int
    var applied = 0
  }

  /// One attempt that was dialled and neither ended nor was let go of.
  struct Link: Sendable {
    let epoch: Epoch
    let endpoint: EndpointID
    var isOpen = false
    /// The dial has its answer, or the story said that there will be none.
    var isAnswered = false
    var isSilent = false
    var isBlocked = false
    /// A session was started and has no answer; whether it resumes.
    var asksToResume: Bool?
    /// The story left the session without an answer.
    var isSessionMute = false
    /// The story said that the session is accepted, too.
    var acceptsSession = false
    var lastPing: UInt32?
    var unwritten: [MessageID] = []
    var unacknowledged: [MessageID] = []
  }

  enum Server { case scripted, up, down }

  /// From the client to the server, or back.
  var latency = healthyLatency
  /// So many percent of the answers of a peer that is there are lost.
  var loss: UInt8?
  var waiting: [Waiting] = []
  /// The newest last; there are two only while one takes over from the other.
  var links: [Link] = []
  private(set) var lastEpoch = Epoch(0)
  private(set) var lastOpened = Epoch(0)
  var server = Server.scripted
  var hosts: [EnvironmentAction.Host] = []
  /// Whether sessions are answered by the story alone.
  var isSessionScripted: Bool
  /// From the story's first word about the provider on.
  var isProviderScripted = false
  var providerAnswers: [(answer: CredentialsAnswer, step: Int)] = []
  private(set) var askedFor: Epoch?
  var pathIsDown = false
  /// Nothing gets through, and no signal says so; until the story opens a link.
  var isDark = false
  /// Steps that found nothing they could befall, and wait for nothing.
  var moot: [Int] = []
  /// Steps of a drawn story for attempts that were not made yet.
  var unborn: [Int] = []
  private var jitter: RandomStream
  private var losses: RandomStream

  // The story's own answers come after this: not in the same instant as the dial, yet at once.
  static let soon = TimeSpan.milliseconds(1)
  static let healthyLatency = TimeSpan.milliseconds(20)

  init(seed: UInt64, isSessionScripted: Bool) {
    (jitter, losses) = Self.streams(of: seed)
    self.isSessionScripted = isSessionScripted
  }

  private static func streams(of seed: UInt64) -> (jitter: RandomStream, losses: RandomStream) {
    (
      RandomStream(seed: seed, name: "network.jitter"),
      RandomStream(seed: seed, name: "network.loss")
    )
  }

  /// Draws from another seed from here on.
  mutating func reseed(_ seed: UInt64) { (jitter, losses) = Self.streams(of: seed) }

  /// There and back, with up to a tenth more.
  mutating func roundTrip() -> TimeSpan {
    let base = TimeSpan.nanoseconds(latency.nanoseconds.multipliedClamping(by: 2))
    return .nanoseconds(
      (base.nanoseconds)
        + jitter.span(through: .nanoseconds(base.nanoseconds / 10)).nanoseconds)
  }

  mutating func isLost() -> Bool {
    guard let loss else { return false }
    return losses.next(through: 99) < UInt64(loss)
  }

  func place(of epoch: Epoch) -> Int? { links.firstIndex { $0.epoch == epoch } }
}

extension Int64 {
  fileprivate func multipliedClamping(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max / 4 : Swift.min(product, .max / 4)
  }
}

// MARK: What the client does

extension Network {
  mutating func dialled(_ epoch: Epoch, _ endpoint: EndpointID) -> [Answer] {
    lastEpoch = epoch
    links.append(Link(epoch: epoch, endpoint: endpoint))
    if let head = waiting.first, head.action.isAnswer || head.repeats > 1,
      admits(head.aim, links[links.count - 1])
    {
      return []
    }
    if pathIsDown || isDark { return [fail(epoch, .system(.networkUnreachable), after: Self.soon)] }
    switch isUp(endpoint) {
    case nil: return []
    case true?:
      links[links.count - 1].isAnswered = true
      return [Answer(epoch: epoch, report: .transport(.opened), delay: roundTrip())]
    case false?: return [fail(epoch, .system(.connectionRefused), after: roundTrip())]
    }
  }

  private mutating func fail(_ epoch: Epoch, _ cause: Cause, after delay: TimeSpan) -> Answer {
    links[links.count - 1].isAnswered = true
    return Answer(epoch: epoch, report: .transport(.failed(cause)), delay: delay)
  }

  /// Nil where the story alone knows.
  private func isUp(_ endpoint: EndpointID) -> Bool? {
    let number = Int(endpoint.rawValue)
    if number < hosts.count { return hosts[number].isUp }
    switch server {
    case .scripted: return nil
    case .up: return true
    case .down: return false
    }
  }

  mutating func closeAsked(_ epoch: Epoch) -> [Answer] {
    guard let place = place(of: epoch), isServed(links[place]) else { return [] }
    return [Answer(epoch: epoch, report: .transport(.closed(nil)), delay: roundTrip())]
  }

  mutating func letGo(_ epoch: Epoch) { links.removeAll { $0.epoch == epoch } }

  mutating func pinged(_ epoch: Epoch, _ number: UInt32) -> [Answer] {
    guard let place = place(of: epoch) else { return [] }
    links[place].lastPing = number
    // A lossy network has a peer behind it that lives.
    let isThere = loss != nil && links[place].isOpen && !pathIsDown
    guard isServed(links[place]) || isThere, !isLost() else { return [] }
    return [Answer(epoch: epoch, report: .transport(.pong(number)), delay: roundTrip())]
  }

  mutating func given(
    _ ids: [MessageID], to epoch: Epoch, lanes: [Lane]
  ) -> [Answer] {
    guard let place = place(of: epoch) else { return [] }
    links[place].unacknowledged += ids.filter {
      lanes[Int($0.lane.rawValue)].delivery == .atLeastOnce
    }
    if links[place].isBlocked {
      links[place].unwritten += ids
      return []
    }
    var answers = written(ids, on: epoch)
    if isServed(links[place]) { answers += acknowledgements(on: epoch, after: roundTrip()) }
    return answers
  }

  /// The system takes what it is given at once; it does not know that the peer is gone.
  func written(_ ids: [MessageID], on epoch: Epoch) -> [Answer] {
    ids.map { Answer(epoch: epoch, report: .transport(.written(through: $0)), delay: .zero) }
  }

  mutating func acknowledgements(on epoch: Epoch, after delay: TimeSpan) -> [Answer] {
    guard let place = place(of: epoch) else { return [] }
    let ids = links[place].unacknowledged
    links[place].unacknowledged = []
    return ids.map {
      Answer(epoch: epoch, report: .transport(.acknowledged(through: $0)), delay: delay)
    }
  }

  func isServed(_ link: Link) -> Bool {
    isUp(link.endpoint) == true && link.isOpen && !link.isSilent && !pathIsDown
  }

  /// A report reaches the client.
  mutating func delivered(_ report: Report, of epoch: Epoch) {
    guard let place = place(of: epoch) else { return }
    switch report {
    case .transport(.opened):
      links[place].isOpen = true
      lastOpened = epoch
    case .transport(.failed), .transport(.closed): letGo(epoch)
    case .transport, .session, .credentials: break
    }
  }
}

// MARK: Sessions and credentials

extension Network {
  mutating func sessionStarted(_ epoch: Epoch, resuming: Bool) -> [Answer] {
    guard let place = place(of: epoch) else { return [] }
    links[place].asksToResume = resuming
    let accepts = links[place].acceptsSession || !isSessionScripted
    guard accepts, !links[place].isSessionMute else { return [] }
    return sessionAnswered(resuming ? .resumed : .ready, on: epoch)
  }

  mutating func sessionAnswered(_ event: SessionEvent, on epoch: Epoch) -> [Answer] {
    if let place = place(of: epoch) { links[place].asksToResume = nil }
    return [Answer(epoch: epoch, report: .session(event), delay: Self.soon)]
  }

  /// The provider is asked; it answers at once until the story says otherwise.
  mutating func credentialsAsked(_ epoch: Epoch) -> [Answer] {
    guard isProviderScripted else {
      return [Answer(epoch: epoch, report: .credentials(.available), delay: Self.soon)]
    }
    askedFor = epoch
    return answerRequest()
  }

  /// Gives the oldest answer of the story to a request that waits for one.
  mutating func answerRequest() -> [Answer] {
    guard let epoch = askedFor, !isProviderScripted || !providerAnswers.isEmpty else { return [] }
    askedFor = nil
    let answer = isProviderScripted ? providerAnswers.removeFirst().answer : .available
    return [Answer(epoch: epoch, report: .credentials(answer), delay: Self.soon)]
  }
}
