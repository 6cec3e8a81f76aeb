import ConnectionFSM
import Testing

/// A race with its books: what was started, how each attempt ended, and what the rules say of it.
/// A value, so that a search can go every way from here.
private struct Books {
  typealias Race = HappyEyeballs<Int>

  private var race: Race
  private let timing: DialTiming
  private(set) var now = Instant.origin
  private(set) var pending = AddressFamily.allCases
  private(set) var running: [Int] = []
  private var ends: [Int: String] = [:]
  private var addresses: [Int] = []
  private var lastStart: Instant?
  private var hasFailedSince = true
  /// What is found later counts no more.
  private var isResolutionOver = false
  private(set) var isOver = false
  private var hasWinner = false
  private(set) var trouble: String?
  private(set) var story: [String] = []

  init(_ timing: DialTiming) {
    self.timing = timing
    race = Race(timing, at: .origin)
  }

  var deadline: Instant? { race.nextDeadline }

  mutating func take(_ input: Race.Input, at instant: Instant) {
    now = instant
    story.append("\(instant.nanoseconds / 1_000_000): \(input)")
    let wasOver = isOver
    switch input {
    case .resolved(let family, let found):
      pending.removeAll { $0 == family }
      if !isResolutionOver { addresses += found }
    case .resolutionFailed(let family, _): pending.removeAll { $0 == family }
    case .connected(let attempt): running.removeAll { $0 == attempt }
    case .failed(let attempt, _):
      if running.contains(attempt) {
        running.removeAll { $0 == attempt }
        finish(attempt, "failed")
        hasFailedSince = true
      }
    case .deadlineReached:
      if let limit = timing.resolutionLimit, now >= .origin + limit { isResolutionOver = true }
    }
    var effects: [Race.Effect] = []
    race.handle(input, at: now, into: &effects)
    if wasOver, !effects.isEmpty { trouble = "something after the end" }
    for effect in effects { check(effect) }
    if isOver, !running.isEmpty { trouble = "\(running) neither won, failed nor abandoned" }
    if let deadline, deadline <= now, case .deadlineReached = input {
      trouble = "the deadline stays at \(deadline) after it was served"
    }
    if isOver, deadline != nil { trouble = "a deadline after the end" }
    if !isOver, !addresses.isEmpty, let lastStart,
      deadline.map({ $0 > lastStart + timing.attemptDelay }) ?? true
    {
      trouble = "an address is left to wait"
    }
    if !isOver, deadline == nil, pending.isEmpty, running.isEmpty {
      trouble = "waits for nothing"
    }
  }

  private mutating func check(_ effect: Race.Effect) {
    if isOver { trouble = "\(effect) after the end" }
    switch effect {
    case .connect(let attempt, let address):
      guard let place = addresses.firstIndex(of: address) else {
        trouble = "\(address) was not found, or tried already"
        return
      }
      addresses.remove(at: place)
      if ends[attempt] != nil || running.contains(attempt) { trouble = "\(attempt) twice" }
      if let lastStart, now - lastStart < timing.attemptDelay, !hasFailedSince {
        trouble = "two attempts \((now - lastStart).nanoseconds) ns apart"
      }
      running.append(attempt)
      lastStart = now
      hasFailedSince = false
    case .abandon(let attempt):
      if !running.contains(attempt) { trouble = "\(attempt) abandoned and not on its way" }
      running.removeAll { $0 == attempt }
      finish(attempt, "abandoned")
    case .won(let attempt):
      if hasWinner { trouble = "two winners" }
      hasWinner = true
      finish(attempt, "won")
      isOver = true
    case .fail:
      if !pending.isEmpty, timing.resolutionLimit == nil, timing.connectLimit == nil {
        trouble = "gave up before the look-ups were over"
      }
      if !addresses.isEmpty, timing.connectLimit == nil { trouble = "gave up too early" }
      isOver = true
    }
  }

  private mutating func finish(_ attempt: Int, _ end: String) {
    if let former = ends[attempt] { trouble = "\(attempt) \(former) and \(end)" }
    ends[attempt] = end
  }
}

@Suite("F17: every order of events")
struct HappyEyeballsExploration {
  /// What may happen next.
  private func moves(
    _ books: Books, _ found: [AddressFamily: [Int]]
  ) -> [(HappyEyeballs<Int>.Input, Instant)] {
    var moves: [(HappyEyeballs<Int>.Input, Instant)] = []
    // Now, a little later, and right at the deadline: before it, or in its place.
    var instants = [books.now, books.now + .milliseconds(30)]
    if let deadline = books.deadline {
      instants = instants.filter { $0 < deadline } + [deadline]
      moves.append((.deadlineReached, deadline))
      moves.append((.deadlineReached, deadline + .milliseconds(700)))
    }
    for instant in instants {
      for family in books.pending {
        moves.append((.resolved(family, found[family] ?? []), instant))
        moves.append((.resolutionFailed(family, .resolution(.temporaryFailure)), instant))
      }
      for attempt in books.running {
        moves.append((.connected(attempt: attempt), instant))
        moves.append((.failed(attempt: attempt, .system(.connectionRefused)), instant))
      }
    }
    return moves
  }

  /// Goes every way, and counts the ends.
  private func explore(
    _ books: Books, _ found: [AddressFamily: [Int]], ends: inout Int, troubles: inout [String]
  ) {
    guard troubles.isEmpty else { return }
    if let trouble = books.trouble {
      troubles.append("\(trouble): \(books.story)")
      return
    }
    guard !books.isOver else {
      ends += 1
      return
    }
    for (input, instant) in moves(books, found) {
      var next = books
      next.take(input, at: instant)
      explore(next, found, ends: &ends, troubles: &troubles)
    }
  }

  @Test(
    "I3, I18: of up to 3 addresses at most one wins, every attempt ends, no deadline stays",
    arguments: [
      ([], []), ([1], []), ([], [11]), ([1], [11]), ([1, 2], []), ([1, 2], [11]), ([1], [11, 12]),
    ] as [([Int], [Int])])
  func allOrders(version6: [Int], version4: [Int]) throws {
    let timings = [
      try DialTiming(attemptDelay: .milliseconds(250), resolutionDelay: .milliseconds(50)),
      try DialTiming(
        attemptDelay: .milliseconds(100), resolutionDelay: .zero,
        resolutionLimit: .milliseconds(60), connectLimit: .milliseconds(120)),
    ]
    for timing in timings {
      var ends = 0
      var troubles: [String] = []
      explore(
        Books(timing), [.version6: version6, .version4: version4], ends: &ends,
        troubles: &troubles)
      #expect(troubles.isEmpty)
      #expect(ends > 4)
    }
  }

  @Test("I2, I3: 4,000 drawn races of up to 5 addresses a family keep the same rules")
  func drawn() throws {
    for seed in UInt64(1)...4000 {
      var dice = SplitMix64(seed: seed)
      func draw(_ limit: UInt64) -> UInt64 { dice.next() % limit }
      let found: [AddressFamily: [Int]] = [
        .version6: Array(0..<Int(draw(6))), .version4: Array(100..<(100 + Int(draw(6)))),
      ]
      let timing = try DialTiming(
        attemptDelay: .milliseconds(100 + Int64(draw(1900))),
        resolutionDelay: .milliseconds(Int64(draw(300))),
        resolutionLimit: draw(2) == 0 ? nil : .milliseconds(1 + Int64(draw(500))),
        connectLimit: draw(2) == 0 ? nil : .milliseconds(1 + Int64(draw(3000))))
      var books = Books(timing)
      for _ in 0..<200 where !books.isOver {
        let moves = moves(books, found)
        let (input, instant) = moves[Int(draw(UInt64(moves.count)))]
        books.take(input, at: instant)
        // Numbers that are over, or never were, change nothing.
        books.take(.failed(attempt: 77, .system(.timedOut)), at: instant)
        try #require(books.trouble == nil, "seed \(seed): \(books.story)")
      }
      #expect(books.isOver, "seed \(seed): \(books.story)")
    }
  }
}
