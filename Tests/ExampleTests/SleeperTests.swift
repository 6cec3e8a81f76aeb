import ConnectionFSM
import NetSim
import Testing
import Transports
import sleeper_example

/// A sensor on a device that really stands still, and its collector.
private struct World {
  let collector = Collector()
  let server: SimulatedProgram<DelimiterFraming>
  private let internet: SimulatedInternet
  private let device: HostID
  private let sensor: Sensor
  private let nights: Nights

  /// The device's sleep. Unchecked: the simulation has one thread.
  private final class Nights: @unchecked Sendable {
    private let internet: SimulatedInternet
    private let device: HostID
    private let server: SimulatedProgram<DelimiterFraming>
    /// How many connections the collector had as the device fell asleep.
    private(set) var linkCounts: [Int] = []
    /// How many it had accepted by then.
    private(set) var dialCounts: [Int] = []

    init(
      _ internet: SimulatedInternet, _ device: HostID,
      _ server: SimulatedProgram<DelimiterFraming>
    ) {
      (self.internet, self.device, self.server) = (internet, device, server)
    }

    func sleep(for span: Duration) async throws {
      linkCounts.append(server.connectionCount)
      dialCounts.append(server.acceptedCount)
      let clock = internet.loop(of: device).clock
      let morning = clock.now.advanced(by: span)
      internet.inject(.sleep(device))
      internet.inject(.wake(device, sockets: .kept), after: TimeSpan(span))
      try await clock.sleep(until: morning)
    }
  }

  init(_ loop: SimulatedEventLoop, seed: UInt64, script: (inout Internet, HostID) -> Void) throws {
    var world = Internet(seed: seed)
    device = world.addHost("sensor", link: .wpt3G)
    let house = world.addHost("collector.example")
    script(&world, device)
    internet = SimulatedInternet(world, on: loop)
    let lines = try DelimiterFraming(delimiter: .lf)
    server = SimulatedProgram(collector, on: internet, host: house, port: 7000, engine: { lines })
    let nights = Nights(internet, device, server)
    self.nights = nights
    let board = Sensor.Board(window: .seconds(20), clock: internet.loop(of: device).clock) {
      "20 degrees"
    } sleep: {
      try await nights.sleep(for: $0)
    }
    let framing = try Sensor.framing()
    sensor = try Sensor(internet.transport(from: device) { framing }, board: board, seed: seed)
  }

  var linkCounts: [Int] { nights.linkCounts }
  var dialCounts: [Int] { nights.dialCounts }

  /// - Returns: How many readings were not sent.
  func live(rounds: Int, every interval: Duration, batch: Int = 1) async throws -> Int {
    try await internet.loop(of: device).task("sensor") { [sensor] in
      try await sensor.run(
        to: Endpoint(host: "collector.example", port: 7000), rounds: rounds, every: interval,
        batch: batch)
    }.value
  }
}

@Suite("The sleeper example")
struct SleeperTests {
  private static func readings(_ numbers: some Sequence<Int>) -> [String] {
    numbers.map { "\($0) 20 degrees" }
  }

  @Test("F53: a sensor dials once a day for its reading, and sleeps without a link")
  func days() throws {
    try VirtualTime.run(limit: .seconds(40 * 86_400)) { loop in
      let world = try World(loop, seed: 1) { _, _ in }
      let waiting = try await world.live(rounds: 30, every: .seconds(86_400))
      #expect(waiting == 0)
      #expect(world.collector.readings == Self.readings(1...30))
      #expect(world.linkCounts == Array(repeating: 0, count: 30))
      #expect(world.dialCounts == Array(1...30))
    }
  }

  @Test("F53: a sensor that wakes without enough to send does not dial")
  func batches() throws {
    try VirtualTime.run { loop in
      let world = try World(loop, seed: 4) { _, _ in }
      let waiting = try await world.live(rounds: 20, every: .seconds(600), batch: 6)
      #expect(waiting == 2)
      #expect(world.collector.readings == Self.readings(1...18))
      #expect(world.dialCounts == (1...20).map { $0 / 6 })
      #expect(world.linkCounts == Array(repeating: 0, count: 20))
    }
  }

  @Test("F53: readings of an outage wait, nothing dials in the sleep, and they arrive in order")
  func outage() throws {
    try VirtualTime.run { loop in
      let world = try World(loop, seed: 2) { internet, device in
        internet.inject(
          .leaveNetwork(device, sockets: .failed(.networkDown)), at: .origin + .seconds(1500))
        internet.inject(.join(device, interface: 1, sockets: .kept), at: .origin + .seconds(5100))
      }
      let waiting = try await world.live(rounds: 12, every: .seconds(600))
      #expect(waiting == 0)
      #expect(world.collector.readings == Self.readings(1...12))
      #expect(world.linkCounts == Array(repeating: 0, count: 12))
      // One link each for the rounds without the outage, and none in between.
      #expect(world.dialCounts.last == 12 - 6)
    }
  }

  @Test("F53: a link that dies in its window costs a repetition at most, and no reading")
  func cuts() throws {
    for moment in 0..<60 {
      try VirtualTime.run { loop in
        let world = try World(loop, seed: UInt64(moment)) { internet, device in
          internet.inject(.cut(device), at: .origin + .milliseconds(20 * Int64(moment)))
        }
        let waiting = try await world.live(rounds: 3, every: .seconds(600))
        #expect(waiting == 0)
        #expect(world.collector.readings == Self.readings(1...3))
        #expect(world.collector.repeatCount <= 1)
        #expect(world.linkCounts == [0, 0, 0])
      }
    }
  }

  @Test("What cannot be sent before the end is counted")
  func neverSent() throws {
    try VirtualTime.run { loop in
      let world = try World(loop, seed: 3) { internet, device in
        internet.inject(
          .leaveNetwork(device, sockets: .failed(.networkDown)), at: .origin + .seconds(900))
      }
      let waiting = try await world.live(rounds: 4, every: .seconds(600))
      #expect(waiting == 2)
      #expect(world.collector.readings == Self.readings(1...2))
    }
  }
}
