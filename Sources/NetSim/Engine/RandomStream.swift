package import ConnectionFSM

/// Random draws for one purpose, independent of every other stream of the same seed.
///
/// One stream a link and purpose: a new draw in one place moves none in another, so that a scenario
/// keeps its meaning when the simulator learns something new.
package struct RandomStream: Sendable {
  private var generator: SplitMix64

  /// Makes the stream of that name.
  package init(seed: UInt64, name: String) {
    // FNV-1a over the name (64 bit offset and prime), then one mixing step with the seed.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    var mixer = SplitMix64(seed: seed ^ hash)
    generator = SplitMix64(seed: mixer.next())
  }

  /// Makes one of many streams of a name.
  package init(seed: UInt64, name: String, number: UInt32) {
    var parent = RandomStream(seed: seed, name: name)
    // Mixed, since neighbouring states of the generator are one series at neighbouring places.
    var mixer = SplitMix64(seed: parent.next(through: .max) ^ UInt64(number))
    generator = SplitMix64(seed: mixer.next())
  }

  /// A number from 0 to the bound, both included.
  package mutating func next(through bound: UInt64) -> UInt64 { generator.next(through: bound) }

  /// A span from zero to the bound, both included.
  package mutating func span(through bound: TimeSpan) -> TimeSpan {
    .nanoseconds(Int64(next(through: UInt64(max(0, bound.nanoseconds)))))
  }
}
