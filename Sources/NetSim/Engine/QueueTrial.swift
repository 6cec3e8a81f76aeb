import ConnectionFSM

/// A queue under the load of a fleet and without one, for whoever measures the queue alone: each
/// event that is taken is scheduled again, two of three 20 to 80 ms later, as messages are, one
/// 25 s later, as heartbeats are.
///
/// Not beside the measurement, since outside of this module the queue is not compiled for its
/// event.
package struct QueueTrial: Sendable {
  private var queue = EventQueue<UInt32>()
  private var random: RandomStream

  /// Makes a queue with so many events to come, one an actor.
  package init(pending: Int, seed: UInt64) {
    random = RandomStream(seed: seed, name: "queue.trial")
    for actor in 0..<UInt32(pending) {
      queue.schedule(actor, at: .origin + random.span(through: .seconds(25)), by: actor)
    }
  }

  /// Takes so many events and schedules each again.
  package mutating func run(rounds: Int) {
    for round in 0..<rounds {
      guard let (instant, actor) = queue.pop() else { return }
      let wait =
        round % 3 == 0
        ? TimeSpan.seconds(25)
        : .nanoseconds(20_000_000 + random.span(through: .milliseconds(60)).nanoseconds)
      queue.schedule(actor, at: instant + wait, by: actor)
    }
  }
}
