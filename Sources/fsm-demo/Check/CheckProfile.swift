import NetSim

/// What stories are drawn and what runs them.
enum CheckProfile: String, CaseIterable {
  /// The machine alone, with a referee as its owner.
  case machine

  func makeCheck() -> Check { Check() }
}
