import NetSim

/// What came of one policy: a report a seed, never none.
struct FleetRow: Sendable {
  /// The policy, as the user named it.
  let name: String
  let reports: [FleetReport]
}
