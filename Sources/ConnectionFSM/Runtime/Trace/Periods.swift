/// How often something lasted, and for how long.
public struct Periods: Equatable, Sendable {
  /// How many began.
  public private(set) var count = 0
  /// How long they were together, the running one included.
  public private(set) var total = TimeSpan.zero
  /// How long the longest was, the running one included.
  public private(set) var longest = TimeSpan.zero
  /// How long the running one has been; nil if none runs.
  public private(set) var current: TimeSpan?

  mutating func begin() {
    count += 1
    current = .zero
  }

  /// Lets time pass in the running one, if one runs.
  mutating func pass(_ span: TimeSpan) {
    guard let length = current.map({ $0 + span }) else { return }
    current = length
    total = total + span
    longest = max(longest, length)
  }

  mutating func end() { current = nil }
}
