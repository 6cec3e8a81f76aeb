/// Which lane of the pending-send queue a message travels in; lane 0 is served first.
public struct LaneID: Hashable, BitwiseCopyable, Sendable {
  /// The place of the lane in ``Policy/lanes``.
  public let rawValue: UInt8

  /// Makes a lane id from its place.
  @inlinable
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }
}

/// A message that the machine took: its lane and a sequence that rises by one in that lane.
public struct MessageID: Hashable, Comparable, BitwiseCopyable, Sendable {
  // The lane in the two highest bits, the sequence in the other 62: one word, one comparison.
  @usableFromInline let bits: UInt64

  /// Makes an id of one of the four lanes; the sequence starts at 1 in each.
  @inlinable
  package init(lane: LaneID, sequence: UInt64) {
    bits = UInt64(lane.rawValue & 3) << 62 | (sequence & (1 << 62 - 1))
  }

  private init(bits: UInt64) { self.bits = bits }

  /// The id after this one in its lane, which 2⁶² messages do not fill.
  var next: MessageID { MessageID(bits: bits &+ 1) }

  /// The lane.
  @inlinable
  public var lane: LaneID { LaneID(UInt8(bits >> 62)) }

  /// The place in the lane.
  @inlinable
  public var sequence: UInt64 { bits & (1 << 62 - 1) }

  @inlinable
  public static func < (left: MessageID, right: MessageID) -> Bool { left.bits < right.bits }
}

/// The ids from `first` to `last` of one lane, both included.
///
/// A range may name ids that have ended already (a cancelled message leaves a hole); what is said
/// of a range holds for those of its ids that have not.
public struct MessageRange: Hashable, BitwiseCopyable, Sendable {
  /// The lowest id.
  public let first: MessageID
  /// The highest id, of the same lane.
  public let last: MessageID

  /// Makes a range from its two ends, of one lane and in order.
  @inlinable
  package init(_ first: MessageID, _ last: MessageID) {
    self.first = first
    self.last = last
  }

  /// Whether the range names the id.
  @inlinable
  public func contains(_ id: MessageID) -> Bool { first <= id && id <= last }
}

/// Some of the four lanes.
public struct LaneSet: Hashable, BitwiseCopyable, Sendable {
  private var bits: UInt8 = 0

  init() {}

  /// Whether a lane is among them.
  public func contains(_ lane: LaneID) -> Bool { bits & (1 &<< lane.rawValue) != 0 }

  mutating func insert(_ place: Int) { bits |= 1 &<< UInt8(truncatingIfNeeded: place) }
}
