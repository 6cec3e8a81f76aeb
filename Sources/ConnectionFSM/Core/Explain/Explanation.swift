/// What the machine waits for, why, and until when: what a status line or a "Retry now" button
/// needs.
public struct Explanation: Equatable, BitwiseCopyable, Sendable {
  /// Where the machine is.
  public let phase: Phase
  /// What it waits for, beyond a wish of the application.
  public let waitsFor: Wait
  /// When it will act by itself; nil while only an event from outside helps.
  public let until: Instant?
  /// What led here: the cause of the last end in this run; nil if there was none.
  public let cause: Cause?
  /// Dials since the last reset, the running one included.
  public let attempt: UInt32

  /// What a machine can wait for.
  public enum Wait: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// Nothing: it is at rest until the next connect.
    case nothing
    /// The transport to open.
    case transport
    /// The session to be ready.
    case session
    /// Silence to last, before a ping is sent.
    case silence
    /// The answer to a ping.
    case pong
    /// Whatever happens to an open link; there is no heartbeat.
    case traffic
    /// What was given to the link to be finished, before it closes.
    case messages
    /// The peer to answer our close.
    case peerToClose
    /// The backoff to be over.
    case retry
    /// The network to come back.
    case network
    /// The credentials provider.
    case credentials
    /// The application to come to the foreground.
    case foreground
    /// The device to wake.
    case device
    /// Somebody to need the connection.
    case demand
  }
}

extension Machine {
  /// What the machine waits for, why, and until when. Every state has an answer.
  public func explain() -> Explanation {
    Explanation(
      phase: phase, waitsFor: wait, until: until, cause: lastCause, attempt: run.attempts)
  }

  private var until: Instant? {
    guard let at = ownDeadline?.at, at != .never else { return nil }
    return at
  }

  private var wait: Explanation.Wait {
    if let primary {
      switch primary.stage {
      case .authorizing: return .credentials
      case .connecting: return .transport
      case .authenticating: return .session
      case .open:
        guard policy.heartbeat != nil else { return .traffic }
        return primary.pingSentAt == nil ? .silence : .pong
      case .draining: return .messages
      case .closing: return .peerToClose
      }
    }
    switch state {
    case .idle, .closed, .linked: return .nothing
    case .offline: return .network
    case .backingOff: return .retry
    case .waitingForCredentials: return .credentials
    case .suspended(let suspended):
      switch suspended.hold {
      case .device: return .device
      case .background: return .foreground
      case .noDemand: return .demand
      }
    }
  }
}
