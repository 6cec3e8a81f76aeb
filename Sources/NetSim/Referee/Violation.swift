/// A broken promise: which one, and how. A bug of the machine or of the driver, never of the
/// weather.
public struct Violation: Error, Equatable, CustomStringConvertible, Sendable {
  /// The promise's id (I1 … I23, listed in Docs/Ids.md), or a name where there is none.
  public let invariant: String
  /// What was seen.
  public let finding: String

  init(_ invariant: String, _ finding: String) {
    self.invariant = invariant
    self.finding = finding
  }

  public var description: String { "\(invariant) broken: \(finding)" }
}
