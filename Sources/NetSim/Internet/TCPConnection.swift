import ConnectionFSM

/// A connection between two hosts, from the first packet of its dial until both ends are gone.
struct TCPConnection: Sendable {
  /// How far one end has come.
  enum Stage: Sendable {
    /// The client dials; the server's end does not exist yet.
    case dialling
    /// The server has answered a dial and waits for the client's word that it heard (SYN-RECEIVED).
    case greeting
    /// The server's end waits in the accept queue.
    case queued
    case open
    /// The program has let go; the system still sends what it was given.
    case orphaned
    /// Nothing is left of it.
    case gone
  }

  /// One end.
  struct End: Sendable {
    let host: HostID
    var stage: Stage
    /// What the next call of the program is told, once (`SO_ERROR`).
    var pendingError: Cause?
    /// A reset has arrived, or the system gave up.
    var isDead = false
    /// What every further write is told.
    var writeFailure: Cause?
    /// Whether the program has an occurrence ahead of it that says the same.
    var readableIsAhead = false
    /// The program is a script of the service.
    var script: ScriptState?
  }

  /// What becomes of packets on the way.
  enum Passage: Sendable {
    case open
    /// They vanish.
    case severed
    /// They are answered with a reset.
    case forgotten
  }

  var generation: UInt32
  let port: UInt16
  let link: Int
  /// The interface of the client's host that it runs over.
  let interface: Int
  var client: End
  var server: End
  /// From the client to the server.
  var up: Pipe
  var down: Pipe
  var passage = Passage.open
  var reapers: [ReaperState]
  /// When the dial began; for a device that slept meanwhile, so much later.
  var dialledAt: Instant
  /// When the server answered first.
  var greetedAt = Instant.longAgo

  subscript(side: Side) -> End {
    _read {
      switch side {
      case .client: yield client
      case .server: yield server
      }
    }
    _modify {
      switch side {
      case .client: yield &client
      case .server: yield &server
      }
    }
  }

  /// The direction in which that side sends.
  subscript(from side: Side) -> Pipe {
    _read {
      switch side {
      case .client: yield up
      case .server: yield down
      }
    }
    _modify {
      switch side {
      case .client: yield &up
      case .server: yield &down
      }
    }
  }
}

/// How far a scripted server has come.
struct ScriptState: Sendable {
  let acts: [ServerAct]
  var next = 0
  /// A wait is running.
  var isWaiting = false
  /// How much of the running `send` the system has taken.
  var sent = 0
}
