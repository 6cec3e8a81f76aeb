import ConnectionFSM

/// What the driver of one client knows beside the machine: the books of its link, and what is on
/// its way. 48 bytes: most events touch no more than this.
struct FleetClient: Sendable {
  /// Where the client's link is, by the driver's own books.
  enum Stage: UInt8 {
    /// There is no link.
    case none
    /// The dial is on its way.
    case dialling
    /// Messages flow.
    case open
    /// The transport is gone, and the machine has not said that the link ended.
    case lost
  }

  /// The one message on its way, or what comes in its place.
  enum Flight: UInt8 {
    case none
    /// The application is about to connect for the first time.
    case start
    /// To the server, with it, then back from it.
    case dial, asked, accepted, refused, shed
    case ping, pong
  }

  var random: RandomStream
  /// When the machine wants to be woken.
  var deadline = Instant.endOfTime
  /// When the server drops the open link.
  var dropsAt = Instant.endOfTime
  /// When what is on its way arrives.
  var arrivesAt = Instant.endOfTime
  var epoch = Epoch(0)
  /// The number of the ping that is on its way.
  var ping: UInt32 = 0
  var flight = Flight.none
  var stage = Stage.none

  /// When something happens to the client next.
  ///
  /// One entry a client in the queue does: whatever else it waits for is here, and nothing that
  /// was called off ever comes out of the queue.
  @inline(__always)
  var next: Instant { min(deadline, dropsAt, arrivesAt) }

  /// Whether that is a message's arrival at the server, which is nothing to the machine.
  var isNextAtServer: Bool {
    (flight == .ping || flight == .dial) && arrivesAt < dropsAt && arrivesAt <= deadline
  }

  @inline(__always)
  mutating func send(_ flight: Flight, arriving instant: Instant) {
    self.flight = flight
    arrivesAt = instant
  }

  /// What was on its way has arrived.
  @inline(__always)
  mutating func land() { send(.none, arriving: .endOfTime) }

  /// The transport is gone, and with it what was on its way.
  mutating func loseLink() {
    stage = .lost
    flight = .none
    arrivesAt = .endOfTime
    dropsAt = .endOfTime
  }
}

extension Instant {
  /// Later than anything that happens.
  static var endOfTime: Instant { Instant(nanoseconds: .max) }
}
