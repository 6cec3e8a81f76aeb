package import ConnectionFSM

/// One event in the life of a fleet.
package struct FleetEvent: Hashable, Sendable {
  /// What can happen.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// The application of a client connects for the first time.
    case started
    /// A dial arrived at the server.
    case dialArrived
    /// The server's answer to a dial arrived at the client.
    case opened, refused
    /// A ping arrived at the server.
    case pingArrived
    /// The answer to a ping arrived at the client.
    case pongArrived
    /// The server dropped an open link.
    case dropped
    /// The deadline of a client's machine was reached: the next dial or ping, or a verdict.
    case deadlineReached
    /// A server that sheds load turned a dial away, and its answer arrived at the client.
    case shed
  }

  /// When it happened.
  package let instant: Instant
  /// Which client it happened to; they are counted from 0.
  package let client: UInt32
  /// What happened.
  package let kind: Kind

  /// Makes an event.
  package init(instant: Instant, client: UInt32, kind: Kind) {
    self.instant = instant
    self.client = client
    self.kind = kind
  }
}

/// How often things happened in a fleet.
package struct FleetCounts: Equatable, Sendable {
  /// All events.
  package internal(set) var events = 0
  /// Dials that clients made.
  package internal(set) var dials = 0
  /// Dials that ended in a refusal.
  package internal(set) var refusals = 0
  /// Links that opened.
  package internal(set) var opens = 0
  /// Pings that clients sent.
  package internal(set) var pings = 0
  /// Pings whose answer arrived.
  package internal(set) var pongs = 0
  /// Links that the server dropped.
  package internal(set) var drops = 0
  /// Links that clients gave up: a dial or a peer that took too long.
  package internal(set) var aborts = 0
}
