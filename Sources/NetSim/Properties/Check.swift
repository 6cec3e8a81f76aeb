/// Runs the stories of many seeds, with every promise checked after each step.
public struct Check: Sendable {
  private let profile: CheckProfile
  private var summary: CheckSummary
  private var cells: Cells

  /// Makes a check that has run nothing.
  /// - Parameter profile: What stories are drawn, and what runs them.
  public init(_ profile: CheckProfile) {
    self.profile = profile
    summary = CheckSummary(profile: profile.name)
    cells = Cells(profile.range)
  }

  /// Runs the story of a seed and adds what came of it to the summary.
  /// - Returns: What went wrong; nil if nothing did.
  @discardableResult
  public mutating func run(seed: UInt64) -> CheckFailure? {
    cells.begin()
    let tale = profile.run(seed, &cells)
    summary.add(tale, seed: seed)
    return tale.failure
  }

  /// What came of the seeds so far.
  public var report: CheckSummary {
    var report = summary
    report.cells = cells.met
    return report
  }
}

/// A story that broke a promise, or in which something did not come about in time.
public struct CheckFailure: Codable, Equatable, Sendable {
  /// The seed that replays it.
  public let seed: UInt64
  /// The promise's id; for an expectation that was not met its words, as `expect.state open`.
  public let promise: String
  /// What was seen.
  public let finding: String
  /// When, in seconds of virtual time.
  public let seconds: Double
}
