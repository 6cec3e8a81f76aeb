import ConnectionFSM
import Testing

@Suite("A line of dials: first come, first served, by a bucket of tokens")
struct DialLineTests {
  /// Milliseconds since the origin.
  private static func at(_ milliseconds: Int64) -> Instant { .origin + .milliseconds(milliseconds) }

  private static func line(burst: Int, interval: Int64) -> DialLine<String> {
    DialLine(burst: burst, interval: .milliseconds(interval))
  }

  @Test("F55: a burst goes at once, then one in each interval, in the order of arrival")
  func order() {
    var line = Self.line(burst: 2, interval: 10)
    for name in ["a", "b", "c", "d"] { _ = line.join(name) }
    var gone: [String] = []
    for now in [0, 0, 0, 9, 10, 10, 19, 20] as [Int64] {
      let next = line.next(at: Self.at(now))
      gone.append("\(now) \(next ?? "-")")
    }
    #expect(gone == ["0 a", "0 b", "0 -", "9 -", "10 c", "10 -", "19 -", "20 d"])
    #expect(line.nextDeadline == nil)
  }

  @Test("F55: the deadline is the instant at which the first one's turn comes, and never before")
  func deadline() {
    var line = Self.line(burst: 1, interval: 10)
    #expect(line.nextDeadline == nil)
    _ = line.join("a")
    let first = line.next(at: Self.at(5))
    #expect(first == "a")
    _ = line.join("b")
    #expect(line.nextDeadline == Self.at(15))
    let early = line.next(at: Instant(nanoseconds: 14_999_999))
    #expect(early == nil)
    let due = line.next(at: Self.at(15))
    #expect(due == "b")
  }

  @Test("F55: who withdraws takes no token, wherever in line, and the others keep their order")
  func withdrawal() {
    var line = Self.line(burst: 1, interval: 10)
    let numbers = ["a", "b", "c", "d", "e"].map { line.join($0) }
    let first = line.next(at: Self.at(0))
    #expect(first == "a")
    line.withdraw(numbers[1])
    line.withdraw(numbers[3])
    line.withdraw(numbers[3])
    line.withdraw(numbers[0])
    #expect(line.first?.waiter == "c")
    let second = line.next(at: Self.at(10))
    let third = line.next(at: Self.at(20))
    #expect(second == "c" && third == "e")
    #expect(line.first == nil)
  }

  @Test("F55: a rest saves up a burst and no more")
  func rest() {
    var line = Self.line(burst: 3, interval: 10)
    for number in 0..<10 { _ = line.join("\(number)") }
    var count = 0
    while line.next(at: Self.at(1_000_000)) != nil { count += 1 }
    #expect(count == 3)
  }

  @Test("a burst below 1 counts as 1, an interval of zero is no limit, the largest do no harm")
  func bounds() {
    var least = DialLine<Int>(burst: 0, interval: .seconds(1))
    var open = DialLine<Int>(burst: 1, interval: .zero)
    var most = DialLine<Int>(burst: .max, interval: TimeSpan(nanoseconds: .max))
    for number in 0..<3 {
      _ = least.join(number)
      _ = open.join(number)
      _ = most.join(number)
    }
    var counts = [0, 0, 0]
    while least.next(at: .origin) != nil { counts[0] += 1 }
    while open.next(at: .origin) != nil { counts[1] += 1 }
    while most.next(at: .origin) != nil { counts[2] += 1 }
    #expect(counts[0] == 1 && counts[1] == 3 && counts[2] >= 1)
  }

  @Test("F55: in any window at most burst + window / interval go, whoever comes and leaves when")
  func anyWindow() {
    for seed in 0..<200 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let burst = Int(random.next() % 5) + 1
      let interval = Int64(random.next() % 20) + 1
      var line = DialLine<UInt64>(burst: burst, interval: .nanoseconds(interval))
      var (now, gone, waiting) = (Int64(0), [Int64](), [UInt64]())
      for step in 0..<500 {
        switch random.next() % 4 {
        case 0: now += Int64(random.next() % 30)
        case 1:
          if !waiting.isEmpty { line.withdraw(waiting[Int(random.next() % UInt64(waiting.count))]) }
        default: waiting.append(line.join(UInt64(step)))
        }
        while line.next(at: Instant(nanoseconds: now)) != nil { gone.append(now) }
        if line.first != nil, let deadline = line.nextDeadline {
          // Nobody waits while there is a token.
          #expect(deadline > Instant(nanoseconds: now))
        }
      }
      #expect(gone.count > burst)
      #expect(DialWindow.isKept(by: gone, burst: burst, interval: interval), "seed \(seed)")
    }
  }
}

/// The promise of a limiter about instants of dials, in order.
enum DialWindow {
  /// Whether from any dial to any later one there are at most burst + (time between) / interval.
  static func isKept(by dials: [Int64], burst: Int, interval: Int64) -> Bool {
    // From dial i to dial j there are j - i + 1: the promise is that j · interval - t(j) rises by
    // at most (burst - 1) · interval above the least before it.
    var least = Int64.max
    for (number, dial) in dials.enumerated() {
      let lead = Int64(number) * interval - dial
      least = min(least, lead)
      if lead - least > Int64(burst - 1) * interval { return false }
    }
    return true
  }
}
