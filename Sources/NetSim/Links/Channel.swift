public import ConnectionFSM

/// One direction of a link: what is configured.
///
/// Links carry the bytes of connections, not packets: a loss is a wait, and a queue that is full
/// makes the sender wait.
public struct Channel: Equatable, Sendable {
  /// How long a packet is under way.
  public var latency: Latency
  /// How fast bytes get through the narrowest place; nil: however many at once.
  public var rate: DataRate?
  /// How many bytes the queue before the narrowest place holds; nil: any number. TCP waits for
  /// room, no byte is lost. Without a rate there is no queue.
  public var buffer: Int?
  /// How packets are lost.
  public var loss: Loss
  /// Moments at which the link stands still.
  public var spikes: Spikes?
  /// What it costs to wake the radio; nil where there is none.
  public var wakeUp: RadioWakeUp?

  /// Makes a direction of a link.
  public init(
    latency: Latency,
    rate: DataRate? = nil,
    buffer: Int? = nil,
    loss: Loss = .none,
    spikes: Spikes? = nil,
    wakeUp: RadioWakeUp? = nil
  ) {
    self.latency = latency
    self.rate = rate
    self.buffer = buffer
    self.loss = loss
    self.spikes = spikes
    self.wakeUp = wakeUp
  }
}

/// What it costs to wake a radio that has been idle: a mobile network takes back the channel of a
/// device that sends nothing, and grants a new one on demand (LTE: below 100 ms from idle, below
/// 50 ms from dormant; hpbn.co chapter 7).
public struct RadioWakeUp: Equatable, Sendable {
  /// After how long without a packet the radio sleeps.
  public var idle: TimeSpan
  /// How long the first packet then waits, and what comes behind it.
  public var promotion: TimeSpan

  /// Makes a wake-up.
  public init(idle: TimeSpan, promotion: TimeSpan) {
    self.idle = idle
    self.promotion = promotion
  }
}
