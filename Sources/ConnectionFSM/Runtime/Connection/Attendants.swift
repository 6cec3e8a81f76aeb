/// Who stands beside a connection.
struct Attendants: Sendable {
  var beat: BeatMessage?
  var credentials: CredentialsProvider?
  var session: (dialect: any SessionDialect, settings: SessionSettings)?
  var outbox: (any Outbox, LaneID)?
  var monitors: [any ConnectionMonitor] = []
  var trace: (@Sendable (TraceRecord) -> Void)?
}
