public import ConnectionFSM

/// When TCP sends again what was not acknowledged, and when it gives up.
///
/// The waits between tries: the first one so many times more (the linear part), then doubled each
/// time up to the longest one.
public struct RetransmissionLadder: Equatable, Sendable {
  /// How long TCP waits for the first acknowledgement. At least a nanosecond.
  public var first: TimeSpan
  /// The longest wait between two tries.
  public var longest: TimeSpan
  /// How many tries there are after the first one, not counting those of the linear part.
  public var retries: UInt8
  /// How many more tries come at the pace of the first one, before the waits are doubled.
  public var linear: UInt8
  /// When TCP gives up at the latest; nil: when the wait after the last try is over.
  public var limit: TimeSpan?

  /// Makes a ladder.
  public init(
    first: TimeSpan,
    longest: TimeSpan = .seconds(120),
    retries: UInt8,
    linear: UInt8 = 0,
    limit: TimeSpan? = nil
  ) {
    self.first = first
    self.longest = longest
    self.retries = retries
    self.linear = linear
    self.limit = limit
  }
}

// MARK: Known systems

extension RetransmissionLadder {
  /// Data on Linux: from 0.2 s, the shortest time-out, to 120 s, 15 retries; given up after 924.6 s
  /// (kernel documentation ip-sysctl, `tcp_retries2`). A connection starts with its own time-out.
  public static let data = RetransmissionLadder(first: .milliseconds(200), retries: 15)

  /// A SYN on Linux: after 1, 3, 7, 15, 31 and 63 s; given up after 127 s (`tcp_syn_retries` 6).
  public static let synLinux = RetransmissionLadder(first: .seconds(1), retries: 6)

  /// A SYN on Linux 6.5 and later: 1, 2, 3, 4 and 5 s, then doubled; given up after 131 s
  /// (`tcp_syn_linear_timeouts` 4).
  public static let synLinuxLinear = RetransmissionLadder(
    first: .seconds(1), retries: 6, linear: 4)

  /// A SYN on Darwin: the table `tcp_syn_backoff` of BSD (1, 1, 1, 1, 1, 2, 4, 8, 16, 32 s), given
  /// up after 75 s (`net.inet.tcp.keepinit`).
  public static let synDarwin = RetransmissionLadder(
    first: .seconds(1), retries: 6, linear: 4, limit: .seconds(75))

  /// The answer to a SYN on Linux: given up after 63 s (`tcp_synack_retries` 5).
  public static let synAck = RetransmissionLadder(first: .seconds(1), retries: 5)

  /// The same ladder with another first wait: the time-out that follows from a connection's round
  /// trips.
  ///
  /// It has the retries that last as long as those of the ladder before: Linux counts time, and
  /// gives up at the first time-out that is not before 924.6 s.
  public func starting(at first: TimeSpan) -> RetransmissionLadder {
    var ladder = self
    ladder.first = first
    ladder.retries = .max
    var sum = TimeSpan.zero
    var wait = ladder.start
    let end = giveUp
    for number in 0..<ladder.waits {
      sum = sum + wait
      if number >= Int(linear) { wait = ladder.doubled(wait) }
      guard sum < end else {
        ladder.retries = UInt8(max(0, number - Int(linear)))
        break
      }
    }
    return ladder
  }
}

// MARK: Instants

extension RetransmissionLadder {
  /// How many waits there are; the last one ends in giving up.
  private var waits: Int { Int(retries) + Int(linear) + 1 }

  /// How long after the first try the one comes that gets through, if so many tries were lost;
  /// when TCP gives up if they were too many.
  package func wait(afterLosses count: Int) -> TimeSpan {
    var sum = TimeSpan.zero
    var wait = start
    for number in 0..<min(max(0, count), waits) {
      sum = sum + wait
      if number >= Int(linear) { wait = doubled(wait) }
    }
    return limit.map { min(sum, $0) } ?? sum
  }

  /// The first try that comes strictly later than so long after the first one; nil: there is none.
  package func next(after elapsed: TimeSpan) -> TimeSpan? {
    guard elapsed >= .zero else { return .zero }
    let end = giveUp
    var sum = TimeSpan.zero
    var wait = start
    for number in 0..<waits - 1 {
      sum = sum + wait
      if sum >= end { return nil }
      if sum > elapsed { return sum }
      if number >= Int(linear) { wait = doubled(wait) }
    }
    return nil
  }

  /// How long after the first try TCP gives up.
  package var giveUp: TimeSpan { wait(afterLosses: waits) }

  private var start: TimeSpan { min(max(.nanoseconds(1), first), ceiling) }
  private var ceiling: TimeSpan { max(.nanoseconds(1), longest) }
  private func doubled(_ wait: TimeSpan) -> TimeSpan { min(wait + wait, ceiling) }
}
