extension Machine {
  /// One attempt from dial to end: its epoch, how far it is, and the facts about it.
  public struct Link: Hashable, BitwiseCopyable, Sendable {
    /// How far an attempt is.
    public enum Stage: UInt8, CaseIterable, BitwiseCopyable, Sendable {
      /// The credentials provider was asked for a replacement that is to be dialled. Leads to
      /// connecting or the end.
      case authorizing
      /// Dialled. Leads to authenticating, open, or the end.
      case connecting
      /// The transport is open, the session is not ready. Leads to open or the end.
      case authenticating
      /// Messages flow. Leads to draining, closing or the end.
      case open
      /// It finishes what it was given, then closes. Leads to closing or the end.
      case draining
      /// Our close is on its way. Leads to the end.
      case closing
    }

    /// What a ping is for.
    enum Question: UInt8, CaseIterable, BitwiseCopyable, Sendable {
      /// The peer has been silent.
      case silence
      /// The application's own heartbeat wants its answer.
      case beat
      /// The path was lost or changed, or the device awoke: the answer is wanted soon.
      case doubt
    }

    /// Why a link is let go in order.
    enum Ending: UInt8, CaseIterable, BitwiseCopyable, Sendable {
      case byUser, suspended, replaced
      /// Suspended, and the application connected meanwhile.
      case recalled

      var cause: Cause {
        switch self {
        case .byUser: .closedByUser
        case .suspended, .recalled: .suspended
        case .replaced: .replaced
        }
      }
    }

    /// The generation.
    public let epoch: Epoch
    /// When the stage was entered.
    public private(set) var since: Instant
    /// When the last inbound byte arrived; when the link opened, if none has.
    public internal(set) var heardAt: Instant
    /// When the ping that waits for its answer was sent; `never` if none does.
    var askedAt = Instant.never
    /// The number of the last ping.
    var lastPing: UInt32 = 0
    /// Whether its dial was counted against the attempt limit.
    let isCounted: Bool
    /// How far it is.
    public private(set) var stage: Stage
    /// Whether the transport takes more messages.
    public internal(set) var writable = true
    /// The path was lost or changed while this link lived, or the device slept, and nothing was
    /// heard since.
    var suspect: Bool
    /// One late pong deadline of this silence was answered with a fresh probe already.
    var probedLate = false
    /// What the ping that waits is for.
    var question = Question.silence
    /// How many pings of this silence went without an answer.
    var missed: UInt8 = 0
    /// How many dials in a row were cut by the connect deadline before this one.
    let connectTimeouts: UInt8
    /// Why it is draining or closing. Written here, and where a machine is restored.
    var ending = Ending.byUser

    /// A link that is dialled, or for which credentials were asked.
    init(
      epoch: Epoch, stage: Stage, at now: Instant, pathIsDown: Bool, connectTimeouts: UInt8
    ) {
      self.epoch = epoch
      self.stage = stage
      // A probe of a path that is down spends no attempt: it is the signal that is on trial.
      isCounted = !pathIsDown
      suspect = pathIsDown
      since = now
      heardAt = now
      self.connectTimeouts = connectTimeouts
    }
  }
}

extension Machine.Link {
  /// What stands in the place of a link where there is none.
  static var absent: Machine.Link {
    Machine.Link(
      epoch: Epoch(0), stage: .closing, at: .origin, pathIsDown: false, connectTimeouts: 0)
  }
}

// MARK: Stages

extension Machine.Link {
  mutating func dial(at now: Instant) {
    trapUnless(stage == .authorizing, "only what waits for credentials is dialled")
    enter(.connecting, at: now)
  }

  mutating func authenticate(at now: Instant) {
    trapUnless(
      stage == .connecting || stage == .authenticating, "only a new link authenticates")
    enter(.authenticating, at: now)
  }

  mutating func open(at now: Instant) {
    trapUnless(stage == .connecting || stage == .authenticating, "only a new link opens")
    enter(.open, at: now)
  }

  mutating func drain(_ ending: Ending, at now: Instant) {
    trapUnless(stage == .open, "only an open link drains")
    self.ending = ending
    enter(.draining, at: now)
  }

  mutating func close(at now: Instant) {
    trapUnless(stage == .draining, "a link drains before it closes")
    enter(.closing, at: now)
  }

  /// The application wants a link again, while this one is let go for a while.
  mutating func recall() {
    if isEnding, ending == .suspended { ending = .recalled }
  }

  private mutating func enter(_ next: Stage, at now: Instant) {
    stage = next
    since = now
    hear(at: now)
  }

  /// Whether the end is on its way, by our wish.
  var isEnding: Bool { stage == .draining || stage == .closing }
}

// MARK: Life

extension Machine.Link {
  /// When the ping that waits for its answer was sent; nil if none does.
  public var pingSentAt: Instant? { askedAt == .never ? nil : askedAt }

  /// Any inbound byte is life: it answers the ping, clears suspicion, and starts the silence
  /// anew.
  @inline(always)
  mutating func hear(at now: Instant) {
    heardAt = now
    askedAt = .never
    suspect = false
    probedLate = false
    missed = 0
  }

  @inline(always)
  mutating func ask(_ question: Question, at now: Instant) {
    lastPing &+= 1
    askedAt = now
    self.question = question
  }
}
