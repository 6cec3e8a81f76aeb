import ConnectionFSM

// Why a cell can never be met. Each reason is one that some judge enforces at every step of every
// run: the referee that an answer of no live attempt is stale (I2), that nothing is given to a link
// which is not open, and that no phase leads where the design's diagram does not (I7).

extension Cells.Cell {
  /// Why no story can meet it; nil if one can.
  /// - Parameter overBytes: Whether a connection that ships stands between the story and the
  ///   machine.
  func reason(overBytes: Bool) -> String? {
    switch self {
    case .input(let word, let phase):
      word.reason(in: phase) ?? (overBytes ? word.reasonOverBytes(in: phase) : nil)
    case .step(let word, let phase):
      word == "net.heal" && phase == .idle ? "a story connects before all is well" : nil
    case .change(let one, let two, let three): Self.reason(one, two, three)
    }
  }

  private static func reason(_ one: Phase, _ two: Phase, _ three: Phase) -> String? {
    for (from, to) in [(one, two), (two, three)] {
      if from == to { return "a phase is not left for itself" }
      if !from.leads(to: to) || from.isLeft(for: to) == false {
        return "\(from) does not lead to \(to)"
      }
    }
    let hasCredentials = one == .waitingForCredentials || three == .waitingForCredentials
    if two == .connecting, three == .waitingForCredentials, one != .open {
      return "where credentials are asked for, they are before every dial"
    }
    if hasCredentials, one == .waitingForCredentials, three == .connecting {
      return "where credentials are asked for, they are before every dial"
    }
    if one == .connecting && two == .open && three == .authenticating
      || one == .authenticating && two == .connecting && three == .open
    {
      return "where there is a session, every link begins it"
    }
    if one == .idle && two == .suspended && three == .backingOff {
      return "nothing was dialled that the first dial could keep its distance from"
    }
    return nil
  }
}

extension Phase {
  /// Whether one step leads from here to there, of what the diagram admits: who has nothing behind
  /// it to wait for seeks its link at once.
  fileprivate func isLeft(for next: Phase) -> Bool {
    switch (self, next) {
    // The application asks for the dial: neither a path nor the last failure holds it.
    case (.idle, .offline), (.idle, .backingOff), (.closed, .offline), (.closed, .backingOff):
      false
    case _: true
    }
  }
}

extension InputWord {
  /// Why it cannot come in a phase; nil if it can.
  fileprivate func reason(in phase: Phase) -> String? {
    switch self {
    case .connect, .connectElsewhere, .close, .drain, .offer, .cancel, .resized, .demand,
      .noDemand, .foreground, .background, .deviceSuspends, .pathUp, .pathDown, .pathUnknown,
      .earlyDeadline, .staleAnswer:
      return nil
    case .deadline, .lateDeadline: return nil
    case .credentials, .noCredentials, .credentialsRefused:
      return phase == .waitingForCredentials ? nil : Self.noAttempt(in: phase)
    case .written, .acknowledged:
      if phase == .connecting || phase == .authenticating {
        return "nothing is given to a link that is not open"
      }
      return Self.noLink(in: phase)
    case .opened, .failed, .closed, .received, .pong, .writable, .blocked, .viable, .notViable,
      .drainRequested, .betterPath, .sessionReady, .sessionResumed, .resumeRefused,
      .sessionRefused:
      return Self.noLink(in: phase)
    }
  }

  /// Why a link over a stream never says it in a phase.
  fileprivate func reasonOverBytes(in phase: Phase) -> String? {
    switch self {
    case .staleAnswer: "a link that is let go of says nothing more"
    case .closed, .received, .pong, .blocked, .writable:
      phase == .connecting ? "a link says that it is open before anything else" : nil
    case .opened: phase == .closing ? "a link opens once, and closes in order after that" : nil
    case _: nil
    }
  }

  private static func noAttempt(in phase: Phase) -> String? {
    switch phase {
    case .idle, .offline, .backingOff, .suspended, .closed:
      "no attempt is under way: it is an answer of an older one"
    case .waitingForCredentials, .connecting, .authenticating, .open, .closing: nil
    }
  }

  private static func noLink(in phase: Phase) -> String? {
    phase == .waitingForCredentials ? "nothing is dialled yet" : noAttempt(in: phase)
  }
}
