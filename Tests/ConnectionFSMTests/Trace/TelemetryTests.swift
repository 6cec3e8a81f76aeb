import ConnectionFSM
import Testing

@Suite("F56: metrics of a connection")
struct TelemetryTests {
  @Test("the counters of any life add up to its statistics, and each end has its cause")
  func sums() throws {
    for seed in 1...30 as ClosedRange<UInt64> {
      let (recorder, _) = try ReplayTests.life(seed: seed)
      let (sink, statistics) = (Sink(), recorder.statistics)
      let telemetry = Telemetry(sink, label: "chat")
      telemetry.connection(startsWith: Machine(policy: try ReplayTests.policy(), seed: seed))
      for record in recorder.records {
        telemetry.connection(made: record, leaving: recorder.machine)
      }
      #expect(sink.sum("connection_attempts") == statistics.attempts)
      #expect(sink.sum("connection_opens") == statistics.opens)
      #expect(sink.sum("connection_taken_messages") == statistics.taken)
      #expect(sink.sum("connection_taken_bytes") == statistics.takenBytes)
      #expect(sink.sum("connection_received_bytes") == statistics.receivedBytes)
      #expect(sink.gauges["connection_pending_messages"] ?? 0 == statistics.pending)
      for outcome in Outcome.allCases {
        let label = MetricLabel("outcome", "\(outcome)")
        #expect(sink.sum("connection_ended_messages", label) == statistics.ended[outcome] ?? 0)
      }
      for rejection in Rejection.allCases {
        let label = MetricLabel("rejection", "\(rejection)")
        let rejected = statistics.rejected[rejection] ?? 0
        #expect(sink.sum("connection_rejected_messages", label) == rejected)
      }
      for failure in FailureClass.allCases {
        let label = MetricLabel("class", "\(failure)")
        #expect(sink.sum("connection_ends", label) == statistics.failures[failure] ?? 0)
      }
      let wished = MetricLabel("class", "wished")
      #expect(sink.sum("connection_ends", wished) == statistics.wishedEnds)
      #expect(sink.times["connection_round_trip"]?.count ?? 0 == statistics.roundTrip?.count ?? 0)
      #expect(sink.times["connection_retry_wait"]?.count ?? 0 == statistics.waits.count)
      let outages = statistics.outages
      let over = outages.count - (outages.current == nil ? 0 : 1)
      #expect(sink.times["connection_outage"]?.count ?? 0 == over)
    }
  }

  @Test("a story gives the metrics that it should, each with the label of the connection")
  func story() throws {
    var recorder = Recorder(try .made(), seed: 1)
    let sink = Sink()
    let telemetry = Telemetry(sink, label: "chat")
    telemetry.connection(startsWith: recorder.machine)
    recorder.feed(.connect(here))
    recorder.transport(.opened, at: .seconds(1))
    recorder.feed(.offer(LaneID(1), byteCount: 5))
    recorder.transport(.failed(.system(.connectionReset)), at: .seconds(2))
    recorder.serveDeadline()
    recorder.transport(.opened, at: .seconds(9))
    recorder.transport(.failed(.system(.connectionReset)), at: .seconds(30))
    recorder.serveDeadline()
    recorder.transport(.opened, at: .seconds(35))
    for record in recorder.records {
      telemetry.connection(made: record, leaving: recorder.machine)
    }
    let connection = MetricLabel("connection", "chat")
    #expect(sink.counts.allSatisfy { $0.labels.first == connection })
    #expect(
      sink.counts.map(\.text) == [
        "attempts 1", "opens 1", "taken_messages 1", "taken_bytes 5",
        "ends 1 cause=system class=transient", "attempts 1", "opens 1",
        "ends 1 cause=system class=transient", "attempts 1", "opens 1",
      ])
    #expect(sink.sum("connection_ends", MetricLabel("cause", "system")) == 2)
    #expect(sink.times["connection_outage"] == [.seconds(7), .seconds(5)])
    #expect(sink.times["connection_retry_wait"] == [.seconds(4), .zero])
    #expect(sink.gauges == ["connection_pending_messages": 1])
  }
}

/// Keeps what it hears.
private final class Sink: MetricsSink, @unchecked Sendable {
  struct Count {
    let name: String
    let amount: Int
    let labels: [MetricLabel]

    var text: String {
      let further = labels.dropFirst().map { " \($0.name)=\($0.value)" }.joined()
      return "\(name.dropFirst("connection_".count)) \(amount)\(further)"
    }
  }

  // Unchecked: used by one test on one thread.
  private(set) var counts: [Count] = []
  private(set) var gauges: [String: Int] = [:]
  private(set) var times: [String: [TimeSpan]] = [:]

  func count(_ name: String, _ amount: Int, labels: [MetricLabel]) {
    counts.append(Count(name: name, amount: amount, labels: labels))
  }

  func gauge(_ name: String, _ value: Int, labels: [MetricLabel]) { gauges[name] = value }

  func time(_ name: String, _ span: TimeSpan, labels: [MetricLabel]) {
    times[name, default: []].append(span)
  }

  func sum(_ name: String, _ label: MetricLabel? = nil) -> Int {
    counts.filter { $0.name == name && (label.map($0.labels.contains) ?? true) }
      .reduce(0) { $0 + $1.amount }
  }
}
