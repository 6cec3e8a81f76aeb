import ConnectionFSM
import Testing

@Suite("Policy")
struct PolicyTests {
  /// One policy that cannot work: the knob it must name, and how it is made.
  struct Bad: CustomTestStringConvertible, Sendable {
    let knob: String
    let value: String
    let make: @Sendable () throws -> Policy
    var testDescription: String { "\(knob) = \(value)" }
  }

  private static let tooLong = TimeSpan.nanoseconds(365 * 24 * 3600 * 1_000_000_000 + 1)
  private static let negative = TimeSpan.nanoseconds(-1)

  /// A knob that must be above zero.
  private static func positive(
    _ knob: String, _ make: @escaping @Sendable (TimeSpan) throws -> Policy
  ) -> [Bad] {
    atLeastZero(knob, make) + [Bad(knob: knob, value: "zero") { try make(.zero) }]
  }

  /// A knob that may be zero.
  private static func atLeastZero(
    _ knob: String, _ make: @escaping @Sendable (TimeSpan) throws -> Policy
  ) -> [Bad] {
    [
      Bad(knob: knob, value: "negative") { try make(negative) },
      Bad(knob: knob, value: "the least") { try make(TimeSpan(nanoseconds: .min)) },
      Bad(knob: knob, value: "too long") { try make(tooLong) },
      Bad(knob: knob, value: "the most") { try make(TimeSpan(nanoseconds: .max)) },
    ]
  }

  private static func backoff(_ change: (inout Backoff) -> Void) throws -> Policy {
    var backoff = Backoff.exact
    change(&backoff)
    return try Policy.made(backoff: backoff)
  }

  private static func path(_ change: (inout PathPolicy) -> Void) throws -> Policy {
    var path = PathPolicy.probing
    change(&path)
    return try Policy.made(path: path)
  }

  private static func lane(_ change: (inout Lane) -> Void) throws -> Policy {
    var lane = Lane.made(.atMostOnce)
    change(&lane)
    return try Policy.made(lanes: [.made(.atLeastOnce), lane])
  }

  private static let spans: [Bad] =
    positive("connectDeadline") { try Policy.made(connectDeadline: $0) }
    + positive("closeDeadline") { try Policy.made(closeDeadline: $0) }
    + positive("sessionDeadline") { try Policy.made(session: $0) }
    + positive("credentialsDeadline") { try Policy.made(credentials: $0) }
    + atLeastZero("minimumDialSpacing") { try Policy.made(spacing: $0) }

  private static let nested: [Bad] =
    atLeastZero("backoff.first") { span in try backoff { $0.first = span } }
    + atLeastZero("backoff.base") { span in try backoff { $0.base = span } }
    + positive("backoff.cap") { span in try backoff { $0.cap = span } }
    + atLeastZero("backoff.stability") { span in try backoff { $0.stability = span } }
    + positive("backoff.elapsedLimit") { span in try backoff { $0.elapsedLimit = span } }
    + atLeastZero("backoff.strategy") { span in
      try backoff { $0.strategy = .table(Backoff.Table([.zero, span])) }
    }
    + atLeastZero("backoff.jitter") { span in try backoff { $0.jitter = .added(span) } }
    + atLeastZero("backoff.firstJitter") { span in
      try backoff { $0.firstJitter = .fullOver(span) }
    }
    + positive("heartbeat.interval") { span in
      try Policy.made(heartbeat: Heartbeat(interval: span, timeout: .seconds(10)))
    }
    + positive("heartbeat.timeout") { span in
      try Policy.made(heartbeat: Heartbeat(interval: .seconds(25), timeout: span))
    }

  private static let nestedToo: [Bad] =
    positive("path.suspectTimeout") { span in try path { $0.suspectTimeout = span } }
    + positive("path.probeInterval") { span in try path { $0.probeInterval = span } }
    + atLeastZero("path.returnJitter") { span in try path { $0.returnJitter = span } }
    + positive("lane.timeToLive") { span in try lane { $0.timeToLive = span } }

  private static let counts: [Bad] = [
    Bad(knob: "backoff.attemptLimit", value: "0") { try backoff { $0.attemptLimit = 0 } },
    Bad(knob: "lane.countLimit", value: "0") { try lane { $0.countLimit = 0 } },
    Bad(knob: "lane.countLimit", value: "2²⁴ + 1") { try lane { $0.countLimit = 1 << 24 + 1 } },
    Bad(knob: "lane.byteLimit", value: "0") { try lane { $0.byteLimit = 0 } },
    Bad(knob: "lane.window", value: "0") { try lane { $0.window = 0 } },
    Bad(knob: "lanes", value: "none") { try Policy.made(lanes: []) },
    Bad(knob: "lanes", value: "five") {
      try Policy.made(lanes: Array(repeating: .made(.atMostOnce), count: 5))
    },
  ]

  private static func strategy(_ value: String, _ strategy: Backoff.Strategy) -> Bad {
    Bad(knob: "backoff.strategy", value: value) { try backoff { $0.strategy = strategy } }
  }

  private static func jitter(_ value: String, _ jitter: Backoff.Jitter) -> [Bad] {
    [
      Bad(knob: "backoff.jitter", value: value) { try backoff { $0.jitter = jitter } },
      Bad(knob: "backoff.firstJitter", value: value) { try backoff { $0.firstJitter = jitter } },
    ]
  }

  private static let waits: [Bad] =
    [
      strategy("growing to 100 %", .exponential(percent: 100)),
      strategy("growing to 1001 %", .exponential(percent: 1001)),
      strategy("no steps", .table(Backoff.Table([]))),
      strategy("17 steps", .table(Backoff.Table(Array(repeating: .zero, count: 17)))),
      strategy("1000 steps", .table(Backoff.Table(Array(repeating: .zero, count: 1000)))),
      Bad(knob: "backoff.jitter", value: "decorrelated without a base") {
        try backoff {
          $0.jitter = .decorrelated
          $0.base = .zero
        }
      },
      Bad(knob: "backoff.jitter", value: "decorrelated from the cap") {
        try backoff {
          $0.jitter = .decorrelated
          $0.base = $0.cap
        }
      },
    ]
    + jitter("within 0 %", .within(percent: 0)) + jitter("within 101 %", .within(percent: 101))
    + jitter("above 0 %", .above(percent: 0)) + jitter("above 101 %", .above(percent: 101))
    + jitter("over the cap", .fullOver(.seconds(60)))

  private static func overriding(_ verdict: Verdict, count: Int = 1) throws -> Policy {
    let override = VerdictOverride(.closeCodes(4000...4999), verdict)
    return try Policy.made(overrides: Array(repeating: override, count: count))
  }

  private static let overrides: [Bad] =
    atLeastZero("overrides.minimumDelay") { span in
      try overriding(.transient.after(span, spread: .zero))
    }
    + atLeastZero("overrides.spread") { span in
      try overriding(.transient.after(.zero, spread: span))
    }
    + [
      Bad(knob: "overrides.minimumDelay", value: "above an hour") {
        try overriding(.transient.after(.nanoseconds(3_600_000_000_001), spread: .zero))
      },
      Bad(knob: "overrides", value: "33") { try overriding(.terminal, count: 33) },
    ]

  @Test(
    "a policy that cannot work is refused with the name of the knob and a mend",
    arguments: spans + nested + nestedToo + counts + waits + overrides)
  func refuses(bad: Bad) {
    let error = #expect(throws: PolicyError.self) { try bad.make() }
    #expect(error.map { "\($0.knob)" } == bad.knob)
    #expect(error.map { "\($0)".hasPrefix("policy: \(bad.knob): ") } == true)
    #expect(error.map { "\($0.mend)".contains("must ") } == true)
  }

  @Test("the ends of every range are allowed")
  func ends() throws {
    let year = TimeSpan.seconds(365 * 24 * 3600)
    let tick = TimeSpan.nanoseconds(1)
    for span in [tick, year] {
      let backoff = Backoff(
        first: span, base: span, cap: span, jitter: .full, stability: span, attemptLimit: 1)
      let path = PathPolicy(
        onLoss: .close, suspectTimeout: span, probeInterval: span, returnJitter: span)
      let lane = Lane.made(
        .atMostOnce, timeToLive: span, countLimit: 1 << 24, byteLimit: 1, window: 1)
      let policy = try Policy.made(
        connectDeadline: span, closeDeadline: span, backoff: backoff, spacing: span,
        heartbeat: Heartbeat(interval: span, timeout: span), path: path, session: span,
        credentials: span, lanes: Array(repeating: lane, count: 4))
      #expect(policy.backoff == backoff)
      #expect(policy.path == path)
      #expect(policy.lanes == Array(repeating: lane, count: 4))
    }
  }

  @Test("policies of equal knobs are equal, and any one knob makes them differ")
  func equality() throws {
    let base = try Policy.made()
    #expect(try base == Policy.made())
    let others = [
      try Policy.made(connectDeadline: .seconds(9)), try Policy.made(closeDeadline: .seconds(9)),
      try Policy.made(backoff: .none), try Policy.made(spacing: .seconds(9)),
      try Policy.made(heartbeat: nil), try Policy.made(path: .closing),
      try Policy.made(session: .seconds(9)), try Policy.made(credentials: .seconds(9)),
      try Policy.made(lanes: [.made(.atMostOnce)]), try Self.overriding(.terminal),
    ]
    for other in others { #expect(base != other) }
  }
}
