import ConnectionFSM

/// Every kind of input, by its name in the transition table.
///
/// What the machine treats differently by its payload or its time alone is a kind of its own: a
/// failure by its class, an offer by its lane, a deadline by how late it comes.
package enum InputKind: String, CaseIterable, Sendable {
  case connect
  case connectElsewhere = "connect elsewhere"
  case close
  case offerOnce = "offer at most once"
  case offer = "offer at least once"
  case cancel
  case noDemand = "no demand"
  case demand
  case foreground
  case background
  case suspend = "device suspends"
  case pathUnknown = "path unknown"
  case pathUp = "path up"
  case pathDown = "path down"
  case earlyDeadline = "early deadline"
  case deadline
  case lateDeadline = "very late deadline"
  case credentials
  case noCredentials = "no credentials now"
  case credentialsRefused = "credentials refused"
  case opened
  case failed
  case networkFailed = "network failed"
  case failedForGood = "failed for good"
  case closedByPeer = "closed by peer"
  case received
  case pong
  case written
  case acknowledged
  case blocked
  case writable
  case sessionReady = "session ready"
  case sessionRefused = "session refused"
  case stale = "answer of an older attempt"
}

extension InputKind {
  /// An input of this kind for a machine as it stands.
  func input(for subject: TableSubject) -> Input {
    let epoch = subject.epoch
    switch self {
    case .connect: return .connect(subject.endpoint)
    case .connectElsewhere: return .connect(EndpointID(1 - subject.endpoint.rawValue))
    case .close: return .close
    case .offerOnce: return .offer(LaneID(0), byteCount: 1)
    case .offer: return .offer(LaneID(1), byteCount: 1)
    case .cancel: return .cancel(subject.last[1])
    case .noDemand: return .demandChanged(false)
    case .demand: return .demandChanged(true)
    case .foreground: return .lifecycleChanged(.foreground)
    case .background: return .lifecycleChanged(.background)
    case .suspend: return .lifecycleChanged(.suspended)
    case .pathUnknown: return .pathChanged(.unknown)
    case .pathUp: return .pathChanged(.up)
    case .pathDown: return .pathChanged(.down)
    case .earlyDeadline, .deadline, .lateDeadline: return .deadlineReached
    case .credentials: return .credentials(epoch, .available)
    case .noCredentials: return .credentials(epoch, .unavailable)
    case .credentialsRefused: return .credentials(epoch, .refused)
    case .opened: return .transport(epoch, .opened)
    case .failed: return .transport(epoch, .failed(.system(.connectionReset)))
    case .networkFailed: return .transport(epoch, .failed(.system(.networkUnreachable)))
    case .failedForGood: return .transport(epoch, .failed(.system(.accessDenied)))
    case .closedByPeer: return .transport(epoch, .closed(nil))
    case .received: return .transport(epoch, .received(byteCount: 1))
    case .pong: return .transport(epoch, .pong(1))
    case .written: return .transport(epoch, .written(through: subject.last[0]))
    case .acknowledged: return .transport(epoch, .acknowledged(through: subject.last[1]))
    case .blocked: return .transport(epoch, .writabilityChanged(false))
    case .writable: return .transport(epoch, .writabilityChanged(true))
    case .sessionReady: return .session(epoch, .ready)
    case .sessionRefused: return .session(epoch, .refused(.denied))
    case .stale: return .transport(Epoch(0), .opened)
    }
  }

  /// When an input of this kind happens to a machine as it stands.
  func instant(for subject: TableSubject) -> Instant {
    let due = max(subject.now, subject.machine.nextDeadline ?? subject.now)
    if self == .deadline { return due }
    // Later than any span of the policies: what was due before a long sleep.
    return self == .lateDeadline ? due + .seconds(3600) : subject.now
  }
}
