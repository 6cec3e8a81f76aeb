import ConnectionFSM

/// Draws from the normal distribution.
///
/// A direction from a point drawn in the unit disc, and a radius whose square is exponential: only
/// quotients and roots, which are rounded alike on all systems, where libm's sine would not be.
struct NormalDice {
  private var random: RandomStream
  /// Each point gives two.
  private var spare: Double?

  init(_ random: RandomStream) { self.random = random }

  /// A draw with mean 0 and deviation 1.
  mutating func next() -> Double {
    if let spare {
      self.spare = nil
      return spare
    }
    var (x, y, square) = (0.0, 0.0, 0.0)
    repeat {
      (x, y) = (side(), side())
      square = x * x + y * y
    } while square >= 1 || square == 0
    let scale = (2 * Double(random.exponential(mean: .seconds(1)).nanoseconds) / 1e9 / square)
      .squareRoot()
    spare = y * scale
    return x * scale
  }

  /// From -1 to 1.
  private mutating func side() -> Double {
    Double(Int64(bitPattern: random.next(through: .max)) >> 11) * 0x1p-52
  }
}
