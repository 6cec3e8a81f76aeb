import ConnectionFSM

/// A server that a short outage brings down for good, because of what its clients send again: the
/// example of "Metastable Failures in Distributed Systems" (Bronson, Aghayev, Charapko, Zhu,
/// HotOS 2021).
///
/// Requests arrive at random, so many a second, at a server that serves one after the other. A
/// client gives a request up after a second; an answer that comes later is worth nothing, and the
/// server works for it all the same. From second 20 to second 30 the network holds everything back,
/// and then delivers it at once. Messages take no time.
public struct MetastableModel: Hashable, Sendable {
  /// What a client does when it gives a request up for the first time.
  public enum Retry: Hashable, Sendable {
    /// Nothing.
    case none
    /// It sends the request once more.
    case once
    /// It sends it once more if there is a token. All clients share ten, each retry takes one, and
    /// each success gives back a tenth of one.
    case onceWithToken
  }

  /// What came of a run.
  public struct Outcome: Hashable, Sendable {
    /// Requests that were sent, the repeated ones too, in each second.
    public internal(set) var offered: [Int]
    /// Answers in time, in each second.
    public internal(set) var answered: [Int]
    let requestsPerSecond: Int

    /// Requests a second from second 100 to second 170.
    public var offeredPerSecond: Double { Self.mean(offered) }

    /// The share of new requests that was answered in time, from second 100 to second 170; by the
    /// mean rate, so that a lucky run has a little more than 1.
    public var goodput: Double { Self.mean(answered) / Double(requestsPerSecond) }

    /// After how many seconds from the end of the outage the first of five seconds in a row began
    /// that had answers for 81 percent of the new requests each. Nil if there were no such five.
    public var recovery: Int? {
      let enough = 0.81 * Double(requestsPerSecond)
      let first = MetastableModel.outage.upperBound
      return (first...).prefix { $0 + 5 <= answered.count }.first { start in
        answered[start..<start + 5].allSatisfy { Double($0) >= enough }
      }.map { $0 - first }
    }

    private static func mean(_ seconds: [Int]) -> Double {
      let window = MetastableModel.window
      return Double(seconds[window].reduce(0, +)) / Double(window.count)
    }
  }

  /// How many requests arrive in a second, in the mean; from 1.
  public let requestsPerSecond: Int
  /// How many the server serves in a second; from 1.
  public let capacityPerSecond: Int
  /// What a client does when it gives a request up.
  public let retry: Retry
  /// How long a run is; at least 170 s, so that there is something to measure.
  public let seconds: Int

  static let outage = 20..<30
  static let window = 100..<170

  /// Makes a model.
  /// - Throws: ``FleetError``, which names the setting and the mend.
  public init(
    requestsPerSecond: Int, capacityPerSecond: Int = 300, retry: Retry, seconds: Int = 180
  ) throws(FleetError) {
    for (name, rate) in [
      ("requestsPerSecond", requestsPerSecond), ("capacityPerSecond", capacityPerSecond),
    ] where !(1...1_000_000).contains(rate) {
      throw FleetError(setting: name, mend: "must be 1 to 1,000,000")
    }
    guard (Self.window.upperBound...86_400).contains(seconds) else {
      throw FleetError(setting: "seconds", mend: "must be 170 to 86,400")
    }
    self.requestsPerSecond = requestsPerSecond
    self.capacityPerSecond = capacityPerSecond
    self.retry = retry
    self.seconds = seconds
  }

  /// Runs for the model's seconds.
  /// - Parameter seed: What every draw comes from; the same seed gives the same outcome.
  public func run(seed: UInt64) -> Outcome {
    var run = MetastableRun(self, seed: seed)
    return run.play()
  }
}

/// One run of the model.
private struct MetastableRun {
  private enum Event {
    case answer
    /// A request sent then for the first time, or the last, is given up unless it is answered.
    case giveUp(isAnswered: Bool)
    case heal
    case request
  }

  private let model: MetastableModel
  private let end: Instant
  private let serviceTime: TimeSpan
  private var coming = EventQueue<Event>()
  private var arrivals: RandomStream
  /// When the server is done with all that arrived.
  private var freeAt = Instant.origin
  /// What the outage holds back: when it was sent, and whether it may be sent again.
  private var held: [(sent: Instant, isFirst: Bool)] = []
  /// Tenths, so that sums are exact.
  private var tokenTenths = Self.fullBucket
  private var outcome: MetastableModel.Outcome

  private static var fullBucket: Int { 100 }

  init(_ model: MetastableModel, seed: UInt64) {
    self.model = model
    end = .origin + .seconds(Int64(model.seconds))
    serviceTime = .nanoseconds(1_000_000_000 / Int64(model.capacityPerSecond))
    arrivals = RandomStream(seed: seed, name: "metastable.arrivals")
    let none = Array(repeating: 0, count: model.seconds)
    outcome = MetastableModel.Outcome(
      offered: none, answered: none, requestsPerSecond: model.requestsPerSecond)
    add(.heal, at: .origin + .seconds(Int64(MetastableModel.outage.upperBound)))
    addRequest(after: .origin)
  }

  mutating func play() -> MetastableModel.Outcome {
    while let (now, event) = coming.pop(), now < end {
      switch event {
      case .answer:
        outcome.answered[Self.second(now)] += 1
        tokenTenths = min(Self.fullBucket, tokenTenths + 1)
      case .giveUp(let isAnswered): if !isAnswered { retry(at: now) }
      case .heal:
        for (sent, isFirst) in held { arrive(sent: sent, isFirst: isFirst, at: now) }
        held = []
      case .request:
        send(isFirst: true, at: now)
        addRequest(after: now)
      }
    }
    return outcome
  }

  private mutating func send(isFirst: Bool, at now: Instant) {
    outcome.offered[Self.second(now)] += 1
    guard MetastableModel.outage.contains(Self.second(now)) else {
      return arrive(sent: now, isFirst: isFirst, at: now)
    }
    held.append((now, isFirst))
    // Who sends in the outage's last second gives up after it, and by then it is known.
    let givesUp = now + .seconds(1)
    if isFirst, MetastableModel.outage.contains(Self.second(givesUp)) {
      add(.giveUp(isAnswered: false), at: givesUp)
    }
  }

  private mutating func arrive(sent: Instant, isFirst: Bool, at now: Instant) {
    freeAt = max(freeAt, now) + serviceTime
    let givesUp = sent + .seconds(1)
    let isAnswered = freeAt <= givesUp
    if isAnswered { add(.answer, at: freeAt) }
    if isFirst, givesUp >= now { add(.giveUp(isAnswered: isAnswered), at: givesUp) }
  }

  private mutating func retry(at now: Instant) {
    switch model.retry {
    case .none: return
    case .once: break
    case .onceWithToken:
      guard tokenTenths >= 10 else { return }
      tokenTenths -= 10
    }
    send(isFirst: false, at: now)
  }

  private mutating func addRequest(after now: Instant) {
    let mean = TimeSpan.nanoseconds(1_000_000_000 / Int64(model.requestsPerSecond))
    add(.request, at: now + arrivals.exponential(mean: mean))
  }

  private mutating func add(_ event: Event, at instant: Instant) {
    // An answer that comes at the last moment is in time.
    let rank: UInt32 =
      switch event {
      case .answer: 0
      case .giveUp: 1
      case .heal: 2
      case .request: 3
      }
    coming.schedule(event, at: instant, by: rank)
  }

  private static func second(_ instant: Instant) -> Int {
    Int(instant.nanoseconds / 1_000_000_000)
  }
}
