import ConnectionFSM
import NetSim
import Testing

/// Faults that a program sees in its clocks, on the loop of its device.
@Suite struct FaultClockTests {
  /// Confined to the simulation's thread.
  private final class Beats: @unchecked Sendable {
    var seconds: [Int] = []
  }

  /// A client on a device of its own, and a server.
  private func world(
    on loop: SimulatedEventLoop, skew: Int32 = 0
  ) -> (SimulatedInternet, HostID, SimulatedEventLoop) {
    var internet = Internet(seed: 1)
    let client = internet.addHost("client", link: .constant(.milliseconds(10)))
    internet.listen(internet.addHost("server"), port: 443, Service(script: [.echo]))
    let world = SimulatedInternet(internet, on: loop)
    return (world, client, world.loop(of: client, skew: skew))
  }

  @Test("fault 35 device-sleep: after 8 h one clock has gone on, one has not, a timer is late")
  func deviceSleep() throws {
    try VirtualTime.run { loop in
      let (world, client, device) = world(on: loop)
      world.inject(.sleep(client), after: .seconds(10))
      let night = 8 * 3600 as Int64
      world.inject(.wake(client, sockets: .kept), after: .seconds(10 + night))
      let late = device.task("timer") {
        try await device.clock.sleep(for: .seconds(60))
        return device.now
      }
      let unaware = device.task("timer that does not count sleep") {
        try await device.suspendingClock.sleep(for: .seconds(60))
        return device.now
      }
      try await loop.clock.sleep(for: .seconds(9 * 3600))
      #expect(device.now == .origin + .seconds(9 * 3600))
      #expect(device.suspendingClock.now == .origin + .seconds(3600))
      let fired = try await (late.value, unaware.value)
      #expect(fired.0 == .origin + .seconds(10 + night))
      #expect(fired.1 == .origin + .seconds(60 + night))
    }
  }

  @Test("fault 36 doze: heartbeats of 25 s come in the windows alone")
  func doze() throws {
    try VirtualTime.run(limit: .seconds(30 * 3600)) { loop in
      let (world, client, device) = world(on: loop)
      world.change { $0.inject(.doze(client, window: .seconds(600)), from: .origin) }
      let beats = Beats()
      let heart = device.task("heart") {
        while beats.seconds.last ?? 0 < 24 * 3600 {
          try await device.clock.sleep(for: .seconds(25))
          beats.seconds.append(Int(loop.now.nanoseconds / 1_000_000_000))
        }
      }
      try await loop.clock.sleep(for: .seconds(22 * 3600))
      heart.cancel()
      // Asleep, it would not notice.
      world.inject(.wake(client, sockets: .kept))
      _ = await heart.result
      let hours = Set(beats.seconds.map { $0 / 3600 })
      #expect(hours == [0, 2, 4, 8, 14, 20])
      #expect(beats.seconds.allSatisfy { $0 <= 3600 || $0 % 3600 <= 4 * 600 + 600 })
      #expect(beats.seconds.count < 7 * 144)
    }
  }

  @Test("fault 38 clock-skew: at 100 millionths a day of heartbeats is 8.64 s off")
  func clockSkew() throws {
    for (skew, milliseconds) in [(100, 86_391_360), (-100, 86_408_640)] as [(Int32, Int64)] {
      try VirtualTime.run(limit: .seconds(100_000)) { loop in
        let (_, _, device) = world(on: loop, skew: skew)
        let day = device.task("day") {
          for beat in 1...3456 as ClosedRange<Int64> {
            try await device.clock.sleep(until: .origin + .seconds(25 * beat))
          }
          return loop.now.nanoseconds / 1_000_000
        }
        let ended = try await day.value
        #expect(abs(ended - milliseconds) <= 1)
      }
    }
  }
}
