import ConnectionFSM

/// Draws a story from a seed: a policy, what the application does and what befalls it; then
/// everything is well, and within a span that follows from the policy messages must flow again.
struct Swarm {
  let policy: Policy
  let families: Families
  var draws: RandomStream
  private(set) var steps: [Story.Step] = []
  private var now = Instant.origin
  /// Messages sent so far; each has its number for a label.
  private var sent = 0

  /// The story of a seed.
  static func story(seed: UInt64) -> Story {
    var swarm = Swarm(seed: seed)
    swarm.begin()
    for _ in 0..<20 + swarm.draws.next(through: 40) {
      swarm.wait()
      swarm.befall(swarm.draws.one(of: swarm.families.list))
    }
    swarm.end()
    return Story(policy: swarm.policy, steps: swarm.steps)
  }

  private init(seed: UInt64) {
    draws = RandomStream(seed: seed, name: "swarm")
    var families = Families(from: &draws)
    policy = Self.policy(from: &draws, families)
    // Who never asks does not find out that a silent peer is dead: nothing is promised then.
    if policy.heartbeat == nil { families.remove(.silence) }
    self.families = families
  }

  // Many things at one instant or within a few milliseconds, where the races are, and spans that
  // outlast every wait of the policy.
  private mutating func wait() {
    let gap: TimeSpan
    switch draws.next(through: 15) {
    case 0...2: gap = .zero
    case 3...6: gap = .milliseconds(Int64(draws.next(through: 100)))
    case 7...11: gap = .milliseconds(Int64(draws.next(through: 3_000)))
    case 12...14: gap = .milliseconds(Int64(draws.next(through: 20_000)))
    default: gap = .seconds(Int64(draws.next(through: 120)))
    }
    now = now + gap
  }

  mutating func wait(atMost milliseconds: UInt64) {
    now = now + .milliseconds(Int64(draws.next(through: milliseconds)))
  }

  mutating func add(_ action: Action, after gap: TimeSpan = .zero) {
    now = now + gap
    steps.append(Story.Step(at: now, action: action))
  }

  /// Sends so many messages to a lane, all of one size.
  mutating func send(_ count: Int) {
    let labels = (sent + 1...sent + count).map { "m\($0)" }
    sent += count
    let lane = LaneID(UInt8(draws.next(through: UInt64(policy.lanes.count - 1))))
    let byteCount = draws.one(of: [0, 1, 10, 60, 2000] as [UInt32])
    steps.append(
      Story.Step(at: now, action: .app(.send(labels)), lane: lane, byteCount: byteCount))
  }

  /// The label of a message that was sent; nil if none was.
  mutating func someMessage() -> String? {
    // Mostly one of the latest: it may still wait.
    sent == 0 ? nil : "m\(sent - Int(draws.next(through: UInt64(min(sent - 1, 5)))))"
  }

  mutating func replace(_ label: String) {
    steps.append(Story.Step(at: now, action: .app(.replace(label)), byteCount: 20))
  }

  private mutating func begin() {
    // Never an answer of the network: a file that begins with one connects by itself, and might
    // begin with one only because its first step was of no use and is left out.
    add(.environment(draws.isOn(7, in: 8) ? .serverUp : .nothing))
    if families.contains(.hosts) { befall(.hosts) }
    // In some stories things happen before the application connects for the first time.
    if draws.isOn(1, in: 4) {
      for _ in 0..<draws.next(through: 8) {
        wait()
        befall(draws.one(of: families.list))
      }
    }
    add(.app(.connect(nil)))
  }

  private mutating func end() {
    let mayRest = policy.hasLimit || families.list.contains(where: \.mayEnd)
    steps += Ending(policy: policy, mayRest: mayRest).steps(from: now + .milliseconds(1))
  }
}
