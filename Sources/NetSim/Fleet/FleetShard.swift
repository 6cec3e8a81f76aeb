import ConnectionFSM
import Dispatch

/// Some clients of a fleet, and what is going to happen to them.
///
/// Clients meet at the server alone, and to it and from it a message takes the least latency at
/// least. So each shard runs by itself through a window of that length; then the server takes the
/// dials that have arrived in it, in the order (instant, client), and its answers arrive in a later
/// window. The result does not depend on how the fleet is cut.
struct FleetShard: Sendable {
  let clients: Range<Int>
  var coming = EventQueue<Void>()
  var counts = FleetCounts()
  var now = Instant.origin
  var touched: UInt64 = 0
  /// Of a server with a line; nil where the conditions alone say what it does.
  var books: ClientBooks?

  init(_ clients: Range<Int>, books: ClientBooks? = nil) {
    self.clients = clients
    self.books = books
  }
}

// By place all through: a driver taken out to be looked at is a copy of its queue's many parts.
extension UnsafeMutableBufferPointer<FleetDriver> {
  /// The soonest that something can happen in any shard; nil if nothing will.
  func nextInstant(latency: TimeSpan) -> Instant? {
    var next: Instant?
    for shard in indices {
      if let own = self[shard].nextInstant(latency: latency) { next = Swift.min(next ?? own, own) }
    }
    return next
  }

  /// How many clients are connected.
  var connected: Int {
    indices.reduce(0) { $0 + (self[$1].shard.books?.connections.count ?? 0) }
  }

  /// Runs a window, every shard on a thread.
  func run(through end: Instant) throws(Violation) {
    if count == 1 {
      self[0].runWindow(through: end)
    } else {
      // Each iteration touches the driver of its own alone, and the clients of its shard.
      nonisolated(unsafe) let drivers = self
      DispatchQueue.concurrentPerform(iterations: count) { drivers[$0].runWindow(through: end) }
    }
    for shard in indices {
      if let failure = self[shard].failure { throw failure }
    }
  }

  /// Lets the server answer what has arrived in a window, in the order (instant, client).
  func answer(by line: inout ServerLine) {
    var places = [Int](repeating: 0, count: count)
    while let shard = earliest(places) {
      self[shard].shard.books?.answer(places[shard], by: &line)
      places[shard] += 1
    }
  }

  /// The shard whose next arrival comes first.
  private func earliest(_ places: [Int]) -> Int? {
    var best: (shard: Int, instant: Instant)?
    for shard in indices {
      // Of two at one instant the client of the earlier shard has the lower number.
      if let instant = self[shard].shard.books?.arrival(places[shard]),
        best.map({ instant < $0.instant }) ?? true
      {
        best = (shard, instant)
      }
    }
    return best?.shard
  }
}
