public import ConnectionFSM

/// Clients that contend for one row of a database by optimistic locking: the model behind the
/// article "Exponential Backoff And Jitter" of the AWS Architecture Blog, and its simulator
/// (aws-samples/aws-arch-backoff-simulator).
///
/// Each client reads the row's version and writes under it; a write under an old version fails, and
/// the client waits and begins anew. The server takes whatever comes, at once. So the model speaks
/// of contention and not of a server that must recover; for that there is ``FleetSimulation``.
///
/// A message takes |N(10, 2)| ms. All clients begin at the same instant, and stop after their first
/// success.
public struct ContentionModel: Hashable, Sendable {
  /// How long a client waits after a failed write.
  public enum Wait: Hashable, Sendable {
    /// As this backoff says; the first failed write has no failure before it.
    case backoff(Backoff)
    /// At most the cap, of a draw between the base and three times the wait before, which is the
    /// base at first. Unlike `Backoff.Jitter.decorrelated` the cap comes after the draw, as in
    /// the article, and clients meet at it.
    case decorrelated(base: TimeSpan, cap: TimeSpan)
  }

  /// What came of a run.
  public struct Outcome: Hashable, Sendable {
    /// How many writes arrived.
    public internal(set) var calls = 0
    /// How many of them came under an old version.
    public internal(set) var failures = 0
    /// When the last client knew of its success.
    public internal(set) var duration = TimeSpan.zero
  }

  /// How many clients there are; from 1.
  public let clients: Int
  /// How long a client waits after a failed write.
  public let wait: Wait

  /// Makes a model.
  /// - Throws: ``FleetError``, which names the setting and the mend.
  public init(clients: Int, wait: Wait) throws(FleetError) {
    guard (1...1_000_000).contains(clients) else {
      throw FleetError(setting: "clients", mend: "must be 1 to 1,000,000")
    }
    switch wait {
    case .backoff(let backoff):
      guard backoff.cap > .zero, backoff.cap <= FleetConditions.longest else {
        throw FleetError(setting: "wait.backoff.cap", mend: "must be above 0, at most 365 days")
      }
    case .decorrelated(let base, let cap):
      guard base > .zero, base <= cap, cap <= FleetConditions.longest else {
        throw FleetError(
          setting: "wait.decorrelated", mend: "must rise from above 0 to at most 365 days")
      }
    }
    self.clients = clients
    self.wait = wait
  }

  /// Runs until every client has written.
  /// - Parameter seed: What every draw comes from; the same seed gives the same outcome.
  public func run(seed: UInt64) -> Outcome {
    var run = ContentionRun(self, seed: seed)
    return run.play()
  }
}

/// One run of the model. A client has one message on its way at a time, so that one entry in the
/// queue does; what happens at the client alone is reckoned when its cause happens.
private struct ContentionRun {
  private struct Client {
    var version = -1
    var isWriting = false
    var failures: UInt32 = 0
    var lastWait = TimeSpan.zero
  }

  private let wait: ContentionModel.Wait
  private var clients: [Client]
  private var coming = EventQueue<Void>()
  private var delays: NormalDice
  private var waits: SplitMix64
  private var version = 0
  private var outcome = ContentionModel.Outcome()

  init(_ model: ContentionModel, seed: UInt64) {
    wait = model.wait
    clients = Array(repeating: Client(), count: model.clients)
    delays = NormalDice(RandomStream(seed: seed, name: "contention.delays"))
    var dice = RandomStream(seed: seed, name: "contention.waits")
    waits = SplitMix64(seed: dice.next(through: .max))
    for client in clients.indices {
      coming.schedule((), at: .origin + delay(), by: UInt32(client))
    }
  }

  mutating func play() -> ContentionModel.Outcome {
    while let (now, place, _) = coming.next() {
      let client = Int(place)
      if clients[client].isWriting {
        write(client, at: now)
      } else {
        clients[client].version = version
        clients[client].isWriting = true
        // The version's way back, and at once that of the write.
        coming.schedule((), at: now + delay() + delay(), by: place)
      }
    }
    return outcome
  }

  private mutating func write(_ client: Int, at now: Instant) {
    outcome.calls += 1
    let told = now + delay()
    if clients[client].version == version {
      version += 1
      outcome.duration = max(outcome.duration, told - .origin)
      return
    }
    outcome.failures += 1
    clients[client].isWriting = false
    coming.schedule((), at: told + delay() + nextWait(of: client), by: UInt32(client))
  }

  private mutating func nextWait(of client: Int) -> TimeSpan {
    let last = clients[client].lastWait
    let span: TimeSpan
    switch wait {
    case .backoff(let backoff):
      span = backoff.wait(
        afterFailures: clients[client].failures, previous: last, using: &waits)
    case .decorrelated(let base, let cap):
      let longest = 3 * max(last, base).nanoseconds
      let drawn = waits.next(through: UInt64(longest - base.nanoseconds))
      span = min(cap, .nanoseconds(base.nanoseconds + Int64(drawn)))
    }
    clients[client].failures += 1
    clients[client].lastWait = span
    return span
  }

  private mutating func delay() -> TimeSpan {
    .nanoseconds(Int64(abs(10 + 2 * delays.next()) * 1e6))
  }
}
