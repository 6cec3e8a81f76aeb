/// The generation of one attempt: every dial gets the next one, and none is used twice.
///
/// Each answer that comes from outside (a transport, a session, a credentials provider) carries the
/// epoch it belongs to, and an answer of another epoch changes nothing (I2).
public struct Epoch: Hashable, Comparable, BitwiseCopyable, Sendable {
  /// The number; the first attempt has 1.
  public let rawValue: UInt64

  /// Makes an epoch from its number.
  @inlinable
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  @inlinable
  public static func < (left: Epoch, right: Epoch) -> Bool { left.rawValue < right.rawValue }
}

/// Which of the driver's endpoints a dial goes to.
///
/// The core holds the number only; the driver keeps the address behind it.
public struct EndpointID: Hashable, BitwiseCopyable, Sendable {
  /// The number.
  public let rawValue: UInt32

  /// Makes an endpoint id from its number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}
