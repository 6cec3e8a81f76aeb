/// What the steps of a machine amount to: counters and lengths of time, folded from its trace.
///
/// Feed it every ``TraceRecord`` in order; it holds some numbers and, of the messages that live,
/// their ranges, so that it may run for years. All times are as of the last step: feed on a step
/// (any input will do) to bring them up to date.
public struct Statistics: Equatable, Sendable {
  /// After how long a silence the next byte that is sent has to wake the radio: 10 s, a choice. LTE
  /// was measured to stay in its high-power state for 11.6 s after the last packet (Huang et al.,
  /// MobiSys 2012), other networks for 5 to 20 s.
  public static let radioTail = TimeSpan.seconds(10)

  /// How many steps there were.
  public private(set) var steps = 0
  /// When the last step was.
  public private(set) var end = Instant.origin
  /// The phase after the last step.
  public private(set) var phase = Phase.idle

  /// Dials.
  public private(set) var attempts = 0
  /// How often a link opened.
  public private(set) var opens = 0
  /// Ends of attempts and links that nothing went wrong with: the application closed or went
  /// elsewhere, the policy let go of a link that nobody needed, or replaced it.
  public private(set) var wishedEnds = 0
  /// All other ends of attempts and links, by the class of their cause.
  public private(set) var failures: [FailureClass: Int] = [:]
  /// How often the machine stopped trying by itself, by its reason: terminal or exhausted.
  public private(set) var giveUps: [Machine.Closed.Reason: Int] = [:]

  /// The time in which messages could flow.
  public private(set) var open = Periods()
  /// From the loss of an open link to the next one, or to rest; without the time in which the
  /// application or the device held the machine. A first connect that takes long is none.
  public private(set) var outages = Periods()
  /// The waits before retries as they were drawn, not as they were cut short.
  public private(set) var waits = Periods()

  /// Messages that were taken.
  public private(set) var taken = 0
  /// The bytes of their payloads.
  public private(set) var takenBytes = 0
  /// Messages that were given to a transport, again each time one was given again.
  public private(set) var transmitted = 0
  /// Messages that were turned away at the door, by the reason.
  public private(set) var rejected: [Rejection: Int] = [:]
  /// Messages that were taken and ended, by the way they did.
  public private(set) var ended: [Outcome: Int] = [:]
  /// Bytes that transports received, whoever's they were.
  public private(set) var receivedBytes = 0
  /// The most messages that lived at once, waiting and in flight, after any step.
  public private(set) var highWater = 0

  /// How long pings took to be answered; nil before the first answer.
  public private(set) var roundTrip: RoundTrip?
  /// How often something was sent after more than ``radioTail`` of silence in both directions.
  public private(set) var radioWakeUps = 0
  /// Inputs that changed nothing, by the reason.
  public private(set) var ignored: [IgnoreReason: Int] = [:]

  private var messages = LiveMessages()
  private var pings: [Ping] = []
  private var lastTrafficAt: Instant?

  /// A ping without its answer.
  private struct Ping: Equatable {
    let epoch: Epoch
    let number: UInt32
    let sentAt: Instant
  }

  /// Makes statistics of nothing.
  public init() {}

  /// Makes statistics of a run that is under way, from here on. Its messages live, and if it is
  /// open, it begins to be.
  public init(of machine: Machine) {
    end = machine.now
    phase = machine.phase
    if phase == .open { open.begin() }
    for lane in machine.queue.kept {
      for entry in lane.entries { messages.take(entry.id) }
    }
    highWater = messages.count
  }

  /// Messages that live: waiting and in flight.
  public var pending: Int { messages.count }

  /// Takes the next step.
  public mutating func add(_ record: TraceRecord) {
    pass(until: record)
    steps += 1
    end = record.instant
    phase = record.to
    add(record.input, of: record)
    var sends = false
    for effect in record.effects {
      add(effect, at: record.instant)
      if effect.sends { sends = true }
    }
    for moment in record.moments { add(moment, at: record.instant) }
    highWater = max(highWater, messages.count)
    noteTraffic(sends: sends, record)
    enter(record)
  }
}

// MARK: Time

extension Statistics {
  /// The time since the last step, in the phase it led to.
  private mutating func pass(until record: TraceRecord) {
    let span = record.instant - end
    open.pass(span)
    if record.from != .suspended { outages.pass(span) }
  }

  /// Begins and ends what is told by phases. A loss that led straight to another dial shows in the
  /// phase too, as no dial opens in the step that makes it.
  private mutating func enter(_ record: TraceRecord) {
    guard record.to != record.from else { return }
    switch record.to {
    case .open:
      open.begin()
      outages.end()
    case .idle, .closing, .closed:
      open.end()
      outages.end()
    case .offline, .backingOff, .waitingForCredentials, .suspended, .connecting, .authenticating:
      open.end()
      if record.from == .open, record.effects.contains(where: \.isLoss) { outages.begin() }
    }
  }

  private mutating func noteTraffic(sends: Bool, _ record: TraceRecord) {
    let isSilent = lastTrafficAt.map { record.instant - $0 > Self.radioTail } ?? true
    if sends, isSilent { radioWakeUps += 1 }
    if sends || record.input.isTraffic { lastTrafficAt = record.instant }
  }
}

// MARK: Counting

extension Statistics {
  private mutating func add(_ input: Input, of record: TraceRecord) {
    switch input {
    case .offer(_, let byteCount):
      guard case .taken(let id) = record.disposition else { return }
      messages.take(id)
      taken += 1
      takenBytes += Int(byteCount)
    case .transport(_, .received(let byteCount)): receivedBytes += Int(byteCount)
    case .transport(let epoch, .pong(let number)): answered(number, on: epoch, at: record.instant)
    case .connect, .close, .drain, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced, .deadlineReached, .credentials, .session, .transport:
      break
    }
  }

  private mutating func answered(_ number: UInt32, on epoch: Epoch, at instant: Instant) {
    guard let place = pings.firstIndex(where: { $0.epoch == epoch && $0.number == number })
    else { return }
    let sample = instant - pings[place].sentAt
    // Answers come in order: those before it come no more.
    pings.removeSubrange(...place)
    if roundTrip == nil { roundTrip = RoundTrip(first: sample) } else { roundTrip?.add(sample) }
  }

  private mutating func add(_ effect: Effect, at instant: Instant) {
    switch effect {
    case .transmit(_, let range): transmitted += messages.count(in: range)
    case .settle(let range, let outcome):
      // A range may name messages that ended before: nothing may be left of it.
      let count = messages.end(range)
      if count > 0 { ended[outcome, default: 0] += count }
    case .sendPing(let epoch, let number), .sendBeat(let epoch, let number):
      pings.append(Ping(epoch: epoch, number: number, sentAt: instant))
      if pings.count > 8 { pings.removeFirst() }
    case .ended(let epoch, let cause):
      pings.removeAll { $0.epoch == epoch }
      if cause.isWished {
        wishedEnds += 1
      } else {
        failures[cause.failureClass, default: 0] += 1
      }
    case .requestCredentials, .openTransport, .startSession, .closeTransport, .abortTransport,
      .pressureChanged:
      break
    }
  }

  private mutating func add(_ moment: Moment, at instant: Instant) {
    switch moment {
    case .attemptStarted: attempts += 1
    case .opened: opens += 1
    case .waiting(.retry, let until, _, _):
      waits.begin()
      if let until { waits.pass(until - instant) }
      waits.end()
    case .closed(.requested, _): break
    case .closed(let reason, _): giveUps[reason, default: 0] += 1
    case .messageRejected(_, let rejection): rejected[rejection, default: 0] += 1
    case .ignored(let reason): ignored[reason, default: 0] += 1
    case .waiting, .attemptFailed, .linkEnded, .messagesEnded: break
    }
  }
}

extension Effect {
  /// Whether it puts something on the wire. An abort mostly finds nobody there.
  fileprivate var sends: Bool {
    switch self {
    case .openTransport, .startSession, .closeTransport, .sendPing, .sendBeat, .transmit: true
    case .requestCredentials, .abortTransport, .settle, .ended, .pressureChanged: false
    }
  }

  /// Whether it says that a link was lost against the application's will.
  fileprivate var isLoss: Bool {
    if case .ended(_, let cause) = self { return !cause.isWished }
    return false
  }
}

extension Cause {
  /// Whether nothing went wrong.
  var isWished: Bool {
    self == .closedByUser || self == .replaced || self == .suspended
  }
}

extension Input {
  /// Whether it tells of bytes that were moved. A failure mostly tells that none were, and of the
  /// path the system knows without any.
  fileprivate var isTraffic: Bool {
    switch self {
    case .transport(_, .failed), .transport(_, .viabilityChanged),
      .transport(_, .betterPathAvailable):
      false
    case .transport, .session: true
    case .connect, .close, .drain, .offer, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced, .deadlineReached, .credentials:
      false
    }
  }
}
