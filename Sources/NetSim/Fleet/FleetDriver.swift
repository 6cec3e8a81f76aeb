import ConnectionFSM

/// What drives the clients of a fleet, for the length of one call.
struct FleetDriver {
  let conditions: FleetConditions
  let clients: UnsafeMutableBufferPointer<FleetClient>
  let machines: UnsafeMutableBufferPointer<Machine>
  /// Empty, or one a client.
  let referees: UnsafeMutableBufferPointer<Referee>
  let effects: UnsafeMutablePointer<Effects>
  var shard: FleetShard
  /// How far the machines' clocks are ahead.
  var openFor: TimeSpan
  /// The promise that was broken in a window.
  private(set) var failure: Violation?

  init(
    conditions: FleetConditions, clients: UnsafeMutableBufferPointer<FleetClient>,
    machines: UnsafeMutableBufferPointer<Machine>, referees: UnsafeMutableBufferPointer<Referee>,
    effects: UnsafeMutablePointer<Effects>, shard: consuming FleetShard, openFor: TimeSpan
  ) {
    self.conditions = conditions
    self.clients = clients
    self.machines = machines
    self.referees = referees
    self.effects = effects
    self.shard = shard
    self.openFor = openFor
  }

  /// Runs what happens in a shard up to an instant, after the answers from before.
  mutating func runWindow(through end: Instant) {
    do throws(Violation) {
      try takeAnswers()
      try run(through: end)
    } catch {
      failure = error
    }
  }

  mutating func run(through end: Instant) throws(Violation) {
    var batch = shard.coming.batch
    while let next = shard.coming.nextInstant, next <= end {
      _ = try step()
      if shard.coming.batch != batch {
        batch = shard.coming.batch
        lookAhead()
      }
    }
  }

  /// Reads a word of every cache line that the next events will ask for. In a large fleet each
  /// event would wait for memory by itself, several times; now that of some dozens comes at once.
  @inline(never)
  private mutating func lookAhead() {
    guard let machines = UnsafeRawPointer(machines.baseAddress) else { return }
    let size = MemoryLayout<Machine>.stride
    let clients = clients
    var sum = UInt64(0)
    shard.coming.forEachSoon { sum &+= clients[Int($0)].epoch.rawValue }
    shard.coming.forEachSoon { client in
      guard !clients[Int(client)].isNextAtServer else { return }
      let machine = machines + Int(client) * size
      for line in stride(from: 0, to: size, by: 64) {
        sum &+= machine.load(fromByteOffset: line, as: UInt64.self)
      }
      sum &+= machine.load(fromByteOffset: size - 8, as: UInt64.self)
    }
    shard.touched &+= sum
  }

  @inline(__always)
  mutating func step() throws(Violation) -> FleetEvent? {
    guard let (instant, place, _) = shard.coming.next() else { return nil }
    shard.now = instant
    shard.counts.events += 1
    let client = Int(place)
    let kind = try serve(client)
    // Before the server has answered nothing else happens to the client.
    if clients[client].flight != .asked { try schedule(place) }
    return FleetEvent(instant: instant, client: place, kind: kind)
  }
}

// MARK: What happens

extension FleetDriver {
  @inline(__always)
  private mutating func schedule(_ place: UInt32) throws(Violation) {
    let next = clients[Int(place)].next
    if next < .endOfTime {
      shard.coming.schedule((), at: next, by: place)
    } else {
      try requireRest(of: Int(place))
    }
  }

  /// The soonest that something can happen; nil if nothing will.
  func nextInstant(latency: TimeSpan) -> Instant? {
    let answer = shard.books?.arrival(0).map { $0 + latency }
    guard let event = shard.coming.nextInstant else { return answer }
    return answer.map { min($0, event) } ?? event
  }

  /// Sends what the server has said to the dials that had arrived.
  mutating func takeAnswers() throws(Violation) {
    // Taken out and given back, so that its memory is kept and nothing is copied.
    var arrivals: [ClientBooks.Arrival] = []
    guard shard.books?.swapArrivals(&arrivals) != nil else { return }
    // As in ``lookAhead()``: all at once from memory, not one after the other.
    for arrival in arrivals {
      shard.touched &+= clients[Int(arrival.client)].epoch.rawValue
    }
    for arrival in arrivals {
      let client = Int(arrival.client)
      switch arrival.answer {
      case .accepted(let finish): send(.accepted, client, from: finish)
      case .refused: send(.refused, client, from: arrival.instant)
      case .shed: send(.shed, client, from: arrival.instant)
      case .dropped: clients[client].land()
      }
      try schedule(arrival.client)
    }
    arrivals.removeAll(keepingCapacity: true)
    shard.books?.swapArrivals(&arrivals)
  }

  /// Lets the one thing happen to a client that is due first.
  @inline(__always)
  private mutating func serve(_ client: Int) throws(Violation) -> FleetEvent.Kind {
    if clients[client].dropsAt == shard.now {
      shard.counts.drops += 1
      clients[client].loseLink()
      try feed(.transport(clients[client].epoch, .closed(nil)), to: client)
      return .dropped
    }
    if clients[client].arrivesAt == shard.now { return try arrive(client) }
    try feed(.deadlineReached, to: client)
    guard clients[client].deadline > shard.now else {
      throw Violation("I4", "client \(client) left its deadline unserved at \(shard.now)")
    }
    return .deadlineReached
  }

  /// What was on its way to the server, or to the client, arrives.
  @inline(__always)
  private mutating func arrive(_ client: Int) throws(Violation) -> FleetEvent.Kind {
    let (flight, epoch) = (clients[client].flight, clients[client].epoch)
    switch flight {
    case .ping:
      send(.pong, client)
      return .pingArrived
    case .pong:
      clients[client].land()
      shard.counts.pongs += 1
      try feed(.transport(epoch, .pong(clients[client].ping)), to: client)
      return .pongArrived
    case .dial:
      guard shard.books == nil else {
        clients[client].send(.asked, arriving: .endOfTime)
        shard.books?.arrive(UInt32(client), at: shard.now)
        return .dialArrived
      }
      let draw = clients[client].random.next(through: 999_999)
      send(draw < UInt64(conditions.refusalsPerMillion) ? .refused : .accepted, client)
      return .dialArrived
    case .accepted:
      clients[client].land()
      clients[client].stage = .open
      shard.counts.opens += 1
      shard.books?.open(client, at: shard.now)
      if let mean = conditions.meanLifetime {
        clients[client].dropsAt = shard.now + clients[client].random.exponential(mean: mean)
      }
      try feed(.transport(epoch, .opened), to: client)
      return .opened
    case .refused:
      shard.counts.refusals += 1
      shard.books?.end(client, at: shard.now, isWasted: false, isAnswer: true)
      clients[client].loseLink()
      try feed(.transport(epoch, .failed(.system(.connectionRefused))), to: client)
      return .refused
    case .shed:
      shard.counts.refusals += 1
      shard.books?.end(client, at: shard.now, isWasted: false, isAnswer: true)
      clients[client].loseLink()
      let cause = Cause.http(status: 503, retryAfter: shard.books?.hint)
      try feed(.transport(epoch, .failed(cause)), to: client)
      return .shed
    case .start:
      clients[client].land()
      shard.books?.lose(at: shard.now)
      if shard.books?.start == .lostLink { return try loseFirstLink(of: client) }
      try feed(.connect(Self.server), to: client)
      return .started
    case .none, .asked: throw Violation("fleet", "nothing arrived at client \(client)")
    }
  }

  /// Gives a client the link that it then loses at once: it was connected before the run.
  private mutating func loseFirstLink(of client: Int) throws(Violation) -> FleetEvent.Kind {
    var lent: ClientBooks?
    // That dial is none of the fleet's.
    swap(&lent, &shard.books)
    defer { swap(&lent, &shard.books) }
    let lead = openFor
    openFor = .zero
    try feed(.connect(Self.server), to: client)
    clients[client].land()
    clients[client].stage = .open
    try feed(.transport(clients[client].epoch, .opened), to: client)
    openFor = lead
    clients[client].loseLink()
    try feed(.transport(clients[client].epoch, .closed(nil)), to: client)
    return .dropped
  }

  @inline(__always)
  private func send(_ flight: FleetClient.Flight, _ client: Int) {
    send(flight, client, from: shard.now)
  }

  @inline(__always)
  private func send(_ flight: FleetClient.Flight, _ client: Int, from departure: Instant) {
    let latency = conditions.latency.draw(from: &clients[client].random)
    clients[client].send(flight, arriving: departure + latency)
  }

  private static var server: EndpointID { EndpointID(0) }
}

// MARK: The machine

extension FleetDriver {
  @inline(__always)
  mutating func feed(_ input: Input, to client: Int) throws(Violation) {
    let disposition =
      referees.isEmpty
      ? machines[client].handle(input, at: shard.now + openFor, into: &effects.pointee)
      : try judge(input, of: client)
    // Nothing stale, early or pointless ever happens to a client here.
    guard case .accepted = disposition else {
      throw Violation("fleet", "client \(client) took \(input) as \(disposition) at \(shard.now)")
    }
    for place in 0..<effects.pointee.count { try perform(effects.pointee[place], of: client) }
    guard clients[client].stage != .lost else {
      throw Violation("I8", "client \(client) did not tell the end of \(clients[client].epoch)")
    }
    let deadline = machines[client].nextDeadline
    clients[client].deadline = deadline.map { $0 + (.zero - openFor) } ?? .endOfTime
  }

  @inline(never)
  private func judge(_ input: Input, of client: Int) throws(Violation) -> Disposition {
    let before = machines[client]
    let disposition = machines[client].handle(input, at: shard.now, into: &effects.pointee)
    try referees[client].judge(
      input, at: shard.now, before: before, after: machines[client], disposition: disposition,
      effects: effects.pointee)
    return disposition
  }

  private func requireRest(of client: Int) throws(Violation) {
    let phase = machines[client].phase
    // Whoever is open, without a heartbeat, on a link that nobody drops, has nothing to wait for.
    let isServed = shard.books != nil && phase == .open && clients[client].stage == .open
    guard phase == .closed || isServed else {
      throw Violation("I10", "client \(client) is \(phase) and waits for nothing")
    }
  }
}

// MARK: Effects, carried out if they are legal by the books

extension FleetDriver {
  @inline(__always)
  private mutating func perform(_ effect: Effect, of client: Int) throws(Violation) {
    switch effect {
    case .sendPing(let epoch, let number):
      guard has(.open, epoch, client), clients[client].flight == .none else {
        throw illegal(effect, client)
      }
      shard.counts.pings += 1
      clients[client].ping = number
      send(.ping, client)
    case .openTransport(let epoch, let endpoint):
      guard clients[client].stage == .none, epoch > clients[client].epoch, endpoint == Self.server
      else { throw illegal(effect, client) }
      shard.counts.dials += 1
      shard.books?.dial(client, at: shard.now)
      clients[client].epoch = epoch
      clients[client].stage = .dialling
      send(.dial, client)
    case .abortTransport(let epoch):
      guard has(.dialling, epoch, client) || has(.open, epoch, client) else {
        throw illegal(effect, client)
      }
      shard.counts.aborts += 1
      if clients[client].stage == .dialling {
        // An answer on its way, or one that the server is about to give, finds nobody.
        let isWasted = clients[client].flight == .accepted
        shard.books?.end(client, at: shard.now, isWasted: isWasted, isAnswer: false)
      }
      clients[client].loseLink()
    case .ended(let epoch, _):
      guard has(.lost, epoch, client) else { throw illegal(effect, client) }
      clients[client].stage = .none
    case .closeTransport, .requestCredentials, .startSession, .sendBeat, .transmit, .settle,
      .pressureChanged:
      throw illegal(effect, client)
    }
  }

  @inline(__always)
  private func has(_ stage: FleetClient.Stage, _ epoch: Epoch, _ client: Int) -> Bool {
    clients[client].stage == stage && clients[client].epoch == epoch
  }

  @inline(never)
  private func illegal(_ effect: Effect, _ client: Int) -> Violation {
    let (epoch, stage) = (clients[client].epoch, clients[client].stage)
    return Violation(
      "fleet", "client \(client) at \(shard.now): \(effect), and its link \(epoch) is \(stage)")
  }
}
