import ConnectionFSM
import NetSim
import Testing

/// A deadline handler that calls a closure.
final class Alarm: DeadlineHandler, @unchecked Sendable {
  private let action: (Alarm) -> Void

  init(_ action: @escaping (Alarm) -> Void) { self.action = action }

  func deadlineReached() { action(self) }
}

@Suite("Virtual time: deadlines and devices")
struct VirtualTimeDeviceTests {
  @Test("a handler has one deadline: arming replaces it, nil takes it away")
  func arm() throws {
    let journal = Journal()
    try VirtualTime.run { loop in
      let first = Alarm { _ in journal.add("first", at: loop.now) }
      let second = Alarm { _ in journal.add("second", at: loop.now) }
      let third = Alarm { _ in journal.add("third", at: loop.now) }
      loop.arm(first, at: .origin + .seconds(5))
      loop.arm(second, at: .origin + .seconds(2))
      loop.arm(third, at: .origin + .seconds(2))
      loop.arm(first, at: .origin + .seconds(1))
      loop.arm(second, at: nil)
      try await loop.clock.sleep(for: .seconds(10))
    }
    #expect(journal.all == ["1.0 first", "2.0 third"])
  }

  @Test("the loop retains a handler while it is armed, and no longer")
  func retained() throws {
    try VirtualTime.run { loop in
      var alarm: Alarm? = Alarm { _ in }
      weak let weakly = alarm
      loop.arm(Alarm { _ in }, at: nil)
      loop.arm(alarm!, at: .origin + .seconds(1))
      alarm = nil
      #expect(weakly != nil)
      try await loop.clock.sleep(for: .seconds(2))
      #expect(weakly == nil)
    }
  }

  @Test("equal deadlines are served by the number of their loop, then in the order of arming")
  func ties() throws {
    let journal = Journal()
    try VirtualTime.run { loop in
      let other = loop.time.makeLoop()
      let instant = Instant.origin + .seconds(1)
      func alarm(_ name: String) -> Alarm { Alarm { _ in journal.add(name, at: loop.now) } }
      other.arm(alarm("other"), at: instant)
      loop.arm(alarm("main, first"), at: instant)
      loop.arm(alarm("main, second"), at: instant)
      other.arm(alarm("network, on other"), at: instant, actor: VirtualTime.network)
      loop.time.arm(alarm("network"), at: instant, actor: VirtualTime.network)
      try await loop.clock.sleep(for: .seconds(2))
    }
    #expect(
      journal.all == [
        "1.0 network, on other", "1.0 network", "1.0 main, first", "1.0 main, second",
        "1.0 other",
      ])
  }

  @Test("what is armed while deadlines are served waits for the work that is ready")
  func turns() throws {
    let journal = Journal()
    try VirtualTime.run { loop in
      let instant = Instant.origin + .seconds(1)
      let late = Alarm { _ in journal.add("late", at: loop.now) }
      let disarmed = Alarm { _ in journal.add("never", at: loop.now) }
      loop.arm(
        Alarm { _ in
          journal.add("first", at: loop.now)
          loop.arm(late, at: loop.now)
          loop.arm(disarmed, at: nil)
          loop.execute { journal.add("work", at: loop.now) }
        }, at: instant)
      loop.arm(disarmed, at: instant)
      loop.arm(Alarm { _ in journal.add("second", at: loop.now) }, at: instant)
      try await loop.clock.sleep(for: .seconds(2))
    }
    #expect(journal.all == ["1.0 first", "1.0 second", "1.0 work", "1.0 late"])
  }

  @Test("a deadline that is moved again and again is served once, and takes no memory")
  func rearmed() throws {
    let journal = Journal()
    try VirtualTime.run { loop in
      let alarm = Alarm { _ in journal.add("served", at: loop.now) }
      let other = Alarm { _ in journal.add("other", at: loop.now) }
      loop.arm(other, at: .origin + .milliseconds(500))
      for number in 0..<200_000 {
        loop.arm(alarm, at: .origin + .nanoseconds(Int64(number % 1000) + 1_000_000_000))
      }
      #expect(loop.time.heapCount < 100)
      try await loop.clock.sleep(for: .seconds(2))
    }
    #expect(journal.all == ["0.5 other", "1.000000999 served"])
  }

  @Test("a device that sleeps keeps everything of its own waiting, and other devices go on")
  func deviceSleep() throws {
    let journal = Journal()
    try VirtualTime.run { server in
      let phone = server.time.makeLoop()
      let worker = phone.task("worker") {
        for number in 1...3 {
          try await phone.clock.sleep(for: .seconds(4))
          journal.add("worker \(number)", at: server.now)
        }
      }
      phone.arm(Alarm { _ in journal.add("deadline", at: server.now) }, at: .origin + .seconds(10))
      phone.arm(
        Alarm { _ in journal.add("bytes", at: server.now) }, at: .origin + .seconds(12),
        actor: VirtualTime.network)
      try await server.clock.sleep(for: .seconds(5))
      phone.sleep()
      phone.execute { journal.add("work", at: server.now) }
      try await server.clock.sleep(for: .seconds(10))
      journal.add("server", at: server.now)
      phone.wake()
      try await worker.value
    }
    #expect(
      journal.all == [
        "4.0 worker 1", "15.0 server", "15.0 bytes", "15.0 deadline",
        "15.0 worker 2", "15.0 work", "19.0 worker 3",
      ])
  }

  @Test("a device's clocks split by the time it sleeps; a suspending sleep waits that much longer")
  func clocks() throws {
    let journal = Journal()
    try VirtualTime.run { loop in
      let phone = loop.time.makeLoop()
      let tasks = [
        phone.task("continuous") {
          try await phone.clock.sleep(for: .seconds(10))
          journal.add("continuous", at: loop.now)
        },
        phone.task("suspending") {
          try await phone.suspendingClock.sleep(for: .seconds(10))
          journal.add("suspending", at: loop.now)
        },
        phone.task("system's continuous") {
          try await Task.sleep(for: .seconds(9))
          journal.add("system's continuous", at: loop.now)
        },
        phone.task("system's suspending") {
          try await Task.sleep(until: .now + .seconds(11), clock: SuspendingClock())
          journal.add("system's suspending", at: loop.now)
        },
      ]
      try await loop.clock.sleep(for: .seconds(4))
      phone.sleep(for: .seconds(3))
      try await loop.clock.sleep(for: .seconds(1))
      #expect(phone.now == .origin + .seconds(5))
      #expect(phone.suspendingClock.now == .origin + .seconds(4))
      for task in tasks { try await task.value }
      #expect(phone.clock.now == .origin + .seconds(14))
      #expect(phone.suspendingClock.now == .origin + .seconds(11))
    }
    #expect(
      journal.all == [
        "9.0 system's continuous", "10.0 continuous", "13.0 suspending",
        "14.0 system's suspending",
      ])
  }

  @Test("the main device may sleep too, and wakes by itself")
  func mainSleep() throws {
    let instant = try VirtualTime.run { loop in
      loop.sleep(for: .seconds(100))
      try await loop.suspendingClock.sleep(for: .seconds(1))
      return loop.now
    }
    #expect(instant == .origin + .seconds(101))
  }

  @Test("a device that is woken early is not woken again by what it had planned")
  func wokenEarly() throws {
    let instant = try VirtualTime.run { loop in
      let phone = loop.time.makeLoop()
      let task = phone.task("worker") {
        try await phone.clock.sleep(for: .seconds(8))
        return loop.now
      }
      try await loop.clock.sleep(for: .seconds(1))
      phone.sleep(for: .seconds(9))
      try await loop.clock.sleep(for: .seconds(4))
      phone.wake()
      phone.sleep()
      try await loop.clock.sleep(for: .seconds(20))
      phone.wake()
      return try await task.value
    }
    #expect(instant == .origin + .seconds(25))
  }

  @Test("a run whose devices all sleep for good is stuck, and says who waits")
  func sleepsForGood() throws {
    let error = try #require(throws: VirtualTimeError.self) {
      try VirtualTime.run { loop in
        loop.sleep()
        try await loop.clock.sleep(for: .seconds(1))
      }
    }
    guard case .stuck(_, let left) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(left.sleepers.map(\.name) == ["“body”"])
  }

  @Test("a clock that is 100 millionths fast gains 360 ms an hour; deadlines follow their clock")
  func skew() throws {
    let journal = Journal()
    try VirtualTime.run { loop in
      let fast = loop.time.makeLoop(skew: 100)
      let slow = loop.time.makeLoop(skew: -100)
      for (name, device) in [("fast", fast), ("slow", slow)] {
        device.task(name) {
          try await device.clock.sleep(for: .seconds(3600))
          journal.add(name, at: loop.now)
        }
        device.arm(
          Alarm { _ in
            #expect(device.now == .origin + .seconds(1))
            journal.add("\(name) deadline", at: loop.now)
          }, at: .origin + .seconds(1))
      }
      try await loop.clock.sleep(for: .seconds(3601))
      #expect(fast.now == .origin + .nanoseconds(3_601_360_100_000))
      #expect(slow.now == .origin + .nanoseconds(3_600_639_900_000))
    }
    // 3600 s / 1.0001 and / 0.9999, and the same of one second, rounded up to a nanosecond.
    #expect(
      journal.all == [
        "0.99990001 fast deadline", "1.000100011 slow deadline", "3599.640035997 fast",
        "3600.360036004 slow",
      ])
  }
}
