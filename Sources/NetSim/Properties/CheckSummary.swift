import ConnectionFSM

/// What the stories of some seeds came to. The summaries of parts add up to that of the whole, so
/// that seeds can be shared out among processes and machines.
public struct CheckSummary: Codable, Equatable, Sendable {
  /// The version of the package whose stories these are; other versions draw others.
  public private(set) var package = packageVersion
  /// The name of the profile that drew and ran them.
  public let profile: String
  /// The seeds that were run, as ranges in order.
  public private(set) var seeds: [SeedRange] = []
  /// How many steps the machines made.
  public private(set) var steps: UInt64 = 0
  /// How many dials they made.
  public private(set) var dials: UInt64 = 0
  /// How many messages ended so.
  public private(set) var messages: [String: UInt64] = [:]
  /// What went wrong, by seed.
  public private(set) var failures: [CheckFailure] = []
  /// How often each cell of the coverage was met; cells that were not are left out.
  public internal(set) var cells: [String: UInt64] = [:]
  /// One number for all that the stories did: equal for equal seeds, on every machine, in any
  /// order.
  public private(set) var digest: UInt64 = 0

  /// Some seeds in a row.
  public struct SeedRange: Codable, Equatable, Sendable {
    /// The first.
    public internal(set) var first: UInt64
    /// The last.
    public internal(set) var last: UInt64
  }

  /// How many stories were run.
  public var stories: UInt64 { seeds.reduce(0) { $0 + ($1.last - $1.first + 1) } }

  /// Makes the summary of no seeds.
  public init(profile: String) { self.profile = profile }

  mutating func add(_ tale: CheckProfile.Tale, seed: UInt64) {
    if let last = seeds.last, last.last < .max, last.last + 1 == seed {
      seeds[seeds.count - 1].last = seed
    } else {
      insert(SeedRange(first: seed, last: seed))
    }
    steps += tale.steps
    dials += tale.dials
    for (name, count) in tale.messages { messages[name, default: 0] += count }
    if let failure = tale.failure { failures.append(failure) }
    var digest = tale.digest
    digest.add(seed)
    if let failure = tale.failure { digest.add(failure.finding) }
    self.digest &+= digest.value
  }

  /// Adds the summary of other seeds.
  /// - Throws: ``CheckMergeError`` if some seeds were run in both, or the versions differ.
  public mutating func merge(_ other: CheckSummary) throws(CheckMergeError) {
    guard package == other.package else { throw .versions(package, other.package) }
    guard profile == other.profile else { throw .profiles(profile, other.profile) }
    for range in other.seeds {
      if let both = seeds.first(where: { $0.first <= range.last && range.first <= $0.last }) {
        throw .seedsTwice(max(both.first, range.first))
      }
    }
    for range in other.seeds { insert(range) }
    steps += other.steps
    dials += other.dials
    messages.merge(other.messages) { $0 + $1 }
    failures = (failures + other.failures).sorted { $0.seed < $1.seed }
    cells.merge(other.cells) { $0 + $1 }
    digest &+= other.digest
  }

  /// Inserts a range in order, and joins it with its neighbours.
  private mutating func insert(_ range: SeedRange) {
    seeds.append(range)
    seeds.sort { $0.first < $1.first }
    var joined: [SeedRange] = []
    for range in seeds {
      if let last = joined.last, last.last < .max, last.last + 1 == range.first {
        joined[joined.count - 1].last = range.last
      } else {
        joined.append(range)
      }
    }
    seeds = joined
  }
}

/// Why two summaries do not add up.
public enum CheckMergeError: Error, Equatable, CustomStringConvertible, Sendable {
  /// This seed was run in both: what it met would count twice.
  case seedsTwice(UInt64)
  /// They are of different profiles.
  case profiles(String, String)
  /// They are of different versions of the package, which draw different stories.
  case versions(String, String)

  public var description: String {
    switch self {
    case .seedsTwice(let seed): "seed \(seed) was run in both; merge summaries of different seeds"
    case .profiles(let one, let other):
      "they are of the profiles \(one) and \(other), which have nothing to add up"
    case .versions(let one, let other):
      "they are of versions \(one) and \(other) of the package; run one of them again"
    }
  }
}
