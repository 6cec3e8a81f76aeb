import ConnectionFSM

/// A set of fingerprints: one flat table with open addressing, at most five eighths full.
///
/// Fingerprints are random bits already, so a part of one is the place where the search begins.
struct FingerprintSet: Sendable {
  typealias Fingerprint = CanonicalForm.Fingerprint

  private static let none = Fingerprint(low: 0, high: 0)

  private(set) var count = 0
  private var table = Array(repeating: none, count: 1 << 10)

  /// Adds one; false if it was there already.
  mutating func insert(_ fingerprint: Fingerprint) -> Bool {
    // The one that marks a free place stands for itself as well as any other.
    let fingerprint =
      fingerprint == Self.none ? Fingerprint(low: 1, high: 0) : fingerprint
    let mask = table.count - 1
    var place = Int(truncatingIfNeeded: fingerprint.low) & mask
    // By halves: to compare the whole is a call into another module.
    while table[place].low != 0 || table[place].high != 0 {
      if table[place].low == fingerprint.low, table[place].high == fingerprint.high {
        return false
      }
      place = (place + 1) & mask
    }
    table[place] = fingerprint
    count += 1
    if count * 8 > table.count * 5 { grow() }
    return true
  }

  private mutating func grow() {
    let old = table
    table = Array(repeating: Self.none, count: old.count * 2)
    let mask = table.count - 1
    for fingerprint in old where fingerprint != Self.none {
      var place = Int(truncatingIfNeeded: fingerprint.low) & mask
      while table[place] != Self.none { place = (place + 1) & mask }
      table[place] = fingerprint
    }
  }
}
