package import ConnectionFSM

/// Many clients of one server in one virtual time, each with the machine that ships.
///
/// The clients are driven through the machine's inputs and effects alone. The driver is strict: it
/// keeps its own books of each client's link, and an effect that is illegal by these books stops
/// the run. Events come in the order (instant, client), and those of one client at one instant in a
/// fixed order: what the server did, what arrives, then the client's own deadline. All draws of a
/// client come from streams of its own, so that no client depends on how many others there are.
///
/// A value: a copy is a snapshot that goes on by itself.
package struct Fleet: Sendable {
  /// How strictly the driver looks.
  package enum Checks: Sendable {
    /// The driver's own books of links, which cost next to nothing.
    case books
    /// The full ``Referee`` on every step as well, at many times the cost and memory.
    case referee
  }

  /// How often things happened so far.
  package var counts: FleetCounts { shards[0].counts }
  /// When the last event happened.
  package var now: Instant { shards[0].now }

  private let conditions: FleetConditions
  /// One, unless they meet at a server with a line.
  private var shards: [FleetShard] = []
  private var clients: [FleetClient] = []
  private var machines: [Machine] = []
  private var referees: [Referee] = []
  /// Nil where the server is the one of the conditions, without a line.
  private var line: ServerLine?
  /// How far the machines' clocks are ahead: how long a link was open before it is lost.
  private var openFor = TimeSpan.zero

  /// Makes a fleet whose clients all use one policy.
  /// - Parameters:
  ///   - count: How many clients; from 1.
  ///   - policy: The knobs of every client.
  ///   - conditions: What they live under.
  ///   - seed: What every draw comes from.
  ///   - checks: How strictly the driver looks.
  /// - Throws: ``FleetError``, which names the setting and the mend.
  package init(
    count: Int, policy: Policy, conditions: FleetConditions, seed: UInt64, checks: Checks = .books
  ) throws(FleetError) {
    guard (1...Int(UInt32.max)).contains(count) else {
      throw FleetError(setting: "count", mend: "must be 1 to 4,294,967,295")
    }
    try conditions.validate()
    try conditions.validate(policy)
    self.conditions = conditions
    if checks == .referee { referees = Array(repeating: Referee(policy: policy), count: count) }
    shards = [FleetShard(0..<count)]
    try populate(count, seed: seed) { _ in
      policy
    } start: { _, random in
      .origin + random.span(through: conditions.startsWithin)
    }
  }

  /// Makes a fleet that loses a server with a line, and comes back to it.
  /// - Parameters:
  ///   - pieces: Into how many shards it is cut; at least 1.
  ///   - policy: The knobs of a client, by its number.
  init(
    clients: Int, server: FleetServer, seed: UInt64, start: FleetSimulation.Start,
    shards pieces: Int, policy: (UInt32) -> Policy
  ) throws(FleetError) {
    try server.validate()
    conditions = FleetConditions(
      startsWithin: .zero, latency: server.latency, refusalsPerMillion: 0, meanLifetime: nil)
    try conditions.validate()
    let count = server.lost(of: clients)
    line = ServerLine(server)
    let most = min(pieces, count)
    shards = (0..<most).map { piece in
      let clients = count * piece / most..<count * (piece + 1) / most
      return FleetShard(clients, books: ClientBooks(server, clients: clients, start: start))
    }
    let conditions = conditions
    var longest = TimeSpan.zero
    try populate(count, seed: seed) { place throws(FleetError) in
      let policy = policy(place)
      try conditions.validate(policy)
      // So that a dial is at the server, or answered, when it is given up.
      guard policy.connectDeadline.nanoseconds > 2 * server.latency.most.nanoseconds else {
        throw FleetError(
          setting: "policy.connectDeadline", mend: "must be longer than the longest round trip")
      }
      longest = max(longest, policy.minimumDialSpacing, policy.backoff.stability)
      return policy
    } start: { place, _ in
      server.loss(of: place, count: count)
    }
    // Long enough that neither the dial before the run nor a failure before that counts any more.
    if start == .lostLink { openFor = longest }
  }

  private mutating func populate(
    _ count: Int, seed: UInt64, policy: (UInt32) throws(FleetError) -> Policy,
    start: (UInt32, inout RandomStream) -> Instant
  ) throws(FleetError) {
    clients.reserveCapacity(count)
    machines.reserveCapacity(count)
    for shard in shards.indices {
      for place in shards[shard].clients.map({ UInt32($0) }) {
        var dice = RandomStream(seed: seed, name: "fleet.machine", number: place)
        machines.append(Machine(policy: try policy(place), seed: dice.next(through: .max)))
        var client = FleetClient(
          random: RandomStream(seed: seed, name: "fleet.client", number: place))
        let instant = start(place, &client.random)
        client.send(.start, arriving: instant)
        clients.append(client)
        shards[shard].coming.schedule((), at: instant, by: place)
      }
    }
  }

  /// Runs until all are connected, or up to an instant, and says what came of it.
  mutating func recover(through end: Instant) throws(Violation) -> FleetReport {
    guard var line else { return FleetReport() }
    let (count, latency) = (clients.count, conditions.latency.least)
    // Where there is no latency a window is an instant.
    let window = max(latency, .nanoseconds(1)) - .nanoseconds(1)
    let isOver = try drive { drivers throws(Violation) in
      while let start = drivers.nextInstant(latency: latency), start <= end {
        try drivers.run(through: min(start + window, end))
        drivers.answer(by: &line)
        if drivers.connected == count { return true }
      }
      return false
    }
    let dialling = clients.count { $0.stage == .dialling }
    let books = shards.compactMap(\.books)
    // What is not needed any more makes room for the report.
    (clients, machines, shards) = ([], [], [])
    let last = books.compactMap(\.connections.last).max()
    return line.close(
      at: isOver ? last ?? end : end, clients: count, dialling: dialling, books)
  }
}

extension Fleet {
  /// Runs everything that happens up to an instant, that instant included.
  /// - Throws: The first broken promise. The fleet is not fit to be run on.
  package mutating func run(through end: Instant) throws(Violation) {
    try drive { drivers throws(Violation) in try drivers[0].run(through: end) }
  }

  /// Runs the next event; nil if nothing will ever happen any more.
  /// - Throws: The first broken promise. The fleet is not fit to be run on.
  package mutating func step() throws(Violation) -> FleetEvent? {
    try drive { drivers throws(Violation) in try drivers[0].step() }
  }

  /// Gives an input to the machine of a client without a word to the driver's books: so a test
  /// shows that the driver finds out.
  package mutating func plant(_ input: Input, in client: Int) throws(Violation) {
    try drive { drivers throws(Violation) in try drivers[0].feed(input, to: client) }
  }

  /// Lends everything to drivers, one a shard, by pointers: a look at the arrays as they are costs
  /// as much as the rest of an event.
  private mutating func drive<Result>(
    _ body: (UnsafeMutableBufferPointer<FleetDriver>) throws(Violation) -> Result
  ) throws(Violation) -> Result {
    var lent: [FleetShard] = []
    swap(&lent, &shards)
    defer { swap(&lent, &shards) }
    let effects = UnsafeMutablePointer<Effects>.allocate(capacity: lent.count)
    let count = lent.count
    effects.initialize(repeating: Effects(), count: count)
    defer {
      effects.deinitialize(count: count)
      effects.deallocate()
    }
    return try clients.withUnsafeMutableBufferPointer { clients throws(Violation) in
      try machines.withUnsafeMutableBufferPointer { machines throws(Violation) in
        try referees.withUnsafeMutableBufferPointer { referees throws(Violation) in
          var drivers: [FleetDriver] = []
          // Handed over, not shared: nobody must have to copy a queue.
          lent.reverse()
          while let shard = lent.popLast() {
            drivers.append(
              FleetDriver(
                conditions: conditions, clients: clients, machines: machines, referees: referees,
                effects: effects + drivers.count, shard: shard, openFor: openFor))
          }
          defer {
            drivers.reverse()
            while let driver = drivers.popLast() { lent.append(driver.shard) }
          }
          return try drivers.withUnsafeMutableBufferPointer { drivers throws(Violation) in
            try body(drivers)
          }
        }
      }
    }
  }
}
