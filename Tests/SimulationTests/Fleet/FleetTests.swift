import ConnectionFSM
import NetSim
import Testing

@Suite("Fleet")
struct FleetTests {
  private let hour = Instant.origin + .seconds(3600)

  // MARK: Against the workload

  @Test("each client does what one written out by hand does, event by event")
  func againstByHand() throws {
    var fleet = try Workload.fleet(12, seed: 3)
    let events = try fleet.events(through: hour)
    var expected: [FleetEvent] = []
    for number in 0..<UInt32(12) {
      var client = NaiveClient(number: number, seed: 3)
      client.live(through: hour)
      expected += client.events
    }
    expected.sort { ($0.instant.nanoseconds, $0.client) < ($1.instant.nanoseconds, $1.client) }
    #expect(expected.count > 12 * 400)
    #expect(events == expected)
  }

  @Test("counts of an hour are those that the workload implies, within four standard errors")
  func workload() throws {
    let clients = 400
    var fleet = try Workload.fleet(clients, seed: 21)
    try fleet.run(through: hour)
    let counts = fleet.counts
    let each = { (count: Int) in Double(count) / Double(clients) }
    #expect((450...480).contains(each(counts.events)))
    // A cycle of open and down lasts 300 s + 0.96 s, and its variance is about that of the former;
    // by renewal theory a client opens 12.957 times, with a deviation of 3.45.
    let root = Double(clients).squareRoot()
    #expect(abs(each(counts.opens) - 12.957) < 4 * 3.45 / root, "\(counts)")
    // One dial in five is refused.
    let answered = Double(counts.opens + counts.refusals)
    let refused = Double(counts.refusals) / answered
    #expect(abs(refused - 0.2) < 4 * (0.16 / answered).squareRoot(), "\(counts)")
    // Of 3588 s open, e^(-25/300) / (1 - e^(-25.1/300)) = 11.46 pings each 301 s, but for the ends.
    #expect(abs(each(counts.pings) - 136.8) < 0.02 * 136.8, "\(counts)")
    #expect(counts.dials - counts.opens - counts.refusals <= clients)
    #expect(counts.opens - counts.drops <= clients && counts.aborts == 0)
  }

  @Test("events and counts say the same, and a deadline is a dial or a ping")
  func counts() throws {
    var fleet = try Workload.fleet(30, seed: 8)
    var seen: [FleetEvent.Kind: Int] = [:]
    for _ in 0..<9000 {
      if let event = try fleet.step() { seen[event.kind, default: 0] += 1 }
    }
    let counts = fleet.counts
    #expect(counts.events == 9000)
    #expect(seen[.opened] == counts.opens && seen[.refused] == counts.refusals)
    #expect(seen[.pongArrived] == counts.pongs && seen[.dropped] == counts.drops)
    let wakes = seen[.started, default: 0] + seen[.deadlineReached, default: 0]
    #expect(wakes == counts.dials + counts.pings)
  }

  // MARK: Determinism

  @Test("one seed gives one run, another seed another")
  func seeds() throws {
    func digest(seed: UInt64) throws -> UInt64 {
      var fleet = try Workload.fleet(50, seed: seed)
      return try fleet.events(through: .origin + .seconds(600)).digest
    }
    let first = try digest(seed: 4)
    #expect(try digest(seed: 4) == first)
    #expect(try digest(seed: 5) != first)
    // The same on every machine, in debug and release.
    #expect(first == 17_897_832_416_783_872_480)
  }

  @Test("running at one go and step by step is the same")
  func steps() throws {
    var atOnce = try Workload.fleet(40, seed: 6)
    var stepwise = atOnce
    try atOnce.run(through: hour)
    var events = 0
    while events < atOnce.counts.events, try stepwise.step() != nil { events += 1 }
    #expect(stepwise.counts == atOnce.counts && stepwise.now == atOnce.now)
    let rest = try atOnce.events(through: hour + .seconds(100))
    #expect(try stepwise.events(through: hour + .seconds(100)) == rest)
  }

  @Test("a copy is a snapshot: it goes on alike, whatever became of the original")
  func snapshot() throws {
    var fleet = try Workload.fleet(300, seed: 9)
    try fleet.run(through: .origin + .seconds(200))
    var copy = fleet
    let events = try fleet.events(through: .origin + .seconds(400))
    let copied = try copy.events(through: .origin + .seconds(400))
    #expect(events.count > 1000)
    #expect(copied == events)
  }

  @Test("a client's life does not depend on how many others there are")
  func independence() throws {
    var few = try Workload.fleet(3, seed: 2)
    var many = try Workload.fleet(300, seed: 2)
    let end = Instant.origin + .seconds(300)
    let lives = try many.events(through: end).filter { $0.client < 3 }
    #expect(try few.events(through: end) == lives)
  }

  // MARK: Ends

  @Test("clients whose attempts are used up are at rest, and the run ends")
  func givenUp() throws {
    var fleet = try Fleet(
      count: 5, policy: Workload.policy(attemptLimit: 4),
      conditions: Workload.conditions(refusalsPerMillion: 1_000_000), seed: 1)
    try fleet.run(through: hour)
    let next = try fleet.step()
    #expect(next == nil)
    #expect(fleet.counts.dials == 20 && fleet.counts.refusals == 20 && fleet.counts.opens == 0)
  }

  @Test("an answer that comes after the connect deadline is cut off")
  func tooLate() throws {
    let policy = try Policy(
      connectDeadline: .milliseconds(900),
      backoff: Backoff(first: .seconds(5), base: .seconds(1), cap: .seconds(60), stability: .zero),
      minimumDialSpacing: .seconds(1), heartbeat: Heartbeat(timeout: .seconds(3)))
    let conditions = FleetConditions(
      startsWithin: .zero, latency: LatencyRange(.milliseconds(100), .seconds(1)),
      refusalsPerMillion: 0, meanLifetime: .seconds(20))
    var fleet = try Fleet(
      count: 40, policy: policy, conditions: conditions, seed: 5, checks: .referee)
    try fleet.run(through: .origin + .seconds(600))
    #expect(fleet.counts.aborts > 100 && fleet.counts.opens > 100)
    #expect(fleet.counts.dials - fleet.counts.aborts - fleet.counts.opens <= 40)
  }
}
