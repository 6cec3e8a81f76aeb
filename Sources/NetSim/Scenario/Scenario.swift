public import ConnectionFSM

/// A story of one connection: a policy, a seed, and what the application, the network and the
/// device do.
///
/// The one format for everything: the demo reads it, a bug report attaches it, the regression tests
/// are a folder of it. As JSON:
///
/// ```json
/// {
///   "version": 1,
///   "name": "refused-once",
///   "seed": 1,
///   "policy": { "backoff": { "first": 2, "jitter": "none" } },
///   "steps": [
///     { "t": 0, "ev": "api.connect" },
///     { "t": 0.1, "ev": "net.refuse" },
///     { "t": 2.2, "ev": "net.open" },
///     { "t": 3, "ev": "expect.state", "arg": "open" }
///   ]
/// }
/// ```
public struct Scenario: Codable, Sendable {
  /// The version of the format: 1.
  public var version: Int
  /// A name for lists and messages.
  public var name: String
  /// One line about what it shows.
  public var about: String?
  /// What random waits and delays are drawn from.
  public var seed: UInt64
  /// The knobs.
  public var policy: Policy
  /// What happens, in order of time.
  public var steps: [Step]
  /// Steps, by their place from 1, that need not be consumed: answers for attempts that never come.
  public var unconsumed: [Int]?
  /// Whose story it is, where the steps name several clients (`client=A`); the steps of the others
  /// are passed over.
  public var client: String?
  /// What carries the messages; nil is ``Level/machine``.
  public var over: Level?

  /// What a story is played on.
  public enum Level: String, Codable, Sendable {
    /// A bare machine, whose transport is the story: a ``Simulation``.
    case machine
    /// The connection that ships, over simulated bytes: a ``StreamSimulation``.
    case bytes
    /// The same, in the protocol of WebSocket.
    case webSocket = "websocket"

    /// Whether it is played as a ``StreamSimulation``.
    public var isOfBytes: Bool {
      switch self {
      case .machine: false
      case .bytes, .webSocket: true
      }
    }
  }

  /// Makes a scenario of the present version.
  public init(
    name: String, about: String? = nil, seed: UInt64, policy: Policy, steps: [Step],
    over: Level? = nil
  ) {
    version = 1
    self.name = name
    self.about = about
    self.seed = seed
    self.policy = policy
    self.steps = steps
    self.over = over
  }

  /// One thing that happens or is expected.
  public struct Step: Codable, Sendable {
    /// Seconds since the start.
    public var t: Double
    /// What: `api.connect`, `net.refuse`, `expect.state` …
    public var ev: String
    /// Its argument, as text; a number or a truth value in the file is taken for its text.
    public var arg: String?
    /// The lane of a sent message; lane 0 if absent.
    public var lane: UInt8?
    /// The payload bytes of a sent message; as many as its label has if absent.
    public var bytes: UInt32?
    /// A remark for the reader.
    public var note: String?

    /// Makes a step.
    public init(
      t: Double, ev: String, arg: String? = nil, lane: UInt8? = nil, bytes: UInt32? = nil,
      note: String? = nil
    ) {
      self.t = t
      self.ev = ev
      self.arg = arg
      self.lane = lane
      self.bytes = bytes
      self.note = note
    }
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case version, name, about, seed, policy, steps, unconsumed, client, over
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    version = try values.decode(Int.self, forKey: .version)
    guard version == 1 else {
      throw DecodingError.dataCorruptedError(
        forKey: .version, in: values, debugDescription: "this release reads version 1 only")
    }
    name = try values.decode(String.self, forKey: .name)
    about = try values.decodeIfPresent(String.self, forKey: .about)
    seed = try values.decode(UInt64.self, forKey: .seed)
    policy = try values.decode(Policy.self, forKey: .policy)
    steps = try values.decode([Step].self, forKey: .steps)
    unconsumed = try values.decodeIfPresent([Int].self, forKey: .unconsumed)
    client = try values.decodeIfPresent(String.self, forKey: .client)
    over = try values.decodeIfPresent(Level.self, forKey: .over)
  }
}

extension Scenario.Step {
  enum CodingKeys: String, CodingKey, CaseIterable { case t, ev, arg, lane, bytes, note }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    t = try values.decode(Double.self, forKey: .t)
    ev = try values.decode(String.self, forKey: .ev)
    arg = try values.decodeIfPresent(ScenarioArgument.self, forKey: .arg)?.text
    lane = try values.decodeIfPresent(UInt8.self, forKey: .lane)
    bytes = try values.decodeIfPresent(UInt32.self, forKey: .bytes)
    note = try values.decodeIfPresent(String.self, forKey: .note)
  }
}

/// Text, a number or a truth value, as its text.
private struct ScenarioArgument: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self.text = text
    } else if let number = try? value.decode(Int.self) {
      text = String(number)
    } else if let number = try? value.decode(Double.self) {
      text = String(number)
    } else if let truth = try? value.decode(Bool.self) {
      text = String(truth)
    } else {
      throw DecodingError.dataCorruptedError(
        in: value, debugDescription: "must be text, a number or a truth value")
    }
  }
}

/// A scenario that cannot be run, or did not go as it said: which step, what is wrong, and the
/// mend.
public struct ScenarioError: Error, CustomStringConvertible, Sendable {
  /// The step's place, from 1; nil if it is about the whole.
  public let step: Int?
  /// What is wrong with it.
  public let problem: String

  init(step: Int?, _ problem: String) {
    self.step = step
    self.problem = problem
  }

  public var description: String {
    step.map { "step \($0): \(problem)" } ?? problem
  }
}
