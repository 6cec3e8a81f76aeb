import ConnectionFSM
import Synchronization
import Testing
import Transports

extension RealSockets {
  @Suite("The socket event loop")
  struct SocketEventLoopTests {
    let loop: SocketEventLoop

    init() throws { loop = try SocketEventLoop() }

    // MARK: Deadlines

    @Test("deadlines are served in their order, whatever the order of arming")
    func deadlineOrder() async {
      let served = Confined<[Int]>([])
      await loop.run { [loop] in
        let start = loop.now
        for milliseconds in [7, 2, 9, 2, 5, 0] {
          let alarm = Alarm { _ in served.value.append(milliseconds) }
          loop.arm(alarm, at: start + .milliseconds(Int64(milliseconds)))
        }
      }
      await loop.until { served.value.count == 6 }
      #expect(await loop.run { served.value } == [0, 2, 2, 5, 7, 9])
      loop.stop()
    }

    @Test("no deadline is served before its time, and arming later or earlier moves the only one")
    func rearm() async {
      let served = Confined<[(String, Instant)]>([])
      let start = await loop.run { [loop] in
        let start = loop.now
        let later = Alarm { _ in served.value.append(("later", loop.now)) }
        loop.arm(later, at: start + .milliseconds(1))
        loop.arm(later, at: start + .milliseconds(12))
        let earlier = Alarm { _ in served.value.append(("earlier", loop.now)) }
        loop.arm(earlier, at: start + .seconds(3600))
        loop.arm(earlier, at: start + .milliseconds(6))
        let never = Alarm { _ in served.value.append(("never", loop.now)) }
        loop.arm(never, at: start + .milliseconds(3))
        loop.arm(never, at: nil)
        return start
      }
      await loop.until { served.value.count >= 2 }
      let result = await loop.run { served.value }
      #expect(result.map(\.0) == ["earlier", "later"])
      #expect(result[0].1 >= start + .milliseconds(6))
      #expect(result[1].1 >= start + .milliseconds(12))
      loop.stop()
    }

    @Test("a handler that always arms in the past keeps neither another handler nor work waiting")
    func noStarvation() async {
      let rounds = Confined(0)
      let greedy = await loop.run { [loop] in
        let greedy = Alarm { alarm in
          rounds.value += 1
          loop.arm(alarm, at: .origin)
        }
        loop.arm(greedy, at: .origin)
        return greedy
      }
      await loop.pause(.milliseconds(2))
      let seen = await loop.run { rounds.value }
      #expect(seen > 1)
      await loop.run { [loop] in loop.arm(greedy, at: nil) }
      let last = await loop.run { rounds.value }
      await loop.pause(.milliseconds(2))
      #expect(await loop.run { rounds.value } == last)
      loop.stop()
    }

    @Test("instants at both ends of the clock are accepted")
    func extremeDeadlines() async {
      let served = Confined(0)
      await loop.run { [loop] in
        loop.arm(Alarm { _ in served.value += 1 }, at: Instant(nanoseconds: .min))
        loop.arm(Alarm { _ in served.value += 100 }, at: Instant(nanoseconds: .max))
        loop.arm(Alarm { _ in served.value += 100 }, at: Instant(nanoseconds: .max - 1))
      }
      await loop.until { served.value == 1 }
      await loop.pause(.milliseconds(2))
      #expect(await loop.run { served.value } == 1)
      loop.stop()
    }

    @Test("I18: the loop retains a handler while it is armed, and no longer")
    func retention() async {
      weak let served: Alarm? = await loop.run { [loop] in
        let alarm = Alarm { _ in }
        loop.arm(alarm, at: loop.now)
        return alarm
      }
      await loop.pause(.milliseconds(1))
      #expect(served == nil)
      weak let armed: Alarm? = await loop.run { [loop] in
        let alarm = Alarm { _ in }
        loop.arm(alarm, at: loop.now + .seconds(3600))
        return alarm
      }
      #expect(armed != nil)
      await loop.run { [loop] in loop.arm(armed!, at: nil) }
      #expect(armed == nil)
      weak let stopped: Alarm? = await loop.run { [loop] in
        let alarm = Alarm { _ in }
        loop.arm(alarm, at: loop.now + .seconds(3600))
        return alarm
      }
      #expect(stopped != nil)
      loop.stop()
      #expect(stopped == nil)
    }

    // MARK: Work

    @Test("B3.8, B4.9: work of each of many threads runs in the order in which that thread gave it")
    func executeOrder() async throws {
      let ran = Confined<[(thread: Int, number: Int)]>([])
      let threads = try (0..<8).map { thread in
        try SystemThread.start("test-execute") { [loop] in
          for number in 0..<500 { loop.execute { ran.value.append((thread, number)) } }
        }
      }
      for thread in threads { thread.join() }
      let result = await loop.run { ran.value }
      #expect(result.count == 8 * 500)
      for thread in 0..<8 {
        #expect(result.filter { $0.thread == thread }.map(\.number) == Array(0..<500))
      }
      loop.stop()
    }

    @Test("closures and jobs of tasks run in one order")
    func jobsAndClosures() async {
      let ran = Confined<[Int]>([])
      let last = await loop.run { [loop] in
        // Given while the loop is busy with this closure, so nothing of it has run yet.
        for number in stride(from: 0, to: 20, by: 2) {
          Task(executorPreference: loop) { ran.value.append(number) }
          loop.execute { ran.value.append(number + 1) }
        }
        return Task(executorPreference: loop) { ran.value }
      }
      #expect(await last.value == Array(0..<20))
      loop.stop()
    }

    @Test("work given on the loop runs after the call that gave it")
    func executeIsNeverReentrant() async {
      let ran = Confined<[String]>([])
      await loop.run { [loop] in
        loop.execute { ran.value.append("inner") }
        ran.value.append("outer")
      }
      #expect(await loop.run { ran.value } == ["outer", "inner"])
      loop.stop()
    }

    @Test("work that gives itself again does not keep deadlines waiting")
    func endlessWork() async {
      let isOver = Atomic(false)
      await withCheckedContinuation { continuation in
        loop.execute { [loop] in
          loop.arm(Alarm { _ in continuation.resume() }, at: loop.now + .milliseconds(2))
          again()
        }
        @Sendable func again() {
          if !isOver.load(ordering: .relaxed) { loop.execute { again() } }
        }
      }
      isOver.store(true, ordering: .relaxed)
      loop.stop()
    }

    @Test("a task that prefers the loop runs on it before and after it suspended")
    func taskExecutor() async {
      let places = await Task(executorPreference: loop) { [loop] in
        let before = loop.isCurrent
        await withCheckedContinuation { continuation in
          loop.execute { continuation.resume() }
        }
        let after = loop.isCurrent
        async let child = loop.isCurrent
        return [before, after, await child]
      }.value
      #expect(places == [true, true, true])
      #expect(!loop.isCurrent)
      loop.stop()
    }

    // MARK: The end

    @Test("stop runs what was given before, waits for the thread, and may be called again")
    func stop() async throws {
      let ran = Confined(0)
      for _ in 0..<100 { loop.execute { ran.value += 1 } }
      let rivals = try (0..<4).map { _ in
        try SystemThread.start("test-stop") { [loop] in loop.stop() }
      }
      loop.stop()
      #expect(ran.value == 100)
      for rival in rivals { rival.join() }
      loop.stop()
      loop.execute { ran.value += 1 }
      #expect(ran.value == 100)
    }

    @Test("stop on the loop itself ends it after the present turn")
    func stopOnTheLoop() async throws {
      loop.execute { [loop] in loop.stop() }
      loop.stop()
      #expect(!loop.isCurrent)
    }

    @Test("a task that outlives the loop goes on elsewhere instead of hanging")
    func taskOutlivesLoop() async {
      let (gate, open) = AsyncStream.makeStream(of: Void.self)
      let started = AsyncStream.makeStream(of: Void.self)
      let task = Task(executorPreference: loop) { [loop] in
        started.continuation.finish()
        for await _ in gate {}
        return loop.isCurrent
      }
      for await _ in started.stream {}
      loop.stop()
      open.finish()
      #expect(await task.value == false)
    }

    @Test("the clock counts from the making of the loop and never goes back")
    func clock() {
      var last = Instant.origin
      for _ in 0..<10_000 {
        let now = loop.now
        #expect(now >= last)
        last = now
      }
      #expect(last > .origin && last < .origin + .seconds(60))
      loop.stop()
    }
  }
}
