import ConnectionFSM
import NetSim
import Testing

@Suite("Fleet: the strict driver")
struct StrictDriverTests {
  /// A fleet of one whose only link is open, and the epoch of it.
  private func open() throws -> (Fleet, Epoch) {
    var fleet = try starting()
    while let event = try fleet.step(), event.kind != .opened {}
    return (fleet, Epoch(1))
  }

  /// A fleet of one, whose server refuses nobody.
  private func starting() throws -> Fleet {
    try Fleet(
      count: 1, policy: Workload.policy(),
      conditions: Workload.conditions(refusalsPerMillion: 0), seed: 1)
  }

  @Test("the full referee finds nothing in ten thousand steps")
  func referee() throws {
    var fleet = try Workload.fleet(25, seed: 14, checks: .referee)
    for _ in 0..<10_000 { _ = try fleet.step() }
    #expect(fleet.counts.events == 10_000)
  }

  @Test("I2: a link that ended without the driver's knowledge stops the run")
  func endedUnseen() throws {
    var (fleet, epoch) = try open()
    #expect(throws: Violation.self) {
      try fleet.plant(.transport(epoch, .failed(.system(.connectionReset))), in: 0)
    }
  }

  @Test("I2: a link that opened without the driver's knowledge stops the run")
  func openedUnseen() throws {
    var fleet = try starting()
    while let event = try fleet.step(), event.kind != .started {}
    try fleet.plant(.transport(Epoch(1), .opened), in: 0)
    #expect(throws: Violation.self) { try fleet.run(through: .origin + .seconds(60)) }
  }

  @Test("F04: a dial to an endpoint that nobody asked for stops the run")
  func wrongEndpoint() throws {
    var (fleet, _) = try open()
    #expect(throws: Violation.self) { try fleet.plant(.connect(EndpointID(9)), in: 0) }
  }

  @Test("an effect that no client of a fleet has stops the run")
  func unknownEffect() throws {
    let (fleet, _) = try open()
    for input in [Input.close, .offer(LaneID(0), byteCount: 1)] {
      var copy = fleet
      #expect(throws: Violation.self) { try copy.plant(input, in: 0) }
    }
  }

  @Test("an input that the machine ignores stops the run")
  func ignored() throws {
    var (fleet, _) = try open()
    #expect(throws: Violation.self) { try fleet.plant(.transport(Epoch(7), .opened), in: 0) }
  }
}

@Suite("Fleet: settings")
struct FleetSettingTests {
  private func fault(
    _ policy: Policy? = nil, count: Int = 1, _ change: (inout FleetConditions) -> Void = { _ in }
  ) throws -> String? {
    var conditions = Workload.conditions()
    change(&conditions)
    let policy = try policy ?? Workload.policy()
    do throws(FleetError) {
      _ = try Fleet(count: count, policy: policy, conditions: conditions, seed: 1)
      return nil
    } catch {
      #expect(error.description == "fleet: \(error.setting): \(error.mend)")
      return error.setting
    }
  }

  @Test("settings that cannot be are refused by name")
  func conditions() throws {
    #expect(try fault() == nil)
    #expect(try fault(count: 0) == "count")
    #expect(try fault { $0.startsWithin = .seconds(-1) } == "startsWithin")
    #expect(try fault { $0.latency = LatencyRange(.seconds(2), .seconds(1)) } == "latency")
    #expect(try fault { $0.latency.least = .seconds(-1) } == "latency")
    #expect(try fault { $0.refusalsPerMillion = 1_000_001 } == "refusalsPerMillion")
    #expect(try fault { $0.meanLifetime = .zero } == "meanLifetime")
    #expect(try fault { $0.meanLifetime = nil } == nil)
  }

  @Test("policies that a fleet does not serve are refused by name")
  func policies() throws {
    let usual = Heartbeat(interval: .seconds(25), timeout: .seconds(10))
    let unserved: [(Policy, String)] = [
      (try Policy(heartbeat: usual, credentialsDeadline: .seconds(1)), "credentialsDeadline"),
      (try Policy(heartbeat: usual, sessionDeadline: .seconds(1)), "sessionDeadline"),
      (try Policy(heartbeat: usual, rollover: Rollover(maxAge: .seconds(60))), "rollover"),
      (try Policy(heartbeat: usual, beat: Beat(interval: .seconds(60))), "beat"),
      (try Policy(heartbeat: Heartbeat(isServerDriven: true)), "heartbeat.isServerDriven"),
      (try Policy(heartbeat: Heartbeat(timeout: .milliseconds(160))), "heartbeat.timeout"),
    ]
    for (policy, name) in unserved { #expect(try fault(policy) == "policy." + name) }
    #expect(try fault(Policy(heartbeat: nil)) == nil)
  }
}
