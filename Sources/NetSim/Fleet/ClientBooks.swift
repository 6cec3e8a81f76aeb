import ConnectionFSM

/// What the clients of a shard do on their way back to a server with a line.
struct ClientBooks: Sendable {
  /// A dial that has arrived, and what the server says.
  struct Arrival {
    let instant: Instant
    let client: UInt32
    var answer = ServerLine.Answer.dropped
  }

  let start: FleetSimulation.Start
  /// The hint beside the server's 503.
  let hint: UInt16?
  private(set) var dials = 0
  private(set) var wasted = 0
  private(set) var radioWakeUps = 0
  /// How long dials took, in nanoseconds: their ends less their begins, each when it comes, so that
  /// nothing is kept of a client for it.
  private(set) var dialling: Int128 = 0
  /// Client-nanoseconds before the losses that a drain spread out.
  private(set) var lostLate: Int128 = 0
  private(set) var connections: [Instant] = []
  /// Those that the server has not answered, or whose answer is not on its way; in their order.
  private var arrivals: [Arrival] = []
  /// When each client last had network activity; before the origin until there was any.
  private var activeAt: [Instant]
  private let first: Int

  /// Makes the books of some clients of a fleet.
  init(_ server: FleetServer, clients: Range<Int>, start: FleetSimulation.Start) {
    self.start = start
    hint = server.shedding?.retryAfter
    first = clients.lowerBound
    activeAt = Array(repeating: Instant(nanoseconds: .min), count: clients.count)
    connections.reserveCapacity(clients.count)
  }

  /// A dial arrives at the server.
  mutating func arrive(_ client: UInt32, at now: Instant) {
    arrivals.append(Arrival(instant: now, client: client))
  }

  mutating func swapArrivals(_ other: inout [Arrival]) { swap(&arrivals, &other) }

  /// When the dial arrived that is at this place of the row; nil behind its end.
  func arrival(_ place: Int) -> Instant? {
    place < arrivals.count ? arrivals[place].instant : nil
  }

  /// Lets the server answer the dial at this place.
  mutating func answer(_ place: Int, by line: inout ServerLine) {
    arrivals[place].answer = line.answer(at: arrivals[place].instant)
  }

  /// A client loses its link.
  mutating func lose(at now: Instant) { lostLate += Int128(now.nanoseconds) }

  /// A client dials.
  mutating func dial(_ client: Int, at now: Instant) {
    dials += 1
    dialling -= Int128(now.nanoseconds)
    stir(client, at: now)
  }

  /// A dial ends: an answer arrives, or the client gives up.
  mutating func end(_ client: Int, at now: Instant, isWasted: Bool, isAnswer: Bool) {
    dialling += Int128(now.nanoseconds)
    if isWasted { wasted += 1 }
    if isAnswer { stir(client, at: now) }
  }

  /// A client is connected.
  mutating func open(_ client: Int, at now: Instant) {
    end(client, at: now, isWasted: false, isAnswer: true)
    connections.append(now)
  }

  /// Notes network activity of a client.
  private mutating func stir(_ client: Int, at now: Instant) {
    let last = activeAt[client - first]
    if last < .origin || now - last > .seconds(10) { radioWakeUps += 1 }
    activeAt[client - first] = now
  }
}
