import ConnectionFSM
import NetSim
import Testing

@Suite("Virtual time: errors")
struct VirtualTimeErrorTests {
  private final class Handler: DeadlineHandler, Sendable {
    func deadlineReached() {}
  }

  private actor Gate {
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    /// Waits for ever, unless the gate is opened.
    func pass() async { await withUnsafeContinuation { waiting.append($0) } }

    func open() {
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
  }

  private func failure(
    limit: TimeSpan = .seconds(86_400), jobsPerInstant: Int = 10_000,
    _ body: @escaping (SimulatedEventLoop) async throws -> Void
  ) throws -> VirtualTimeError {
    try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run(limit: limit, jobsPerInstant: jobsPerInstant, body)
    }
  }

  @Test("a run that is stuck names the body and every task that has not ended")
  func stuck() throws {
    let gate = Gate()
    let error = try failure { loop in
      loop.task("reader") { await gate.pass() }
      Task(name: "writer", executorPreference: loop) {
        try await loop.clock.sleep(for: .seconds(1))
        await gate.pass()
      }
      let ended = loop.task("ended") {}
      await ended.value
      try await loop.clock.sleep(for: .seconds(5))
      await withTaskGroup { group in
        group.addTask { await gate.pass() }
      }
      withExtendedLifetime(ended) {}
    }
    guard case .stuck(let instant, let left) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(instant == .origin + .seconds(5))
    #expect(
      left.tasks == ["“body”", "“reader”, made by “body”", "“writer”, made by “body”"])
    #expect(left.sleepers.isEmpty && left.handlers.isEmpty)
    #expect(
      "\(error)" == "stuck at 5 s: the body has not ended and nothing is left that could happen; "
        + "what waits, tasks: “body”; “reader”, made by “body”; “writer”, made by “body”")
  }

  @Test("what a run leaves behind is named: tasks, sleepers, armed deadlines")
  func leaked() throws {
    let gate = Gate()
    let handler = Handler()
    let error = try failure { loop in
      loop.arm(handler, at: .origin + .seconds(30))
      loop.task("reader") { await gate.pass() }
      Task(name: "poller", executorPreference: loop) {
        try await loop.clock.sleep(for: .seconds(60))
      }
      Task { try await Task.sleep(for: .seconds(60)) }
      try await loop.clock.sleep(for: .seconds(1))
    }
    guard case .leaked(let instant, let left) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(instant == .origin + .seconds(1))
    #expect(
      left.tasks == [
        "“reader”, made by “body”", "“poller”, made by “body”", "task 4, made by “body”",
      ])
    #expect(left.sleepers.map(\.name) == ["“poller”, made by “body”"])
    #expect(left.sleepers.map(\.until) == [.origin + .seconds(60)])
    #expect(left.handlers.map(\.name) == ["Handler"])
    #expect(left.handlers.map(\.until) == [.origin + .seconds(30)])
  }

  @Test("what still ends at the instant at which the body does is no leak")
  func lastInstant() throws {
    let gate = Gate()
    try VirtualTime.run { loop in
      loop.task("reader") { await gate.pass() }
      Task.detached {
        try await loop.clock.sleep(for: .seconds(2))
        for _ in 0..<10 { await Task.yield() }
        await gate.open()
      }
      try await loop.clock.sleep(for: .seconds(2))
    }
  }

  @Test("a task that has ended is no leak, though its handle is kept")
  func keptHandle() throws {
    final class Keeper: @unchecked Sendable { var task: Task<Int, Never>? }
    let keeper = Keeper()
    let value = try VirtualTime.run { loop in
      keeper.task = Task(executorPreference: loop) { 5 }
      return await keeper.task?.value
    }
    #expect(value == 5)
  }

  @Test("the time limit ends a run that goes on for ever")
  func timeLimit() throws {
    let error = try failure(limit: .seconds(3600)) { loop in
      while true { try await loop.clock.sleep(for: .seconds(7)) }
    }
    guard case .timeLimit(let instant, let left) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(instant == .origin + .seconds(3598))
    #expect(left.sleepers.map(\.name) == ["“body”"])
  }

  @Test("a run that never lets time pass ends, and the task is named")
  func livelock() throws {
    let error = try failure { loop in
      loop.task("spinner") { while !Task.isCancelled { await Task.yield() } }
      try await loop.clock.sleep(for: .seconds(1))
    }
    guard case .endless(let instant, 10_000, let task) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(instant == .origin)
    #expect(task == "“spinner”, made by “body”")
  }

  @Test("a handler that is armed anew for now, again and again, ends the run")
  func deadlineLivelock() throws {
    final class Spinner: DeadlineHandler, @unchecked Sendable {
      let loop: SimulatedEventLoop
      init(_ loop: SimulatedEventLoop) { self.loop = loop }
      func deadlineReached() { loop.arm(self, at: loop.now) }
    }
    let error = try failure { loop in
      loop.arm(Spinner(loop), at: .origin)
      try await loop.clock.sleep(for: .seconds(1))
    }
    guard case .endless = error else {
      Issue.record("\(error)")
      return
    }
  }

  @Test("after a failure the body is cancelled, every sleep ends, and tasks clean up")
  func cleanUp() throws {
    let journal = Journal()
    _ = try failure(limit: .seconds(10)) { loop in
      let phone = loop.time.makeLoop()
      phone.task("asleep") {
        await Task.yield()
        phone.sleep()
        do { try await phone.clock.sleep(for: .seconds(1)) } catch {
          journal.add("asleep: \(type(of: error))", at: loop.now)
        }
      }
      loop.task("other") {
        do { try await loop.clock.sleep(for: .seconds(100)) } catch {
          journal.add("other: \(type(of: error))", at: loop.now)
        }
      }
      do { try await loop.clock.sleep(for: .seconds(50)) } catch {
        journal.add("body: \(type(of: error))", at: loop.now)
        throw error
      }
    }
    #expect(
      journal.all == [
        "1.0 body: CancellationError", "1.0 other: CancellationError",
        "1.0 asleep: CancellationError",
      ])
  }
}
