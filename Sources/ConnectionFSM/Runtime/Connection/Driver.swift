/// Performs a machine's effects over a transport and feeds back what happens. Contains no policy.
///
/// Confined to the transport's loop. One transition at a time: what a transport reports from inside
/// an effect waits in line. State first, effects second, observers last (the trace, completions,
/// states), so that nothing an observer does can change the transition it hears of (I17).
/// `Sendable` only in that its reference may be captured by work for the loop; nothing of it is
/// touched anywhere else.
final class Driver: @unchecked Sendable {
  // One place for both, unchecked: calls are never re-entrant (`isBusy` sees to it), and the
  // dynamic exclusivity checks cost several times the transition itself.
  @exclusivity(unchecked) private var machine: Machine
  @exclusivity(unchecked) private var effects = Effects()

  private let loop: any EventLoop
  private let transport: any Transport
  private var payloads: PayloadStore<Pending>
  private var endpoint: Endpoint?
  private var endpointID = EndpointID(0)

  private var isBusy = false
  private var deferred: [Report] = []
  /// The deadline the loop knows of. A later one is not told to it: the loop comes early, and the
  /// driver arms anew then, so that traffic which keeps moving a deadline costs no timer work.
  private var armedAt: Instant?

  @exclusivity(unchecked) private var desk: CredentialsDesk?
  private let beat: BeatMessage?
  /// The number of the last beat, which its answer answers.
  private var lastBeat: UInt32 = 0
  private let trace: ((TraceRecord) -> Void)?
  private var sequence: UInt64 = 0
  let observers = Observers()
  private var closing: [() -> Void] = []
  /// What the running transition owes to observers, in order.
  private var owed: [() -> Void] = []

  /// A message between being taken and its end.
  private struct Pending {
    let message: Message
    let completion: ((Result<Outcome, Rejection>) -> Void)?
  }

  /// What a transport said while a transition ran.
  private enum Report {
    case input(Input)
    case message(Epoch, Message)
  }

  init(
    transport: any Transport, policy: Policy, seed: UInt64, beat: BeatMessage?,
    credentials: CredentialsProvider?, trace: ((TraceRecord) -> Void)?
  ) {
    machine = Machine(policy: policy, seed: seed)
    loop = transport.eventLoop
    self.transport = transport
    payloads = PayloadStore(laneCount: policy.lanes.count)
    self.beat = beat
    desk = credentials.map { CredentialsDesk($0) }
    self.trace = trace
  }
}

// MARK: Wishes

extension Driver {
  func connect(to endpoint: Endpoint) {
    if endpoint != self.endpoint {
      self.endpoint = endpoint
      endpointID = EndpointID(endpointID.rawValue &+ 1)
    }
    submit(.connect(endpointID))
  }

  func offer(
    _ message: Message, in lane: LaneID, _ ticket: SendTicket?,
    completion: ((Result<Outcome, Rejection>) -> Void)?
  ) {
    if let ticket, ticket.isCancelled {
      completion?(.success(.cancelled))
      return
    }
    precondition(!isBusy, "offers come as work of the loop, never from inside a transition")
    guard transport.admits(message) else {
      completion?(.failure(.notEncodable))
      return
    }
    // Beyond 4 GiB - 1 the count saturates, which no lane admits.
    let byteCount = UInt32(clamping: message.bytes.count)
    transition(.offer(lane, byteCount: byteCount)) { disposition in
      switch disposition {
      case .taken(let id):
        ticket?.id = id
        payloads.insert(Pending(message: message, completion: completion), for: id)
      case .rejected(let rejection): owe(completion, .failure(rejection))
      case .accepted, .ignored: break
      }
    }
    drain()
  }

  /// Takes a message back: before it is offered, or while it waits.
  func cancel(_ ticket: SendTicket) {
    ticket.isCancelled = true
    if let id = ticket.id { submit(.cancel(id)) }
  }

  /// Closes, and calls back once that is done; at once, if there is nothing left to close.
  func close(completion: @escaping () -> Void) {
    closing.append(completion)
    submit(.close)
    if machine.phase != .closing { finishClosing() }
  }

  private func finishClosing() {
    let waiting = closing
    closing = []
    for completion in waiting { completion() }
  }

  func explain() -> Explanation { machine.explain() }

  var traffic: Traffic { transport.traffic }

  /// Takes an input from outside; in line, if a transition is running.
  func submit(_ input: Input) {
    guard !isBusy else { return deferred.append(.input(input)) }
    transition(input) { _ in }
    drain()
  }

  /// Lets go of everything at once: the connection is being released.
  func shutDown() {
    submit(.close)
    guard let link = machine.primary else { return }
    transport.abort(link.epoch)
    submit(.transport(link.epoch, .failed(.closedByUser)))
  }
}

/// A message that its sender may take back. Confined to the loop, like the driver.
final class SendTicket: @unchecked Sendable {
  fileprivate(set) var id: MessageID?
  fileprivate(set) var isCancelled = false
}

// MARK: Transitions

extension Driver {
  /// One transition: the machine, then what the disposition asks for, then the effects, then
  /// observers.
  @inline(__always)
  private func transition(_ input: Input, _ disposed: (Disposition) -> Void) {
    isBusy = true
    let phase = machine.phase
    let epoch = machine.primary?.epoch
    var record: TraceRecord?
    if trace == nil {
      disposed(machine.handle(input, at: loop.now, into: &effects))
    } else {
      sequence += 1
      record = machine.handle(input, at: loop.now, into: &effects, recordingAs: sequence)
      if let record { disposed(record.disposition) }
    }
    if !effects.isEmpty { perform() }
    if let asked = desk?.asks, !machine.waitsForCredentials(of: asked) { desk?.stopAsking() }
    rearm()
    isBusy = false
    if let record { trace?(record) }
    if !owed.isEmpty { settleDebts() }
    if machine.phase != phase || machine.primary?.epoch != epoch {
      observers.stateChanged(to: machine.explain())
    }
  }

  private func owe(
    _ completion: ((Result<Outcome, Rejection>) -> Void)?, _ result: Result<Outcome, Rejection>
  ) {
    if let completion { owed.append { completion(result) } }
  }

  private func settleDebts() {
    let debts = owed
    owed.removeAll(keepingCapacity: true)
    for debt in debts { debt() }
  }

  private func drain() {
    while !deferred.isEmpty {
      let reports = deferred
      deferred.removeAll(keepingCapacity: true)
      for report in reports {
        switch report {
        case .input(let input): transition(input) { _ in }
        case .message(let epoch, let message): deliver(message, from: epoch)
        }
      }
    }
  }

  private func rearm() {
    guard let next = machine.nextDeadline else {
      if armedAt != nil { loop.arm(self, at: nil) }
      armedAt = nil
      return
    }
    if let armedAt, armedAt <= next { return }
    armedAt = next
    loop.arm(self, at: next)
  }

  private func perform() {
    for effect in effects {
      switch effect {
      case .openTransport(let epoch, _):
        // A machine dials only what it was told to connect to, and connect set the endpoint.
        if let endpoint {
          let credentials = desk?.take(for: epoch)
          transport.open(epoch, to: endpoint, with: credentials, observer: self)
        }
      case .closeTransport(let epoch): transport.close(epoch)
      case .abortTransport(let epoch): transport.abort(epoch)
      case .sendPing(let epoch, let number): transport.ping(number, on: epoch)
      case .transmit(let epoch, let range): transmit(range, on: epoch)
      case .settle(let range, let outcome): settle(range, outcome)
      case .ended(let epoch, let cause):
        desk?.ended(epoch, wereRefused: blamesCredentials(cause))
        // Whatever the first cause was: the link whose end close() waits for is gone.
        if !closing.isEmpty, machine.phase != .closing {
          owed.append { [unowned self] in finishClosing() }
        }
      case .pressureChanged: break
      case .sendBeat(let epoch, let number):
        guard let beat else { preconditionFailure("Connection.init admits no beat without words") }
        lastBeat = number
        transport.send(beat.payload(), id: nil, on: epoch, more: false)
      case .requestCredentials(let epoch):
        desk?.ask(for: epoch, on: loop) { [weak self] in self?.credentialsAnswered(epoch, $0) }
      case .startSession:
        preconditionFailure("Connection.init admits no policy with a session stage")
      }
    }
  }

  private func transmit(_ range: MessageRange, on epoch: Epoch) {
    payloads.forEach(in: range) { id, pending, isLast in
      transport.send(pending.message, id: id, on: epoch, more: !isLast)
    }
  }

  private func settle(_ range: MessageRange, _ outcome: Outcome) {
    payloads.removeAll(in: range) { owe($0.completion, .success(outcome)) }
  }

  private func deliver(_ message: Message, from epoch: Epoch) {
    // Of the link that counts, or of the one it has replaced and that finishes.
    guard machine.primary?.epoch == epoch || machine.standby?.epoch == epoch else { return }
    if let isAnswer = beat?.isAnswer, isAnswer(message) {
      // Not drained here: whoever delivers does that next.
      return deferred.append(.input(.transport(epoch, .pong(lastBeat))))
    }
    observers.received(message)
  }
}

// MARK: What the outside reports

extension Driver {
  private func blamesCredentials(_ cause: Cause) -> Bool {
    machine.policy.verdict(on: cause, in: Circumstances()).refreshesCredentials
  }

  private func credentialsAnswered(_ epoch: Epoch, _ result: Result<Credentials?, any Error>) {
    let answer: CredentialsAnswer
    switch result {
    case .success(let credentials?):
      desk?.hold(credentials)
      answer = .available
    case .success(nil): answer = .refused
    case .failure: answer = .unavailable
    }
    submit(.credentials(epoch, answer))
    // It came too late, and no link took it.
    desk?.hold(nil)
  }
}

extension Driver: TransportObserver {
  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    submit(.transport(epoch, event))
  }

  func transport(_ epoch: Epoch, received message: Message) {
    guard !isBusy else { return deferred.append(.message(epoch, message)) }
    deliver(message, from: epoch)
    drain()
  }
}

extension Driver: DeadlineHandler {
  func deadlineReached() {
    armedAt = nil
    guard let deadline = machine.nextDeadline, deadline <= loop.now else { return rearm() }
    submit(.deadlineReached)
  }
}
