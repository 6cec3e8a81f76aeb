extension Machine {
  /// What the machine does. While a link exists the state is `linked` and ``Link/stage`` says the
  /// rest, so that there is one truth; the other cases hold just the facts of their own.
  ///
  /// ```
  ///            connect              opened           session ready           close
  ///   idle ───────────▶ connecting ───────▶ authenticating ───▶ open ──────────▶ closing ──▶
  ///   closed
  ///    │                 │   ▲   ▲             │                │ failed, closed,   ▲  closed,
  ///    │ unreachable     │   │   └──────────┐  │ refused        │ heartbeat         │  time-out
  ///    ▼                 │   │ deadline,    │  ▼                ▼ timed out         │
  ///  offline ────────────┼───┘ reachable   backingOff ◀─────────                    │
  ///    ▲  reachable,     │ failed, time-out ▲ │                                     │
  ///    │  probe          └──────────────────┘ │          every state ── close ──────┘
  ///    └───────────────── unreachable ────────┘          (no transport: straight to closed)
  /// ```
  public enum State: Hashable, BitwiseCopyable, Sendable {
    /// Never asked to connect. Leads to any state that seeks a link, or to closed.
    case idle
    /// Leads to backingOff (path back), linked (probe, connect), suspended, closed.
    case offline(Offline)
    /// Leads to linked, waitingForCredentials, offline, suspended, closed.
    case backingOff(BackingOff)
    /// Leads to linked, backingOff, offline, suspended, closed.
    case waitingForCredentials(WaitingForCredentials)
    /// Leads to any state that seeks a link, or to closed.
    case suspended(Suspended)
    /// A link exists; see ``Machine/primary``. Leads to any state but idle.
    case linked
    /// Leads to any state that seeks a link.
    case closed(Closed)
  }

  /// Dials are held because the path is said to be down.
  public struct Offline: Hashable, BitwiseCopyable, Sendable {
    /// When the hold began; ``PathPolicy/probeInterval`` later one dial is tried all the same.
    public let since: Instant
  }

  /// The next dial waits for its time.
  public struct BackingOff: Hashable, BitwiseCopyable, Sendable {
    /// How patient the machine has become.
    public enum Tier: UInt8, CaseIterable, BitwiseCopyable, Sendable {
      /// Ordinary retries.
      case fast
      /// Rare retries in a long outage (``Patience``); no messages are held.
      case slow
    }

    /// When the next dial is due: drawn once, so it is a fact.
    public let until: Instant
    /// How patient the machine has become.
    public let tier: Tier
  }

  /// The credentials provider was asked for the attempt of the newest epoch.
  public struct WaitingForCredentials: Hashable, BitwiseCopyable, Sendable {
    /// When the provider was asked.
    public let since: Instant
  }

  /// The machine may not dial.
  public struct Suspended: Hashable, BitwiseCopyable, Sendable {
    /// Who holds it.
    public enum Hold: UInt8, CaseIterable, BitwiseCopyable, Sendable {
      /// The device sleeps or is about to.
      case device
      /// The application is in the background.
      case background
      /// Nobody needs the connection.
      case noDemand
    }

    /// Who holds it.
    public let hold: Hold
  }

  /// Over, until the next connect.
  public struct Closed: Hashable, BitwiseCopyable, Sendable {
    /// Why the machine stopped trying.
    public enum Reason: UInt8, CaseIterable, BitwiseCopyable, Sendable {
      /// The application closed.
      case requested
      /// The cause is terminal.
      case terminal
      /// The attempt limit was met, or the elapsed limit.
      case exhausted
    }

    /// The cause that led here; of several dials, the last one's.
    public let cause: Cause
    /// Why the machine stopped trying.
    public let reason: Reason
  }
}
