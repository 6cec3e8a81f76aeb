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
  package private(set) var counts = FleetCounts()
  /// When the last event happened.
  package private(set) var now = Instant.origin

  private let conditions: FleetConditions
  private var coming = EventQueue<Void>()
  private var clients: [FleetClient] = []
  private var machines: [Machine] = []
  private var referees: [Referee] = []
  private var effects = Effects()
  private var touched: UInt64 = 0
  /// Nil where the server is the one of the conditions, without a line.
  private var books: ServerBooks?
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
    try populate(count, seed: seed) { _ in
      policy
    } start: { _, random in
      .origin + random.span(through: conditions.startsWithin)
    }
  }

  /// Makes a fleet that loses a server with a line, and comes back to it.
  /// - Parameter policy: The knobs of a client, by its number.
  init(
    clients: Int, server: FleetServer, seed: UInt64, start: FleetSimulation.Start,
    policy: (UInt32) -> Policy
  ) throws(FleetError) {
    try server.validate()
    conditions = FleetConditions(
      startsWithin: .zero, latency: server.latency, refusalsPerMillion: 0, meanLifetime: nil)
    try conditions.validate()
    let count = server.lost(of: clients)
    books = ServerBooks(server, clients: count, start: start)
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
    for place in 0..<UInt32(count) {
      var dice = RandomStream(seed: seed, name: "fleet.machine", number: place)
      machines.append(Machine(policy: try policy(place), seed: dice.next(through: .max)))
      var client = FleetClient(
        random: RandomStream(seed: seed, name: "fleet.client", number: place))
      let instant = start(place, &client.random)
      client.send(.start, arriving: instant)
      clients.append(client)
      coming.schedule((), at: instant, by: place)
    }
  }

  /// Runs until all are connected, or up to an instant, and says what came of it.
  mutating func recover(through end: Instant) throws(Violation) -> FleetReport {
    try drive { driver throws(Violation) in try driver.run(through: end) }
    if books?.isOver == false { now = end }
    let dialling = clients.count { $0.stage == .dialling }
    return books?.close(at: now, dialling: dialling) ?? FleetReport()
  }
}

extension Fleet {
  /// Runs everything that happens up to an instant, that instant included.
  /// - Throws: The first broken promise. The fleet is not fit to be run on.
  package mutating func run(through end: Instant) throws(Violation) {
    try drive { driver throws(Violation) in try driver.run(through: end) }
  }

  /// Runs the next event; nil if nothing will ever happen any more.
  /// - Throws: The first broken promise. The fleet is not fit to be run on.
  package mutating func step() throws(Violation) -> FleetEvent? {
    try drive { driver throws(Violation) in try driver.step() }
  }

  /// Gives an input to the machine of a client without a word to the driver's books: so a test
  /// shows that the driver finds out.
  package mutating func plant(_ input: Input, in client: Int) throws(Violation) {
    try drive { driver throws(Violation) in try driver.feed(input, to: client) }
  }

  /// Lends everything to a driver, by pointers: a look at the arrays as they are costs as much as
  /// the rest of an event.
  private mutating func drive<Result>(
    _ body: (inout FleetDriver) throws(Violation) -> Result
  ) throws(Violation) -> Result {
    var lent = EventQueue<Void>()
    swap(&lent, &coming)
    defer { swap(&lent, &coming) }
    var lentBooks: ServerBooks?
    swap(&lentBooks, &books)
    defer { swap(&lentBooks, &books) }
    return try clients.withUnsafeMutableBufferPointer { clients throws(Violation) in
      try machines.withUnsafeMutableBufferPointer { machines throws(Violation) in
        try referees.withUnsafeMutableBufferPointer { referees throws(Violation) in
          try withUnsafeMutablePointer(to: &effects) { effects throws(Violation) in
            var driver = FleetDriver(
              conditions: conditions, clients: clients, machines: machines, referees: referees,
              effects: effects, coming: consume lent, counts: counts, now: now,
              touched: touched, books: consume lentBooks, openFor: openFor)
            defer {
              lent = driver.coming
              lentBooks = driver.books
              counts = driver.counts
              now = driver.now
              touched = driver.touched
            }
            return try body(&driver)
          }
        }
      }
    }
  }
}
