/// A small seeded generator whose output never changes with the compiler.
///
/// The standard library documents that the algorithms behind `random(in:using:)` may change, so
/// that a seed would not replay. Algorithm: Steele, Lea, Flood, "Fast Splittable Pseudorandom
/// Number Generators", OOPSLA 2014.
public struct SplitMix64: Hashable, BitwiseCopyable, Sendable {
  /// The whole state.
  public private(set) var state: UInt64

  /// Makes a generator; equal seeds give equal series.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 to `bound`, both included, each as likely as the other to within 2⁻⁶⁴.
  ///
  /// One draw a call: multiply and keep the high word (Lemire 2019, without the rejection loop,
  /// since the number of draws would vary).
  public mutating func next(through bound: UInt64) -> UInt64 {
    guard bound < .max else { return next() }
    return next().multipliedFullWidth(by: bound + 1).high
  }
}
