/// A scenario that comes with the package: the text of a scenario file, and its name.
///
/// The simulator brings no JSON decoder, so the text is decoded by whoever runs it.
public struct BuiltInScenario: Sendable {
  /// What it is called, as in its text.
  public let name: String
  /// The scenario file.
  public let json: String

  /// All there are, in the order in which they are best read.
  public static let all = [
    tour, deadPeer, acceptThenDrop, pathFlapping, sleepAndLateTimer, queueWithTimeToLive,
    closeDuringRetry,
  ]

  /// The one of that name.
  public static func named(_ name: String) -> BuiltInScenario? { all.first { $0.name == name } }
}
