import ConnectionFSM

/// Draws scenarios over bytes: an application that talks, in the weather of its seed.
///
/// Swarm testing: each seed turns whole families of faults and habits off, so that what one of them
/// hides another run shows. All that happens is a step of the scenario, so that it can be shortened
/// and kept. In the end all is well, a last message is sent, and the application closes.
public enum StreamSwarm {
  /// The scenario of a seed. Lanes may be few and messages large: an engine that carries 64 KiB in
  /// a message, and can ping, sees all there is.
  public static func scenario(seed: UInt64) -> Scenario {
    var draw = StreamDraw(seed: seed)
    return draw.scenario()
  }
}

/// What is drawn for one seed.
struct StreamDraw {
  let seed: UInt64
  var policies: RandomStream
  private var weather: RandomStream
  private var talk: RandomStream
  private var steps: [Scenario.Step] = []
  private var families: Set<Family> = []
  private var messages = 0

  /// What may befall the client, its network and its server.
  enum Family: CaseIterable {
    case blocks, holds, outages, severs, cuts, resets, closes, crashes, refusals, leaving,
      switching, lies, sleeping, freezing, names, losses, lifecycle, mute, finishing, cutting,
      deafness, localFailures
    // What the application does.
    case closing, replacing, demand, callbacks, cancels, bursts, releasing
    // How bytes go.
    case chunks, buffers, large
  }

  /// From here on nothing is wrong any more, in seconds.
  static let healedAt = 60.0

  init(seed: UInt64) {
    self.seed = seed
    policies = RandomStream(seed: seed, name: "stream-swarm/policy")
    weather = RandomStream(seed: seed, name: "stream-swarm/weather")
    talk = RandomStream(seed: seed, name: "stream-swarm/talk")
    for family in Family.allCases where weather.next(through: 2) == 0 { families.insert(family) }
  }

  mutating func scenario() -> Scenario {
    let policy = drawPolicy()
    setUp()
    for family in Family.allCases where families.contains(family) {
      for _ in 0...weather.next(through: 2) { addFault(of: family) }
    }
    say(lanes: UInt64(policy.lanes.count))
    // Whatever was to last longer ends when all is well.
    for place in steps.indices { steps[place].t = min(steps[place].t, Self.healedAt) }
    var order = steps.indices.map { ($0, steps[$0].t) }
    order.sort { $0.1 < $1.1 || $0.1 == $1.1 && $0.0 < $1.0 }
    steps = order.map { steps[$0.0] }
    conclude(policy)
    return Scenario(
      name: "stream-swarm-\(seed)", seed: seed, policy: policy, steps: steps, over: .bytes)
  }

  private mutating func conclude(_ policy: Policy) {
    let healed = Self.healedAt + 0.001
    add(healed, "net.heal")
    // Wanted again, if it closed or gave up.
    add(healed, "api.connect")
    add(healed + 0.9, "api.send", "last", lane: policy.lanes.count > 1 ? 1 : 0)
    let bound = policy.timeToHealth.map { Double($0.nanoseconds) / 1e9 } ?? 60
    add(healed + 1.002 + bound, families.contains(.releasing) ? "api.release" : "api.close")
  }

  mutating func add(
    _ t: Double, _ ev: String, _ arg: String? = nil, lane: UInt8? = nil, bytes: UInt32? = nil
  ) {
    steps.append(Scenario.Step(t: t, ev: ev, arg: arg, lane: lane, bytes: bytes))
  }
}

// MARK: Weather

extension StreamDraw {
  private mutating func setUp() {
    let latencies = ["1ms", "5ms..60ms", "5ms..60ms", "100ms..800ms"]
    add(0, "net.latency", latencies[Int(weather.next(through: 3))])
    if families.contains(.losses) { add(0, "net.loss", "5%") }
    if families.contains(.chunks) { add(0, "net.chunks", "\(chunk)") }
    if families.contains(.buffers) {
      add(0, "net.buffers", "\(buffer)")
    }
    // Before, after, or with the first messages.
    add(seconds(weather.next(through: 3000)), "api.connect")
  }

  /// How many bytes a buffer holds, the same way: what no message fits in is full all the time.
  private var buffer: UInt64 { [64, 250, 1000, 4000][Int(seed % 4)] + seed % 61 }

  /// The most bytes in a piece: drawn once, from the seed alone.
  private var chunk: UInt64 { [1, 7, 100][Int(seed % 3)] }

  private func seconds(_ milliseconds: UInt64) -> Double { Double(milliseconds) / 1000 }

  private mutating func addFault(of family: Family) {
    let at = seconds(2000 + weather.next(through: 55_000))
    let end = at + seconds(100 + weather.next(through: 20_000))
    let pick = weather.next(through: 3)
    let isOdd = pick & 1 == 1
    let fail = isOdd ? "fail" : nil
    let window = "\(weather.next(through: 500))ms"
    switch family {
    case .blocks: during(at, end, "net.block", isOdd ? "up" : "down", "net.unblock")
    case .holds: during(at, end, "net.block", isOdd ? "up hold" : "down hold", "net.unblock")
    case .outages: during(at, end, "net.down", nil, "net.unblock")
    case .severs: add(at, "net.silent_drop")
    case .cuts: add(at, "net.cut")
    case .resets: add(at, "net.rst", window)
    case .closes: add(at, "net.fin", window)
    case .crashes: during(at, end, "net.crash", nil, "net.restart")
    case .refusals: during(at, end, "net.server_down", nil, "net.server_up")
    case .mute: during(at, end, "net.server_mute", nil, "net.server_up")
    case .finishing: during(at, end, "net.server_finish", nil, "net.server_up")
    case .cutting:
      during(at, end, "net.server_cut", "\(1 + weather.next(through: 300))", "net.server_up")
    case .deafness: during(at, end, "net.deaf", nil, "net.heard")
    case .localFailures: during(at, end, "net.local_fail", nil, "net.local_ok")
    case .leaving: during(at, end, "net.path_down", fail, "net.path_up")
    case .lies: during(at, end, "net.path_down", "(false report)", "net.path_up")
    case .switching:
      during(at, end, "net.path_change", isOdd ? "cell fail" : "cell", "net.path_change", "wifi")
    case .sleeping: during(at, end, "dev.sleep", nil, "dev.wake", fail)
    case .freezing: during(at, end, "dev.freeze", nil, "dev.wake", fail)
    case .names:
      let bad = ["net.dns_fail", "net.dns_timeout", "net.dns_slow", "net.dns_moved"][Int(pick)]
      during(at, end, bad, pick == 2 ? "3s" : nil, "net.dns_ok")
    case .lifecycle:
      during(at, end, isOdd ? "dev.background" : "dev.suspend", nil, "dev.foreground")
    case .closing: during(at, isOdd ? end : at, "api.close", nil, "api.connect", "@\(pick >> 1)")
    case .replacing: add(at, "api.connect", isOdd ? "@1" : "@0")
    case .demand: during(at, end, "api.demand", "false", "api.demand", "true")
    case .callbacks: addCallback(at, pick)
    case .losses, .chunks, .buffers, .large, .cancels, .bursts, .releasing: break
    }
  }

  private mutating func during(
    _ at: Double, _ end: Double, _ bad: String, _ arg: String?, _ good: String,
    _ goodArg: String? = nil
  ) {
    add(at, bad, arg)
    add(end, good, goodArg)
  }

  private mutating func addCallback(_ at: Double, _ pick: UInt64) {
    messages += 1
    let moment = ["cb.open", "cb.closed", "cb.end", "cb.connecting"][Int(pick)]
    let call = ["→api.send m\(messages)", "→api.close,api.connect"][
      Int(weather.next(through: 3) / 3)]
    add(at, moment, call)
  }
}

// MARK: Talk

extension StreamDraw {
  /// The most bytes of a message: what is cut finely is short.
  private var longest: UInt64 {
    if families.contains(.chunks) { return [20, 40, 400][Int(seed % 3)] }
    if families.contains(.buffers) { return buffer * 4 }
    return families.contains(.large) ? 66_000 : 800
  }

  private mutating func say(lanes: UInt64) {
    // Few leave silences, which are what pings are for.
    let count = [6, 20, 50][Int(talk.next(through: 2))]
    for _ in 0..<count {
      let at = seconds(talk.next(through: 59_000))
      let isBurst = families.contains(.bursts) && talk.next(through: 7) == 0
      let lane = UInt8(talk.next(through: lanes - 1))
      let length = isBurst ? 2 + talk.next(through: 10) : 1
      let first = messages + 1
      messages += Int(length)
      let labels = length == 1 ? "m\(first)" : "m\(first)..m\(messages)"
      add(at, "api.send", labels, lane: lane, bytes: drawSize(isBurst))
      if families.contains(.cancels), talk.next(through: 3) == 0 {
        let later = talk.next(through: 3) == 0 ? 0 : talk.next(through: 3000)
        add(at + seconds(later), "api.cancel", "m\(messages)")
      }
    }
    // A lane that there is not.
    if talk.next(through: 9) == 0 {
      messages += 1
      add(seconds(talk.next(through: 59_000)), "api.send", "m\(messages)", lane: UInt8(lanes))
    }
  }

  private mutating func drawSize(_ isBurst: Bool) -> UInt32? {
    // More than the link keeps for a stream that is full, beyond what the system takes.
    if isBurst, longest > 60_000 { return 20_000 + UInt32(talk.next(through: 40_000)) }
    return switch talk.next(through: 9) {
    case 0: 0
    case 1...3: nil
    case 4...6: UInt32(talk.next(through: min(longest, 30)))
    default: UInt32(talk.next(through: longest))
    }
  }
}
