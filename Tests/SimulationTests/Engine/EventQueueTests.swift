import ConnectionFSM
import NetSim
import Testing

/// A queue that is an array in order: by instant, then actor, then as scheduled.
private struct SortedQueue {
  private var events: [(instant: Int64, actor: UInt32, event: Int)] = []

  var count: Int { events.count }
  var nextInstant: Instant? { events.last.map { Instant(nanoseconds: $0.instant) } }

  // The next one is the last, where it is taken out cheaply.
  mutating func schedule(_ event: Int, at instant: Int64, by actor: UInt32) {
    var (low, high) = (0, events.count)
    while low < high {
      let middle = (low + high) / 2
      let other = events[middle]
      if (other.instant, other.actor) >= (instant, actor) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    // Before its equals means behind them.
    while low > 0, events[low - 1].instant == instant, events[low - 1].actor == actor { low -= 1 }
    events.insert((instant, actor, event), at: low)
  }

  mutating func next() -> (instant: Int64, actor: UInt32, event: Int)? { events.popLast() }
}

/// How instants and actors of a mix are drawn.
struct Mix: Sendable, CustomTestStringConvertible {
  let name: String
  var steps = 20_000
  /// How many events are scheduled before the first is taken.
  let ahead: Int
  let actors: UInt64
  /// How far from the last instant taken: a bound, and how many bits of each draw are cut off.
  let span: UInt64
  var cutBits: UInt64 = 60
  /// How far before the last instant taken an event may be scheduled.
  var back: Int64 = 0
  var origin: Int64 = 0
  var sequence: UInt32 = 0

  var testDescription: String { name }

  static let all = [
    Mix(name: "a few", ahead: 3, actors: 2, span: 100),
    Mix(name: "ties of many actors", ahead: 3000, actors: 500, span: 3),
    Mix(name: "one instant", ahead: 4000, actors: 20, span: 0),
    Mix(name: "nanoseconds to hours", ahead: 2000, actors: 1000, span: 1 << 43),
    Mix(name: "all of time", ahead: 2000, actors: 9, span: 1 << 62, cutBits: 62),
    Mix(name: "a grid of seconds", ahead: 5000, actors: 10_000, span: 60, cutBits: 0),
    Mix(name: "into the past", ahead: 2000, actors: 30, span: 1 << 40, back: 1 << 39),
    Mix(name: "before the origin", ahead: 1000, actors: 30, span: 1 << 40, origin: -(1 << 42)),
    Mix(name: "the last numbers", ahead: 700, actors: 4, span: 9, sequence: .max - 5000),
  ]

  func instant(from now: Int64, by stream: inout RandomStream) -> Int64 {
    guard cutBits > 0 else {
      return (now / 1_000_000_000 + Int64(stream.next(through: span))) * 1_000_000_000
    }
    // Cut, so that small and large distances are both common.
    let distance = stream.next(through: span) >> stream.next(through: cutBits)
    let (sum, overflow) = now.addingReportingOverflow(Int64(distance))
    return (overflow ? .max : sum) - Int64(stream.next(through: UInt64(back)))
  }
}

@Suite("Event queue")
struct EventQueueTests {
  @Test("events come out as from a sorted array, whatever is scheduled", arguments: Mix.all)
  func order(_ mix: Mix) throws {
    var stream = RandomStream(seed: 9, name: mix.name)
    var queue = EventQueue<Int>(sequence: mix.sequence)
    var model = SortedQueue()
    var now = mix.origin
    for step in 0..<mix.ahead + mix.steps {
      // Up, then down, then up again: the queue goes from heap to shelves and back.
      let grows = step < mix.ahead || stream.next(through: 9) < (step / 4000 % 2 == 0 ? 6 : 4)
      if grows || model.count == 0 {
        let instant = mix.instant(from: now, by: &stream)
        let actor = UInt32(stream.next(through: mix.actors - 1))
        queue.schedule(step, at: Instant(nanoseconds: instant), by: actor)
        model.schedule(step, at: instant, by: actor)
      } else {
        let next = queue.next()
        let expected = model.next()
        try #require(next?.event == expected?.event && next?.actor == expected?.actor)
        now = next?.instant.nanoseconds ?? now
      }
      try #require(queue.count == model.count && queue.nextInstant == model.nextInstant)
    }
    while let expected = model.next() {
      let next = queue.next()
      try #require(next?.event == expected.event && next?.instant.nanoseconds == expected.instant)
    }
    let nothing = queue.pop()
    #expect(nothing == nil && queue.count == 0)
  }

  @Test("what is scheduled when more than a heap of one instant was taken out is the next")
  func afterOneInstant() {
    var queue = EventQueue<Int>()
    for event in 0..<1000 { queue.schedule(event, at: Instant(nanoseconds: 5), by: 0) }
    while queue.pop() != nil {}
    queue.schedule(1000, at: Instant(nanoseconds: 6), by: 0)
    #expect(queue.nextInstant == Instant(nanoseconds: 6))
    let next = queue.pop()
    #expect(next?.event == 1000 && queue.count == 0)
  }

  @Test("a copy of a queue goes its own way")
  func copies() {
    var queue = EventQueue<Int>()
    for event in 0..<2000 {
      queue.schedule(event, at: Instant(nanoseconds: Int64(event) << 20), by: 0)
    }
    var copy = queue
    let rest = (0..<2000).map { _ in queue.pop()?.event }
    copy.schedule(-1, at: .origin, by: 0)
    let copied = (0..<2001).map { _ in copy.pop()?.event }
    #expect(rest == Array(0..<2000))
    #expect(copied == [0, -1] + Array(1..<2000))
  }

  @Test("an event that was taken is not held any longer")
  func release() {
    final class Load: Sendable {}
    weak var last: Load?
    var queue = EventQueue<Load>()
    for place in 0..<1000 {
      let load = Load()
      last = load
      queue.schedule(load, at: Instant(nanoseconds: Int64(place) << 20), by: 0)
    }
    #expect(last != nil)
    while queue.pop() != nil {}
    #expect(last == nil)
  }
}
