extension Machine {
  /// What the device and its network said last.
  struct Surroundings: Equatable, BitwiseCopyable, Sendable {
    var reportedAt = Instant.origin
    var lifecycleSince = Instant.origin
    var demandSince = Instant.origin
    /// The path that counts.
    var path = Path.unknown
    /// The path as it was reported last; counts once it has stood for ``PathPolicy/debounce``.
    var reportedPath = Path.unknown
    var lifecycle = Lifecycle.foreground
    var demand = true
  }

  /// What is forgotten together, when a link proved stable and when the user connects.
  struct Run: Equatable, BitwiseCopyable, Sendable {
    /// The wait drawn last: decorrelated jitter draws from it.
    var lastWait = TimeSpan.zero
    /// Time spent on dials and waits; holds and a path that is down are free.
    var spent = TimeSpan.zero
    /// Before this instant nobody but the user dials: the minimum delay of a verdict.
    var notBefore = Instant.origin
    /// When the outage began; `never` if nothing failed.
    var failingSince = Instant.never
    /// Dials; probes of a path that is down are not counted.
    var attempts: UInt32 = 0
    // Two counts, so that a regained path forgets only what was the network's fault.
    var networkFailures: UInt32 = 0
    var otherFailures: UInt32 = 0
    /// Retries spent on causes whose verdict caps them.
    var cappedRetries: UInt8 = 0
    /// Dials in a row that the connect deadline cut.
    var connectTimeouts: UInt8 = 0
    /// Endpoints of the list that failed since the last wait of the backoff.
    var endpointsTried: UInt8 = 0
    /// A verdict's one retry with fresh credentials was spent.
    var refreshedCredentials = false
    /// The outage has outlasted ``Patience/fastFor``.
    var isSlow = false

    var failures: UInt32 {
      let (sum, overflow) = networkFailures.addingReportingOverflow(otherFailures)
      return overflow ? .max : sum
    }
  }

  /// The endpoints of the list and whose turn it is.
  struct Endpoints: Equatable, BitwiseCopyable, Sendable {
    var first = EndpointID(0)
    var count: UInt8 = 1
    /// How far the round is; 0 is the preferred one.
    var turn: UInt8 = 0
    // The order of the round: start, start + stride, start + 2 stride … around the list. A stride
    // that shares no divisor with the count meets every endpoint once.
    var start: UInt8 = 0
    var stride: UInt8 = 1

    /// The endpoint whose turn it is.
    var current: EndpointID {
      let place = (UInt32(start) + UInt32(turn) * UInt32(stride)) % UInt32(max(count, 1))
      return EndpointID(first.rawValue &+ place)
    }

    mutating func advance() { turn = turn &+ 1 >= count ? 0 : turn &+ 1 }

    mutating func shuffle(using random: inout SplitMix64) {
      guard count > 1 else { return }
      start = UInt8(truncatingIfNeeded: random.next(through: UInt64(count) - 1))
      repeat {
        stride = 1 + UInt8(truncatingIfNeeded: random.next(through: UInt64(count) - 2))
      } while !isCoprime(stride)
    }

    func isCoprime(_ stride: UInt8) -> Bool {
      var (large, small) = (count, stride)
      while small > 0 { (large, small) = (small, large % small) }
      return large == 1
    }
  }

  /// What is planned for the open link beside its heartbeat; `never` where nothing is.
  struct Plans: Equatable, BitwiseCopyable, Sendable {
    /// When the next beat of the application is due.
    var beatAt = Instant.never
    /// When the next burst of the backlog leaves.
    var burstAt = Instant.never
    /// When a replacement is dialled.
    var replaceAt = Instant.never
    /// How many messages had been sent when the last beat was due.
    var sentAtBeat: UInt32 = 0
    /// The turn of the endpoint that the link is open to; a replacement takes the next turns.
    var turn: UInt8 = 0
    /// The replacement goes to another endpoint of the list: this one asked to be left.
    var avoidsEndpoint = false
    /// When to replace it was drawn for a notice or after a failure; its age has no say any more.
    var isReplacementDrawn = false
    /// Replacements that failed since the link opened.
    var failedReplacements: UInt8 = 0
  }

  /// What the heartbeat comes to: the policy's, shortened by what was learned and stretched for the
  /// path. Kept, since it is asked for after every transition.
  struct Rhythm: Equatable, BitwiseCopyable, Sendable {
    /// The silence after which a ping is sent; without a heartbeat it never ends.
    var interval = TimeSpan.endless
    /// How long an answer may take.
    var timeout = TimeSpan.endless
    var anyByteCounts = true
    var isServerDriven = false
  }

  /// The round trip, smoothed as RFC 6298 section 2 does, in microseconds; 0 until the first
  /// answer. How far it strays is in the statistics of a trace: nothing here depends on it.
  struct RoundTrip: Equatable, BitwiseCopyable, Sendable {
    var smoothed: UInt32 = 0

    mutating func take(_ sample: TimeSpan) {
      let measured = UInt32(clamping: max(1, sample.nanoseconds / 1000))
      smoothed = smoothed == 0 ? measured : smoothed - smoothed / 8 + measured / 8
    }
  }
}
