import ConnectionFSM
import NetSim
import Synchronization
import Testing

/// What happened, in order, and when.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ text: String, at now: Instant) {
    lines.withLock { $0.append("\(Double(now.nanoseconds) / 1e9) \(text)") }
  }

  var all: [String] { lines.withLock { $0 } }
}

actor Counter {
  private var value = 0

  func next() -> Int {
    value += 1
    return value
  }
}

@Suite("Virtual time: the run")
struct VirtualTimeRunTests {
  @Test("an hour passes at once, and exactly")
  func hour() throws {
    let instants = try VirtualTime.run { loop in
      try await loop.clock.sleep(for: .seconds(3600))
      return (loop.now, loop.time.now)
    }
    #expect(instants.0 == .origin + .seconds(3600))
    #expect(instants.1 == .origin + .seconds(3600))
  }

  @Test("the body's value is returned, and its error thrown")
  func outcome() throws {
    struct Own: Error {}
    let value = try VirtualTime.run { _ in 7 }
    #expect(value == 7)
    #expect(throws: Own.self) {
      try VirtualTime.run { loop in
        try await loop.clock.sleep(for: .seconds(1))
        throw Own()
      }
    }
  }

  @Test("a run may be called from an async test, whose task goes on as before")
  func fromAsyncTest() async throws {
    let value = try VirtualTime.run { loop in
      try await loop.clock.sleep(for: .seconds(60))
      return 1
    }
    await Task.yield()
    #expect(value == 1)
    #expect(Test.current != nil)
  }

  /// Tasks, an actor, a group, async let and a stream, all at once.
  private static func medley() throws -> [String] {
    let journal = Journal()
    try VirtualTime.run { loop in
      let counter = Counter()
      let clock = loop.clock
      let tasks = (1...3).map { number in
        Task(executorPreference: loop) {
          for _ in 0..<2 {
            try await clock.sleep(for: .seconds(number))
            journal.add("task \(number) counts \(await counter.next())", at: clock.now)
          }
        }
      }
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      let reader = loop.task("reader") {
        for await item in stream { journal.add("read \(item)", at: clock.now) }
      }
      async let late: Void = {
        try await clock.sleep(for: .seconds(10))
        journal.add("async let", at: clock.now)
      }()
      await withTaskGroup(of: Int.self) { group in
        for number in 0..<3 {
          group.addTask {
            try? await clock.sleep(for: .seconds(5 - number))
            continuation.yield(number)
            return number
          }
        }
        for await number in group { journal.add("group \(number)", at: clock.now) }
      }
      continuation.finish()
      try await late
      for task in tasks { try await task.value }
      await reader.value
      journal.add("end", at: clock.now)
    }
    return journal.all
  }

  @Test("tasks, an actor, a group, async let and a stream run in one order, the same each time")
  func order() throws {
    let first = try Self.medley()
    #expect(
      first == [
        "1.0 task 1 counts 1", "2.0 task 2 counts 2", "2.0 task 1 counts 3",
        "3.0 read 2", "3.0 group 2", "3.0 task 3 counts 4", "4.0 read 1", "4.0 group 1",
        "4.0 task 2 counts 5", "5.0 read 0", "5.0 group 0", "6.0 task 3 counts 6",
        "10.0 async let", "10.0 end",
      ])
    for _ in 0..<20 { #expect(try Self.medley() == first) }
  }

  @Test("a sleeper that is cancelled throws at once")
  func cancellation() throws {
    let instant = try VirtualTime.run { loop in
      let sleeper = loop.task("sleeper") {
        try await loop.clock.sleep(for: .seconds(1000))
      }
      try await loop.clock.sleep(for: .seconds(1))
      sleeper.cancel()
      await #expect(throws: CancellationError.self) { try await sleeper.value }
      let born = loop.task("born cancelled") {
        withUnsafeCurrentTask { $0?.cancel() }
        try await loop.clock.sleep(for: .seconds(1000))
      }
      await #expect(throws: CancellationError.self) { try await born.value }
      return loop.now
    }
    #expect(instant == .origin + .seconds(1))
  }

  @Test("work given from inside runs later, in the order in which it was given")
  func work() throws {
    let journal = Journal()
    try VirtualTime.run { loop in
      loop.execute {
        loop.execute { journal.add("third", at: loop.now) }
        journal.add("first", at: loop.now)
      }
      loop.execute { journal.add("second", at: loop.now) }
    }
    #expect(journal.all == ["0.0 first", "0.0 second", "0.0 third"])
  }

  @Test("I18: a simulation that ended well is gone, with its loops and what it knew of tasks")
  func nothingLeft() throws {
    weak var time: VirtualTime?
    weak var device: SimulatedEventLoop?
    try VirtualTime.run { loop in
      time = loop.time
      let other = loop.time.makeLoop()
      device = other
      await Task { try? await loop.clock.sleep(for: .seconds(1)) }.value
      await other.task("elsewhere") { try? await other.clock.sleep(for: .seconds(1)) }.value
    }
    #expect(time == nil && device == nil)
  }
}
