package import ConnectionFSM

/// What the kernel tells of its network, as a value: datagrams of rtnetlink go in, questions and
/// paths come out.
///
/// The path is up if a default route of either family leads over an interface that is up, runs, and
/// has an address of that family which reaches beyond it. Loopback alone is down: nothing beyond
/// the machine can be reached. The number of the interface is its index and its gateway, folded.
///
/// An announced change never mends what is known, it only calls for a new look at everything: the
/// kernel does not announce all changes (routes that vanish with their interface, for one) and
/// loses announcements when many come at once.
package struct RouteWatch: Sendable {
  package enum Effect: Equatable, Sendable {
    /// Send this question under this number.
    case ask(RouteQuestion, number: UInt32)
    /// The path has changed to this.
    case tell(Path)
  }

  private enum Stage: Equatable {
    /// Nothing to do, and the earliest next look.
    case resting(Instant)
    case looking(RouteQuestion)
    /// The kernel refused: it is asked anew then.
    case refused
  }

  /// The path as it was told last.
  package private(set) var path = Path.unknown
  /// When ``deadlineReached(at:into:)`` is wanted; nil while only a datagram helps.
  package private(set) var nextDeadline: Instant?

  private var stage = Stage.resting(.origin)
  private var survey = RouteSurvey()
  private var number: UInt32 = 0
  /// Something has changed since the look began.
  private var isStale = false
  /// The answers of this look fit no moment.
  private var isInterrupted = false

  /// From the end of a look to the next: changes come in swarms, each a reason to look.
  package static let rest = TimeSpan.milliseconds(50)
  /// Until the kernel is asked again after a refusal (it is busy, or short of memory).
  package static let pause = TimeSpan.seconds(1)
  /// For one answer. The kernel gives it at once, unless the question itself was lost.
  package static let patience = TimeSpan.seconds(5)

  package init() {}

  /// Begins: reads the level.
  package mutating func start(at now: Instant, into effects: inout [Effect]) {
    look(at: now, into: &effects)
  }

  /// Takes a datagram, whatever its bytes.
  package mutating func receive(
    _ bytes: borrowing RawSpan, at now: Instant, into effects: inout [Effect]
  ) {
    RouteMessage.forEach(in: bytes) { take($0, at: now, into: &effects) }
    lookIfStale(at: now, into: &effects)
  }

  /// The kernel has lost announcements (ENOBUFS).
  package mutating func overrun(at now: Instant, into effects: inout [Effect]) {
    isStale = true
    lookIfStale(at: now, into: &effects)
  }

  /// The time in ``nextDeadline`` has come.
  package mutating func deadlineReached(at now: Instant, into effects: inout [Effect]) {
    guard let nextDeadline, nextDeadline <= now else { return }
    look(at: now, into: &effects)
  }
}

extension RouteWatch {
  private mutating func take(
    _ message: RouteMessage, at now: Instant, into effects: inout [Effect]
  ) {
    guard message.isAnswer else {
      isStale = isStale || message.body.isReasonToLook
      return
    }
    // An answer to a question that was given up has another number.
    guard case .looking(let question) = stage, message.number == number else { return }
    isInterrupted = isInterrupted || message.isInterrupted
    switch message.body {
    case .end(error: 0): goOn(after: question, at: now, into: &effects)
    case .end:
      stage = .refused
      nextDeadline = now + Self.pause
    case .link, .address, .route: survey.take(message.body)
    case .other: return
    }
  }

  private mutating func lookIfStale(at now: Instant, into effects: inout [Effect]) {
    guard isStale, case .resting(let until) = stage else { return }
    if until <= now { look(at: now, into: &effects) } else { nextDeadline = until }
  }

  private mutating func look(at now: Instant, into effects: inout [Effect]) {
    isStale = false
    isInterrupted = false
    survey = RouteSurvey()
    ask(.links, at: now, into: &effects)
  }

  private mutating func ask(
    _ question: RouteQuestion, at now: Instant, into effects: inout [Effect]
  ) {
    number &+= 1
    stage = .looking(question)
    nextDeadline = now + Self.patience
    effects.append(.ask(question, number: number))
  }

  private mutating func goOn(
    after question: RouteQuestion, at now: Instant, into effects: inout [Effect]
  ) {
    switch question {
    case .links: ask(.addresses, at: now, into: &effects)
    case .addresses: ask(.routes, at: now, into: &effects)
    case .routes:
      stage = .resting(now + Self.rest)
      nextDeadline = nil
      isStale = isStale || isInterrupted
      guard !isInterrupted, survey.path != path else { return }
      path = survey.path
      effects.append(.tell(path))
    }
  }
}

extension RouteMessage.Body {
  /// Whether the way out may be another one after this announcement.
  fileprivate var isReasonToLook: Bool {
    switch self {
    case .link, .address: true
    case .route(let route): route.isDefault
    case .end, .other: false
    }
  }
}
