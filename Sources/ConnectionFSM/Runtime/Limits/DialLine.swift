/// Who may dial, and when: a line, first come first served, before a bucket of tokens. A dial that
/// is withdrawn leaves the line and takes no token.
///
/// A hole stays in the line until those before it have left. Since no dial waits for longer than
/// its connect deadline, memory is bounded by how many join in that time.
package struct DialLine<Waiter> {
  private var bucket: TokenBucket
  private var places = FIFO<Waiter?>()
  /// The number of whoever has the first place.
  private var firstNumber: UInt64 = 0

  package init(burst: Int, interval: TimeSpan) {
    bucket = TokenBucket(interval: interval, burst: burst)
  }

  /// Who is first in line, and under which number.
  package var first: (number: UInt64, waiter: Waiter)? {
    places.isEmpty ? nil : places[0].map { (firstNumber, $0) }
  }

  /// When the first one's turn comes; nil while nobody waits.
  package var nextDeadline: Instant? { places.isEmpty ? nil : bucket.nextTokenAt }

  /// Takes the last place.
  /// - Returns: The number by which it can be withdrawn.
  package mutating func join(_ waiter: Waiter) -> UInt64 {
    places.append(waiter)
    return firstNumber + UInt64(places.count) - 1
  }

  /// Leaves the line; without effect if it has left already.
  package mutating func withdraw(_ number: UInt64) {
    guard number >= firstNumber, number - firstNumber < UInt64(places.count) else { return }
    places[Int(number - firstNumber)] = nil
    closeUp()
  }

  /// Lets the first one go, if its turn has come.
  package mutating func next(at now: Instant) -> Waiter? {
    guard let (_, waiter) = first, bucket.take(at: now) else { return nil }
    places[0] = nil
    closeUp()
    return waiter
  }

  /// Whoever is first in line is there.
  private mutating func closeUp() {
    while !places.isEmpty, places[0] == nil {
      places.popFirst()
      firstNumber += 1
    }
  }

  /// Instants are told by another clock from now on, which is ahead by that span.
  package mutating func move(by span: TimeSpan) { bucket.move(by: span) }
}

extension DialLine: Sendable where Waiter: Sendable {}
