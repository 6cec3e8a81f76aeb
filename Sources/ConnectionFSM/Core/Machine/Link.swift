extension Machine {
  /// One attempt from dial to end: its epoch, how far it is, and the facts about it.
  public struct Link: Equatable, BitwiseCopyable, Sendable {
    /// How far an attempt is.
    public enum Stage: UInt8, CaseIterable, BitwiseCopyable, Sendable {
      /// Dialled. Leads to authenticating, open, or the end.
      case connecting
      /// The transport is open, the session is not ready. Leads to open or the end.
      case authenticating
      /// Messages flow. Leads to closing or the end.
      case open
      /// Our close is on its way. Leads to the end.
      case closing
    }

    /// The generation.
    public let epoch: Epoch
    /// Whether its dial was counted against the attempt limit.
    let isCounted: Bool
    /// How far it is.
    public private(set) var stage: Stage
    /// Whether the transport takes more messages.
    public internal(set) var writable = true
    /// The path was lost while this link lived, and nothing was heard since.
    var suspect: Bool
    /// One late pong deadline of this silence was answered with a fresh probe already.
    var probedLate = false
    /// The number of the last ping.
    var lastPing: UInt32 = 0
    /// When the stage was entered.
    public private(set) var since: Instant
    /// When the last inbound byte arrived; when the link opened, if none has.
    public internal(set) var heardAt: Instant
    /// When the ping that waits for its answer was sent.
    public internal(set) var pingSentAt: Instant?

    init(epoch: Epoch, dialledAt now: Instant, pathIsDown: Bool) {
      self.epoch = epoch
      stage = .connecting
      // A probe of a path that is down spends no attempt: it is the signal that is on trial.
      isCounted = !pathIsDown
      suspect = pathIsDown
      since = now
      heardAt = now
    }

    mutating func authenticate(at now: Instant) {
      trapUnless(stage == .connecting, "only a connecting link authenticates")
      enter(.authenticating, at: now)
    }

    mutating func open(at now: Instant) {
      trapUnless(stage == .connecting || stage == .authenticating, "only a new link opens")
      enter(.open, at: now)
    }

    mutating func close(at now: Instant) {
      trapUnless(stage == .open, "only an open link closes politely")
      enter(.closing, at: now)
      pingSentAt = nil
    }

    private mutating func enter(_ next: Stage, at now: Instant) {
      stage = next
      since = now
      heardAt = now
      suspect = false
    }

    /// Any inbound byte is life: it answers the ping, clears suspicion, and starts the silence
    /// anew.
    mutating func hear(at now: Instant) {
      heardAt = now
      pingSentAt = nil
      suspect = false
      probedLate = false
    }

    mutating func ping(at now: Instant) {
      lastPing &+= 1
      pingSentAt = now
    }
  }
}

#if !hasFeature(Embedded)
  extension Machine.Link: Hashable {}
#endif
