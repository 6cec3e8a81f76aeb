/// A running 64-bit digest of everything that was added, in its order.
///
/// Two runs with one digest did the same, for all that chance can say: a difference is missed once
/// in 2⁶⁴. Integers alone, so that the value is the same on every machine, in debug and release,
/// and with every compiler. It is no defence against somebody who wants two runs to look alike.
public struct Digest: Hashable, BitwiseCopyable, Sendable {
  private var state: UInt64 = 0x243F_6A88_85A3_08D3  // The first bits of π's fraction.
  private var count: UInt64 = 0

  /// Makes the digest of nothing.
  public init() {}

  /// The digest of what was added so far.
  public var value: UInt64 {
    // The finalizer of SplitMix64, over the state and the number of words.
    var mixed = state ^ count &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Adds a number.
  @inline(__always)
  public mutating func add(_ word: UInt64) {
    // Both halves of a full product, so that every bit of the word reaches every bit of the state;
    // the state is turned, so that order counts.
    let mixed = state ^ word
    let product = (mixed ^ 0xA409_3822_299F_31D0).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    state = (product.high ^ product.low) &+ (mixed << 29 | mixed >> 35)
    count &+= 1
  }

  /// Adds a number.
  public mutating func add(_ word: Int64) { add(UInt64(bitPattern: word)) }

  /// Adds a text: its UTF-8 and its length, so that two texts are not one.
  public mutating func add(_ text: String) { add(bytes: text.utf8) }

  /// Adds bytes and their number, so that two pieces are not one.
  public mutating func add(bytes: some Sequence<UInt8>) {
    var (word, length) = (UInt64(0), UInt64(0))
    for byte in bytes {
      word |= UInt64(byte) << ((length & 7) * 8)
      length += 1
      if length & 7 == 0 {
        add(word)
        word = 0
      }
    }
    // The last word may be empty; the length tells.
    add(word)
    add(length)
  }
}
