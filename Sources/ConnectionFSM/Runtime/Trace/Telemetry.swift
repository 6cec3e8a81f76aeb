/// Turns what a connection does into metrics (F56). One for each connection; they may share a sink.
///
/// What it tells, each with the labels it was made with:
///
/// | name                           | kind    | further labels    |
/// | ------------------------------ | ------- | ----------------- |
/// | `connection_attempts`          | counter |                   |
/// | `connection_opens`             | counter |                   |
/// | `connection_ends`              | counter | `cause`, `class`  |
/// | `connection_give_ups`          | counter | `reason`          |
/// | `connection_outage`            | time    |                   |
/// | `connection_round_trip`        | time    |                   |
/// | `connection_retry_wait`        | time    |                   |
/// | `connection_pending_messages`  | gauge   |                   |
/// | `connection_taken_messages`    | counter |                   |
/// | `connection_taken_bytes`       | counter |                   |
/// | `connection_ended_messages`    | counter | `outcome`         |
/// | `connection_rejected_messages` | counter | `rejection`       |
/// | `connection_received_bytes`    | counter |                   |
///
/// What each means is told by ``Statistics``, from which it is folded. An outage is told when it is
/// over, a wait as it was drawn; `class` is `wished` where nothing went wrong.
public final class Telemetry: ConnectionMonitor, @unchecked Sendable {
  // Unchecked: all of it is looked at on the connection's loop alone.
  private let sink: any MetricsSink
  private let labels: [MetricLabel]
  private var statistics = Statistics()
  private var told = Told()

  /// The counts that the sink knows of.
  private struct Told {
    var attempts = 0
    var opens = 0
    var outages = Periods()
    var waits = Periods()
    var roundTrips = 0
    var pending = 0
    var taken = 0
    var takenBytes = 0
    var receivedBytes = 0
    var giveUps: [Machine.Closed.Reason: Int] = [:]
    var ended: [Outcome: Int] = [:]
    var rejected: [Rejection: Int] = [:]
  }

  /// Makes telemetry of one connection.
  /// - Parameters:
  ///   - sink: Where the metrics go.
  ///   - label: What tells this connection from others, as the value of the label `connection`.
  public init(_ sink: any MetricsSink, label: String) {
    self.sink = sink
    labels = [MetricLabel("connection", label)]
  }

  public func connection(startsWith machine: Machine) {
    statistics = Statistics(of: machine)
    told = Told()
  }

  public func connection(made record: TraceRecord, leaving machine: Machine) {
    statistics.add(record)
    tellCounts()
    tellTimes()
    if statistics.pending != told.pending {
      told.pending = statistics.pending
      sink.gauge("connection_pending_messages", told.pending, labels: labels)
    }
    if !record.effects.isEmpty { tellEnds(record) }
  }
}

extension Telemetry {
  private func tellCounts() {
    count("attempts", statistics.attempts, &told.attempts)
    count("opens", statistics.opens, &told.opens)
    count("taken_messages", statistics.taken, &told.taken)
    count("taken_bytes", statistics.takenBytes, &told.takenBytes)
    count("received_bytes", statistics.receivedBytes, &told.receivedBytes)
    count("give_ups", by: "reason", statistics.giveUps, &told.giveUps)
    count("ended_messages", by: "outcome", statistics.ended, &told.ended)
    count("rejected_messages", by: "rejection", statistics.rejected, &told.rejected)
  }

  private func tellTimes() {
    time("outage", statistics.outages, &told.outages)
    time("retry_wait", statistics.waits, &told.waits)
    if let roundTrip = statistics.roundTrip, roundTrip.count != told.roundTrips {
      told.roundTrips = roundTrip.count
      sink.time("connection_round_trip", roundTrip.last, labels: labels)
    }
  }

  private func tellEnds(_ record: TraceRecord) {
    for effect in record.effects {
      guard case .ended(_, let cause) = effect else { continue }
      let kind = cause.isWished ? "wished" : "\(cause.failureClass)"
      sink.count(
        "connection_ends", 1,
        labels: labels + [MetricLabel("cause", "\(cause.kind)"), MetricLabel("class", kind)])
    }
  }

  private func count(_ name: String, _ number: Int, _ told: inout Int) {
    guard number != told else { return }
    sink.count("connection_\(name)", number - told, labels: labels)
    told = number
  }

  private func count<Case: CaseIterable & Hashable>(
    _ name: String, by label: String, _ numbers: [Case: Int], _ told: inout [Case: Int]
  ) {
    guard numbers != told else { return }
    for value in Case.allCases {
      let more = numbers[value, default: 0] - told[value, default: 0]
      guard more > 0 else { continue }
      sink.count(
        "connection_\(name)", more, labels: labels + [MetricLabel(label, "\(value)")])
    }
    told = numbers
  }

  /// Tells of a period that is over. No step ends one and begins the next.
  private func time(_ name: String, _ periods: Periods, _ told: inout Periods) {
    guard periods.current == nil, periods.count > told.count else { return }
    sink.time("connection_\(name)", periods.total - told.total, labels: labels)
    told = periods
  }
}
