extension Machine {
  /// Draws from another seed from here on, in a run that is forked. A wait that was drawn stands.
  package mutating func reseed(_ seed: UInt64) { random = SplitMix64(seed: seed) }
}
