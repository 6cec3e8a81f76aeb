// Seeds as a user writes them.

extension ArgumentList {
  /// The value of an option as seeds: `A..B`, both ends run, or one seed.
  mutating func seeds(of name: String) throws(Failure) -> ClosedRange<UInt64>? {
    guard let text = try value(of: name) else { return nil }
    if let seed = UInt64(text) { return seed...seed }
    guard let dots = text.firstRange(of: ".."), let first = UInt64(text[..<dots.lowerBound]),
      let last = UInt64(text[dots.upperBound...])
    else {
      throw usage(
        "\(name) “\(text)” is no range of seeds: write A..B, as 0..9999, where both ends run, or "
          + "one seed")
    }
    guard first <= last else { throw usage("\(name) “\(text)” ends before it begins") }
    guard last - first < UInt64(Int.max) else {
      throw usage("\(name) “\(text)” is more than can be run: at most \(Int.max) at a time")
    }
    return first...last
  }
}

extension ClosedRange<UInt64> {
  /// `0..9999`, or the seed if there is one alone.
  var words: String { lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)..\(upperBound)" }
}
