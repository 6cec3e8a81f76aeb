import ConnectionFSM

/// Every kind of input, for coverage: what the machine tells apart by its case, by a sign of its
/// payload, or by its time.
enum InputWord: Int, CaseIterable, Sendable {
  case connect, connectElsewhere, close, drain, offer, cancel, resized
  case demand, noDemand, foreground, background, deviceSuspends, pathUp, pathDown, pathUnknown
  case earlyDeadline, deadline, lateDeadline
  case credentials, noCredentials, credentialsRefused
  case opened, failed, closed, received, pong, written, acknowledged, writable, blocked
  case viable, notViable, drainRequested, betterPath
  case sessionReady, sessionResumed, resumeRefused, sessionRefused
  case staleAnswer

  /// Its name in lists: “late deadline”.
  var name: String {
    var name = ""
    for letter in "\(self)" {
      if letter.isUppercase { name += " " }
      name += letter.lowercased()
    }
    return name
  }

  /// From a second on a deadline is late, as the machine has it.
  private static let late = TimeSpan.seconds(1)

  /// The kind of an input, as it came to a machine that wanted to be woken when it was due.
  init(
    _ input: Input, _ disposition: Disposition, at now: Instant, due: Instant?, isElsewhere: Bool
  ) {
    if disposition == .ignored(.staleEpoch) {
      self = .staleAnswer
      return
    }
    switch input {
    case .connect: self = isElsewhere ? .connectElsewhere : .connect
    case .close: self = .close
    case .drain: self = .drain
    case .offer: self = .offer
    case .cancel: self = .cancel
    case .resized: self = .resized
    case .demandChanged(let demand): self = demand ? .demand : .noDemand
    case .lifecycleChanged(.foreground): self = .foreground
    case .lifecycleChanged(.background): self = .background
    case .lifecycleChanged(.suspended): self = .deviceSuspends
    case .pathChanged(let path):
      switch path.status {
      case .up: self = .pathUp
      case .down: self = .pathDown
      case .unknown: self = .pathUnknown
      }
    // A replacement of the policy is no part of any story.
    case .policyReplaced: self = .deadline
    case .deadlineReached:
      guard let due, due <= now else {
        self = .earlyDeadline
        return
      }
      self = now - due >= Self.late ? .lateDeadline : .deadline
    case .credentials(_, .available): self = .credentials
    case .credentials(_, .unavailable): self = .noCredentials
    case .credentials(_, .refused): self = .credentialsRefused
    case .session(_, .ready): self = .sessionReady
    case .session(_, .resumed): self = .sessionResumed
    case .session(_, .resumeRefused): self = .resumeRefused
    case .session(_, .refused): self = .sessionRefused
    case .transport(_, let event): self.init(event)
    }
  }

  private init(_ event: TransportEvent) {
    switch event {
    case .opened: self = .opened
    case .failed: self = .failed
    case .closed: self = .closed
    case .received: self = .received
    case .pong: self = .pong
    case .written: self = .written
    case .acknowledged: self = .acknowledged
    case .writabilityChanged(let writable): self = writable ? .writable : .blocked
    case .viabilityChanged(let viable): self = viable ? .viable : .notViable
    case .drainRequested: self = .drainRequested
    case .betterPathAvailable: self = .betterPath
    }
  }
}
