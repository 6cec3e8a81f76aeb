import ConnectionFSM

/// A machine on the ``Internet``.
struct Host: Sendable {
  let name: String
  /// Its addresses, the preferred one first.
  let addresses: [String]
  var system: OperatingSystem
  var interfaces: [Interface]
  /// The one that new dials leave by; nil while there is none.
  var active: Int? = 0
  /// What its ports serve; looked up, never walked through.
  var listeners: [UInt16: Listener] = [:]
  /// The boxes in front of it.
  var reapers: [IdleReaper] = []
  /// A device asleep, or a machine without power: no packet reaches it, none leaves it.
  var isUnreachable = false
  /// Since when the device sleeps, and its system's timers stand still.
  var asleepSince: Instant?
  /// So many sockets it may have at a time.
  var descriptorLimit: Int?
  var sockets = 0
  /// What every dial is told at once.
  var localFailure: SystemError?
  /// Whoever answers in place of every host that is dialled, until the login.
  var portal: HostID?
}

/// A way out of a host.
struct Interface: Sendable {
  var name: String
  /// The device's own number of it, as reported in a ``Path``.
  let number: UInt16
  var profile: LinkProfile
  var isUp = true
}

/// A port that is served.
struct Listener: Sendable {
  var service: Service
  /// Connections that the program has not accepted.
  var queue: [SocketID] = []
  /// When the work on the handshakes before is done.
  var freeAt = Instant.longAgo

  // Found at once as a rule: programs take the oldest.
  mutating func unqueue(_ socket: SocketID) {
    if let place = queue.firstIndex(of: socket) { queue.remove(at: place) }
  }
}

/// The running state of the way between an interface and another host.
struct LinkState: Sendable {
  var up: ChannelState
  var down: ChannelState

  subscript(from side: Side) -> ChannelState {
    _read {
      switch side {
      case .client: yield up
      case .server: yield down
      }
    }
    _modify {
      switch side {
      case .client:
        yield &up
        down.shareRadio(with: up)
      case .server:
        yield &down
        up.shareRadio(with: down)
      }
    }
  }
}

/// What keeps packets from one host to another.
struct Block: Sendable {
  /// Nil is everybody.
  let from: HostID?
  let to: HostID?
  let mode: BlockMode

  func covers(_ from: HostID, _ to: HostID) -> Bool {
    (self.from == nil || self.from == from) && (self.to == nil || self.to == to)
  }
}

/// What happens to packets that are kept from their way.
public enum BlockMode: Sendable {
  /// They are lost: what is repaired is felt at the next retransmission.
  case drop
  /// They are held, and delivered all at once when released.
  case hold
}

/// What the resolver knows of a name.
struct NameRecord: Sendable {
  enum Answer: Sendable {
    case addresses([String])
    /// There is no such name, at once.
    case unknown
    /// No answer, until the resolver gives up.
    case silence
  }

  var answer: Answer
  /// What was true before, and until when it is still told.
  var stale: (answer: Answer, until: Instant)?
  /// How much longer than usual an answer takes.
  var delay = TimeSpan.zero
}
