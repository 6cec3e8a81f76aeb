public import ConnectionFSM

/// A fleet of clients that lose their server and come back to it: each runs the machine that ships,
/// under one policy, in virtual time.
///
/// The same arguments give the same report, on any machine.
public struct FleetSimulation: Sendable {
  /// What a client does about the loss.
  public enum Start: Hashable, Sendable {
    /// Its link is lost: it waits as its policy says and dials.
    case lostLink
    /// Its program starts, and dials at once.
    case program
  }

  private var fleet: Fleet
  private let limit: TimeSpan

  /// Makes a fleet that has not run.
  /// - Parameters:
  ///   - clients: How many there are; 1 to 4,294,967,295.
  ///   - policy: The knobs of every client. Without credentials, session, beat and rollover.
  ///   - server: What they come back to.
  ///   - seed: What every draw comes from.
  ///   - start: What a client does about the loss.
  ///   - limit: When the run ends if some client is still not connected.
  ///   - shards: Into how many parts the fleet is cut, which run at the same time on as many cores
  ///     as there are; 1 to 1,024. The report is the same whatever it is.
  /// - Throws: ``FleetError``, which names the setting and the mend.
  public init(
    clients: Int, policy: Policy, server: FleetServer, seed: UInt64 = 1,
    start: Start = .lostLink, limit: TimeSpan = .seconds(3600), shards: Int = 1
  ) throws(FleetError) {
    try self.init(
      clients: clients, server: server, seed: seed, start: start, limit: limit, shards: shards
    ) { _ in policy }
  }

  /// Makes a fleet whose clients differ: for series of waits that no backoff says, drawn before
  /// and written into each client's table.
  /// - Parameter policy: The knobs of a client, by its number.
  package init(
    clients: Int, server: FleetServer, seed: UInt64, start: Start = .lostLink,
    limit: TimeSpan = .seconds(3600), shards: Int = 1, policy: (UInt32) -> Policy
  ) throws(FleetError) {
    guard (1...Int(UInt32.max)).contains(clients) else {
      throw FleetError(setting: "clients", mend: "must be 1 to 4,294,967,295")
    }
    guard limit > .zero, limit <= .seconds(7 * 24 * 3600) else {
      throw FleetError(setting: "limit", mend: "must be above 0, at most 7 days")
    }
    guard (1...1024).contains(shards) else {
      throw FleetError(setting: "shards", mend: "must be 1 to 1,024")
    }
    self.limit = limit
    fleet = try Fleet(
      clients: clients, server: server, seed: seed, start: start, shards: shards, policy: policy)
  }

  /// Runs until all clients are connected, or up to the limit.
  /// - Throws: A promise that the machine broke; a bug of this package.
  ///
  /// A value that is used again afterwards is copied before.
  public consuming func run() throws(Violation) -> FleetReport {
    try fleet.recover(through: .origin + limit)
  }
}
