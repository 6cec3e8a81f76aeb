import ConnectionFSM
import NetSim
import Synchronization
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@MainActor final class Screen {
  private(set) var lines: [String] = []

  func show(_ line: String) {
    MainActor.assertIsolated()
    lines.append(line)
  }
}

/// Runs the body on a thread of its own and waits for its end: a foreign thread for a simulation.
func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let box = Unmanaged.passRetained(Box(body)).toOpaque()
  let result = pthread_create(
    &thread, nil,
    { argument in
      #if canImport(Darwin)
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
      #else
        if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
      #endif
      return nil
    }, box)
  precondition(result == 0)
  #if canImport(Darwin)
    if let thread { pthread_join(thread, nil) }
  #else
    pthread_join(thread, nil)
  #endif
}

@Suite("Virtual time: escapes")
struct VirtualTimeEscapeTests {
  /// Unstructured and detached tasks, sleeps on system clocks, the main actor.
  private static func strays() throws -> (journal: [String], captured: Int) {
    let journal = Journal()
    let captured = try VirtualTime.run { loop in
      let counter = Counter()
      for number in 1...3 {
        Task {
          try await Task.sleep(for: .milliseconds(number * 100))
          journal.add("task \(number) counts \(await counter.next())", at: loop.now)
          let detached = Task.detached {
            await Task.yield()
            try await loop.clock.sleep(for: .seconds(1))
            journal.add("detached \(number) counts \(await counter.next())", at: loop.now)
          }
          try await detached.value
          try await ContinuousClock().sleep(until: .now + .microseconds(1))
          journal.add("task \(number) ends", at: loop.now)
        }
      }
      try await loop.clock.sleep(for: .seconds(10))
      return loop.time.capturedTasks
    }
    return (journal.all, captured)
  }

  @Test("tasks that prefer no loop are captured, in one order, the same each time")
  func captured() throws {
    let first = try Self.strays()
    #expect(
      first.journal == [
        "0.1 task 1 counts 1", "0.2 task 2 counts 2", "0.3 task 3 counts 3",
        "1.1 detached 1 counts 4", "1.100001 task 1 ends", "1.2 detached 2 counts 5",
        "1.200001 task 2 ends", "1.3 detached 3 counts 6", "1.300001 task 3 ends",
      ])
    #expect(first.captured == 6)
    for _ in 0..<20 { #expect(try Self.strays() == first) }
  }

  @Test("a run that refuses unstructured tasks fails and names who made the first")
  func refused() throws {
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run(unstructured: .refused) { loop in
        try await loop.task("parent") { Task.detached { try await Task.sleep(for: .seconds(1)) } }
          .value.value
      }
    }
    guard case .escaped(_, let escapes) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(escapes == [.unstructured(task: "task 3, made by “parent”")])
    // A preference is all that is asked for.
    try VirtualTime.run(unstructured: .refused) { loop in
      await Task(executorPreference: loop) {}.value
    }
  }

  @Test("actors may be waited for by many where unstructured tasks are refused")
  func refusedActors() throws {
    let total = try VirtualTime.run(unstructured: .refused) { loop in
      let counter = Counter()
      await withTaskGroup { group in
        for _ in 0..<20 {
          group.addTask { for _ in 0..<5 { _ = await counter.next() } }
        }
      }
      return await counter.next()
    }
    #expect(total == 101)
  }

  private actor Starter {
    private(set) var count = 0

    func start() {
      Task {
        count += 1
        try await Task.sleep(for: .seconds(1))
        count += 1
      }
    }
  }

  @Test("a task that an actor makes runs in the simulation, and is refused if that is asked for")
  func actorTasks() throws {
    let count = try VirtualTime.run { loop in
      let starter = Starter()
      await starter.start()
      try await loop.clock.sleep(for: .seconds(2))
      return await starter.count
    }
    #expect(count == 2)
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run(unstructured: .refused) { loop in
        await Starter().start()
        try await loop.clock.sleep(for: .seconds(2))
      }
    }
    guard case .escaped(_, let escapes) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(escapes == [.unstructured(task: "task 2")])
  }

  @Test("a task that is made while the last objects go is not lost, nor in the simulation")
  func lateTask() async throws {
    final class Parting: DeadlineHandler, @unchecked Sendable {
      let done: AsyncStream<Void>.Continuation
      init(_ done: AsyncStream<Void>.Continuation) { self.done = done }
      func deadlineReached() {}
      deinit {
        let done = done
        _ = ContinuousClock.now
        Task { done.finish() }
      }
    }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    try VirtualTime.run { loop in
      loop.arm(Parting(continuation), at: .origin + .seconds(1), actor: VirtualTime.network)
    }
    for await _ in stream {}
  }

  @Test("many captured tasks, most of them gone, are kept apart from those that live")
  func manyTasks() throws {
    let (sum, captured) = try VirtualTime.run { loop in
      let counter = Counter()
      let lasting = Task {
        await withTaskGroup { group in
          for _ in 0..<10 {
            group.addTask {
              try? await loop.clock.sleep(for: .seconds(100))
              _ = await counter.next()
            }
          }
        }
      }
      for _ in 0..<5_000 {
        Task {
          try? await Task.sleep(for: .milliseconds(1))
          _ = await counter.next()
        }
        try await loop.clock.sleep(for: .milliseconds(2))
      }
      await lasting.value
      return (await counter.next(), loop.time.capturedTasks)
    }
    #expect(sum == 5_011)
    #expect(captured == 5_001)
  }

  @Test("sleeps on the system's clocks take virtual time, to the nanosecond")
  func systemSleeps() throws {
    let instants = try VirtualTime.run { loop in
      var instants: [Int64] = []
      try await Task.sleep(for: .nanoseconds(1_234_567_891))
      instants.append(loop.now.nanoseconds)
      try await Task.sleep(nanoseconds: 9)
      instants.append(loop.now.nanoseconds)
      try await SuspendingClock().sleep(for: .seconds(3600))
      instants.append(loop.now.nanoseconds)
      try await Task.detached { try await Task.sleep(for: .milliseconds(1)) }.value
      instants.append(loop.now.nanoseconds)
      return instants
    }
    #expect(instants == [1_234_567_891, 1_234_567_900, 3_601_234_567_900, 3_601_235_567_900])
  }

  @Test("the system's clocks show virtual time in a simulation, and real time outside")
  func systemClocks() throws {
    let before = ContinuousClock.now
    let elapsed = try VirtualTime.run { loop in
      let start = (ContinuousClock.now, SuspendingClock.now)
      try await loop.clock.sleep(for: .seconds(3600))
      return (ContinuousClock.now - start.0, SuspendingClock.now - start.1)
    }
    #expect(elapsed == (.seconds(3600), .seconds(3600)))
    #expect(ContinuousClock.now - before < .seconds(3600))
    #expect(ContinuousClock.now >= before)
  }

  @Test("a sleep on a system's clock that is cancelled throws at once and leaves nothing")
  func cancelledSystemSleep() throws {
    let instant = try VirtualTime.run { loop in
      let sleeper = loop.task("sleeper") { try await Task.sleep(for: .seconds(1000)) }
      try await Task.sleep(for: .seconds(1))
      sleeper.cancel()
      await #expect(throws: CancellationError.self) { try await sleeper.value }
      return loop.now
    }
    #expect(instant == .origin + .seconds(1))
  }

  @Test("a sleep on a system's clock with a tolerance fails the run by name")
  func tolerantSleep() throws {
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run { _ in
        try await Task.sleep(for: .seconds(1), tolerance: .seconds(1))
      }
    }
    guard case .escaped(_, let escapes) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(escapes == [.tolerantSleep(task: "“body”")])
  }

  @Test("the main actor's code runs in the simulation, isolated")
  func mainActor() throws {
    let lines = try VirtualTime.run { loop in
      let screen = Screen()
      await screen.show("one")
      let task = Task { @MainActor in
        screen.show("two")
        try await loop.clock.sleep(for: .seconds(1))
        screen.show("three at \(loop.now.nanoseconds)")
      }
      try await task.value
      await MainActor.run { screen.show("four") }
      return await screen.lines
    }
    #expect(lines == ["one", "two", "three at 1000000000", "four"])
  }

  @MainActor
  @Test("a run may be called on the main actor, whose code the body then is")
  func onMainActor() throws {
    let screen = Screen()
    try VirtualTime.run { loop in
      screen.show("start")
      try await loop.clock.sleep(for: .seconds(1))
      screen.show("end")
    }
    #expect(screen.lines == ["start", "end"])
  }

  private actor Resident {
    private let loop: SimulatedEventLoop
    private var visits = 0

    init(_ loop: SimulatedEventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func visit() async throws -> Int {
      visits += 1
      preconditionIsolated()
      try await Task.sleep(for: .seconds(1))
      preconditionIsolated()
      return visits
    }
  }

  @Test("a loop is an actor's serial executor too")
  func serialExecutor() throws {
    let visits = try VirtualTime.run { loop in
      let resident = Resident(loop.time.makeLoop())
      async let first = resident.visit()
      async let second = resident.visit()
      return try await (first, second)
    }
    #expect(visits == (2, 2))
  }

  @Test("work from another thread fails the run by name, and is not run")
  func foreignWork() throws {
    let ran = Atomic(false)
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run { loop in
        onAnotherThread {
          let taken = loop.execute { ran.store(true, ordering: .relaxed) }
          #expect(!taken)
        }
        try await loop.clock.sleep(for: .seconds(1))
      }
    }
    guard case .escaped(let instant, [.foreignWork]) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(instant == .origin)
    let hasRun = ran.load(ordering: .relaxed)
    #expect(!hasRun)
  }

  @Test("a task that another thread resumes fails the run by name", arguments: [true, false])
  func foreignResumption(isCaptured: Bool) throws {
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run { loop in
        @Sendable func wait() async {
          try? await loop.clock.sleep(for: .seconds(1))
          await withUnsafeContinuation { continuation in
            // Once the task waits: resumed before that it would just go on.
            loop.execute { onAnotherThread { continuation.resume() } }
          }
        }
        let task =
          isCaptured ? Task(name: "waiter") { await wait() } : loop.task("waiter") { await wait() }
        await task.value
      }
    }
    guard case .escaped(let instant, let escapes) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(instant == .origin + .seconds(1))
    #expect(escapes == [.foreignJob(task: "“waiter”, made by “body”")])
  }

  @Test("a clock, a deadline and a device that another thread touches fail the run by name")
  func foreignRest() throws {
    final class Handler: DeadlineHandler, Sendable {
      func deadlineReached() {}
    }
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run { loop in
        onAnotherThread { loop.arm(Handler(), at: .origin) }
        onAnotherThread { loop.sleep() }
        onAnotherThread { _ = loop.time.makeLoop() }
        try await loop.clock.sleep(for: .seconds(1))
      }
    }
    guard case .escaped(_, let escapes) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(escapes == [.foreignDeadline(handler: "Handler"), .foreignDevice, .foreignDevice])
  }

  @Test("two simulations at once, on two threads, disturb neither each other nor other tasks")
  func twoAtOnce() async throws {
    let expected = try Self.strays()
    let journals = Journal()
    let outside = Task.detached {
      var count = 0
      for _ in 0..<200 {
        await Task.yield()
        count += await Task.detached { 1 }.value
      }
      return count
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<20 {
            onAnotherThread {
              let same = (try? Self.strays()).map { $0 == expected }
              journals.add("\(same ?? false)", at: .origin)
            }
          }
        }
      }
    }
    #expect(await outside.value == 200)
    #expect(journals.all == Array(repeating: "0.0 true", count: 40))
  }
}
