/// One lane of the pending-send queue: what it promises and how much it holds.
public struct Lane: Equatable, BitwiseCopyable, Sendable {
  /// What is promised of a message once it was taken.
  public enum Delivery: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// Sent on one link only. Ends as written once the system took its last byte, or in doubt if
    /// the link died before that.
    case atMostOnce
    /// Sent again, in order, on each new link until the peer acknowledges it.
    case atLeastOnce
  }

  /// What happens to a message for which there is no room.
  public enum Overflow: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// The new message is rejected at the door.
    case reject
    /// The oldest waiting messages are evicted to make room.
    case dropOldest
  }

  /// Whether messages may wait for a link.
  public enum Admission: UInt8, CaseIterable, BitwiseCopyable, Sendable {
    /// What is offered without an open link waits for one.
    case always
    /// What is offered without an open link is rejected at the door. What an open link cannot take
    /// at once waits; if the link ends before, it waits for the next.
    case whileOpen
  }

  /// The promise.
  public var delivery: Delivery
  /// How long after it was offered a message may still be given to a link; nil for ever. Default 20
  /// s.
  ///
  /// What is with a link when the time passes is left alone. At least once this bounds redelivery
  /// too: a message whose link died after its time ends as in doubt. A dead peer is noticed only
  /// after the heartbeat's interval and timeout, so a lane that is to survive one wants more than
  /// their sum, or nil.
  public var timeToLive: TimeSpan?
  /// How many messages may live in the lane, waiting and in flight together. Default 1000.
  public var countLimit: UInt32
  /// How many payload bytes may live in the lane. Default 8 MiB.
  public var byteLimit: UInt32
  /// What happens when a limit is met. Default reject.
  public var overflow: Overflow
  /// How many messages may be with the transport and not settled. Default 64.
  public var window: UInt32
  /// From how many live messages on the lane is said to be under pressure; by default never.
  public var highWater: UInt32
  /// Down to how many live messages the pressure lasts; below ``highWater``, so that it does not
  /// flicker. Default 0.
  public var lowWater: UInt32
  /// Whether messages may be offered without an open link. Default always.
  public var admission: Admission

  /// Makes a lane.
  public init(
    _ delivery: Delivery,
    timeToLive: TimeSpan? = .seconds(20),
    countLimit: UInt32 = 1000,
    byteLimit: UInt32 = 8 << 20,
    overflow: Overflow = .reject,
    window: UInt32 = 64,
    highWater: UInt32 = .max,
    lowWater: UInt32 = 0,
    admission: Admission = .always
  ) {
    self.delivery = delivery
    self.timeToLive = timeToLive
    self.countLimit = countLimit
    self.byteLimit = byteLimit
    self.overflow = overflow
    self.window = window
    self.highWater = highWater
    self.lowWater = lowWater
    self.admission = admission
  }

  func validate() throws(PolicyError) {
    if let timeToLive { try Policy.requirePositive(timeToLive, "lane.timeToLive") }
    guard (1...1 << 24).contains(countLimit) else {
      throw PolicyError("lane.countLimit", "must be 1 to 16,777,216")
    }
    guard byteLimit > 0 else { throw PolicyError("lane.byteLimit", "must be at least 1") }
    guard window > 0 else { throw PolicyError("lane.window", "must be at least 1") }
    guard highWater > lowWater else {
      throw PolicyError("lane.highWater", "must be above lane.lowWater")
    }
  }
}
