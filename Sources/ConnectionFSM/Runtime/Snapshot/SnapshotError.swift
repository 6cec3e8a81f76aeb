/// A machine that cannot have been: what a snapshot says of it contradicts itself or the policy.
public struct SnapshotError: Error, Sendable {
  /// Which part of the snapshot.
  public let place: StaticString
  /// What is wrong with it.
  public let problem: StaticString

  init(_ place: StaticString, _ problem: StaticString) {
    self.place = place
    self.problem = problem
  }
}

extension SnapshotError: CustomStringConvertible {
  public var description: String { "snapshot: \(place): \(problem)" }
}
