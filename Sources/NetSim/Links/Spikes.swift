public import ConnectionFSM

/// Moments at which a link stands still.
///
/// What leaves the bottleneck meanwhile goes on when the moment is over. So the first packet is
/// late by all of it, the next ones by what is left, and nothing overtakes.
public enum Spikes: Equatable, Sendable {
  /// At the start of each period, counted from `Instant.origin`, and, if `closing` is not zero,
  /// at its end. Starlink allots its satellites anew every 15 s: 140 ms at the start and 75 ms at
  /// the end of each period are late (arXiv 2601.08439).
  case periodic(every: TimeSpan, opening: TimeSpan, closing: TimeSpan = .zero)
  /// At random (a Poisson process), so far apart on average and each so long.
  case poisson(meanGap: TimeSpan, hold: TimeSpan)
}

/// The spikes of one direction of a link.
struct SpikeState: Sendable {
  private let spikes: Spikes
  private var stream: RandomStream
  /// When the latest known spike starts, if they come at random.
  private var start = Instant.longAgo

  init(_ spikes: Spikes, stream: RandomStream) {
    self.spikes = spikes
    self.stream = stream
  }

  /// How long a packet is held that leaves the bottleneck at this instant.
  mutating func hold(at instant: Instant) -> TimeSpan {
    switch spikes {
    case .periodic(let every, let opening, let closing):
      let period = max(1, every.nanoseconds)
      let remainder = instant.nanoseconds % period
      let phase = TimeSpan.nanoseconds(remainder < 0 ? remainder + period : remainder)
      if phase < opening { return opening - phase }
      let closingStart = .nanoseconds(period) - closing
      return phase < closingStart ? .zero : .nanoseconds(period) - phase
    case .poisson(let meanGap, let hold):
      // Where nobody was, spikes need not be known: a Poisson process has no memory, and goes on
      // from the earliest start that could still be felt. So there is one draw at most.
      if start <= instant + (.zero - hold) {
        let mean = max(.nanoseconds(1), meanGap)
        start = instant + (.zero - hold) + stream.exponential(mean: mean)
      }
      return start <= instant ? max(.zero, start + hold - instant) : .zero
    }
  }
}
