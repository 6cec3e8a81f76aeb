import ConnectionFSM

/// Loaded dice: generators whose next draws are each the least or the greatest number there can be.
///
/// A draw through a small bound is the high word of a product, so the seed of an ordinary generator
/// does it: its first outputs lie in the lowest or in the highest sixteenth of their range. So
/// the machine that is explored is the one that ships, its generator included.
enum Dice {
  /// How many draws one transition may have.
  static let drawLimit = 3

  /// Bounds up to this one are drawn to their ends.
  static let greatestBound: UInt64 = 15

  /// The dice, by the draws they make: bit n of the place says that draw n is the greatest.
  static let all: [SplitMix64] = (0..<1 << drawLimit).map { draws in
    var seed: UInt64 = 0
    while !makes(draws, seed: seed) { seed += 1 }
    return SplitMix64(seed: seed)
  }

  private static func makes(_ draws: Int, seed: UInt64) -> Bool {
    var random = SplitMix64(seed: seed)
    for draw in 0..<drawLimit {
      let wanted = draws >> draw & 1 == 0 ? 0 : greatestBound
      if random.next(through: greatestBound) != wanted { return false }
    }
    return true
  }
}
