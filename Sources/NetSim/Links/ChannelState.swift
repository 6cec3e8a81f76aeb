package import ConnectionFSM

/// When a piece gets where.
package struct Transit: Equatable, Sendable {
  /// When its last byte has left the bottleneck.
  package var leaves: Instant
  /// When it is there, if nothing of it is lost. Not in order: what is drawn late is overtaken, and
  /// the receiver's TCP makes the later piece wait for the earlier one.
  package var arrives: Instant

  package init(leaves: Instant, arrives: Instant) {
    self.leaves = leaves
    self.arrives = arrives
  }
}

/// One direction of a link as it runs: its streams of chance, its queue, its radio.
package struct ChannelState: Sendable {
  /// Beyond any ladder of retransmissions.
  package static let mostLosses = 512

  private let channel: Channel
  private var latencies: RandomStream
  private var lossState: LossState
  private var spikes: SpikeState?
  private let permanent: TimeSpan
  /// When the last byte that was handed over has left the bottleneck.
  private var freeAt = Instant.longAgo
  /// When the radio is awake.
  private var awakeAt = Instant.longAgo
  private var lastUse = Instant.longAgo

  /// A direction at rest. The name tells its streams of chance from those of every other direction
  /// of the same seed, as in `link/3/up`.
  package init(_ channel: Channel, seed: UInt64, name: String) {
    self.channel = channel
    latencies = RandomStream(seed: seed, name: name + "/latency")
    lossState = LossState(channel.loss, stream: RandomStream(seed: seed, name: name + "/loss"))
    spikes = channel.spikes.map {
      SpikeState($0, stream: RandomStream(seed: seed, name: name + "/spikes"))
    }
    var pair = RandomStream(seed: seed, name: name + "/pair")
    permanent = channel.latency.pairwise.map { pair.span(in: $0) } ?? .zero
  }

  /// A piece of so many bytes is handed over.
  package mutating func send(byteCount: Int, at now: Instant) -> Transit {
    wake(at: now)
    let start = max(now, max(freeAt, awakeAt))
    let leaves = start + (channel.rate?.time(forBytes: byteCount) ?? .zero)
    freeAt = leaves
    use(at: leaves)
    return Transit(leaves: leaves, arrives: leaves + travel(from: leaves))
  }

  /// How long a packet without payload takes (SYN, ACK, FIN): it waits behind what is queued, and
  /// takes no time of the bottleneck for itself.
  package mutating func delay(at now: Instant) -> TimeSpan {
    wake(at: now)
    let leaves = max(now, max(freeAt, awakeAt))
    use(at: leaves)
    return (leaves - now) + travel(from: leaves)
  }

  /// The other direction was used: the radio of a device is one for both.
  package mutating func shareRadio(with other: ChannelState) { use(at: other.lastUse) }

  /// When the queue has room again for so many bytes; nil: now. A piece that is larger than the
  /// whole queue has room in an empty one.
  package func roomAt(byteCount: Int, now: Instant) -> Instant? {
    guard let rate = channel.rate, let buffer = channel.buffer else { return nil }
    // What may still be queued then, as the time it takes.
    let rest = rate.time(forBytes: max(0, buffer) - max(0, byteCount))
    guard freeAt - max(now, awakeAt) > rest else { return nil }
    return freeAt + (.zero - rest)
  }

  /// How many times in a row a piece is lost before it gets through, ``mostLosses`` at most.
  package mutating func losses() -> Int {
    var count = 0
    while count < Self.mostLosses, losesNext() { count += 1 }
    return count
  }

  /// Whether packets can be lost at all.
  var isLossy: Bool { channel.loss != .none }

  /// Whether the next packet is lost.
  package mutating func losesNext() -> Bool { lossState.losesNext() }

  private mutating func wake(at now: Instant) {
    guard let wakeUp = channel.wakeUp else { return }
    if now - lastUse >= wakeUp.idle { awakeAt = now + wakeUp.promotion }
  }

  private mutating func use(at instant: Instant) { lastUse = max(lastUse, instant) }

  private mutating func travel(from leaves: Instant) -> TimeSpan {
    var span = permanent + channel.latency.shape.draw(from: &latencies)
    if channel.latency.jitter > .zero {
      let jitter = channel.latency.jitter
      span = span - jitter + latencies.span(through: jitter + jitter)
    }
    return max(.zero, span) + (spikes?.hold(at: leaves) ?? .zero)
  }
}
