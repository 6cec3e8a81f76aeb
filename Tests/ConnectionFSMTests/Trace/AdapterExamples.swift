import ConnectionFSM
import Testing

// How a connection is heard by the two packages that Swift services mostly log and measure with.
// Neither is a dependency: types of the same shape stand in for theirs.

// MARK: swift-log

/// In place of `Logging.Logger`.
private struct Logger: Sendable {
  enum Level { case debug, info, notice, warning }

  let label: String
  let write: @Sendable (String) -> Void

  func log(level: Level, _ message: String, metadata: [String: String]) {
    let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    write(([label, "\(level)", message] + details).joined(separator: " "))
  }
}

/// Logs what an application's operator wants to know; every step would be `debug`.
private final class LogMonitor: ConnectionMonitor {
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  func connection(made record: TraceRecord, leaving machine: Machine) {
    for moment in record.moments {
      guard let level = level(of: moment) else { continue }
      let metadata = ["phase": "\(record.to)", "step": "\(record.sequence)"]
      logger.log(level: level, "\(moment)", metadata: metadata)
    }
  }

  /// The error may say more than a log should keep, such as the name in a certificate.
  func connection(linkOf epoch: Epoch, failedWith error: any Error) {
    logger.log(level: .debug, "link \(epoch) failed", metadata: ["error": "\(error)"])
  }

  private func level(of moment: Moment) -> Logger.Level? {
    switch moment {
    case .opened, .waiting: .info
    case .linkEnded, .attemptFailed: .notice
    case .closed(.requested, _): .info
    case .closed, .messageRejected: .warning
    case .attemptStarted: .debug
    case .messagesEnded, .ignored: nil
    }
  }
}

// MARK: swift-metrics

/// In place of `Metrics.Counter`, `Gauge` and `Timer`, which are made by label and dimensions.
private struct MetricsSystem: Sendable {
  let write: @Sendable (String) -> Void

  func counter(_ label: String, _ dimensions: [(String, String)], increment amount: Int64) {
    write("\(label)\(dimensions) += \(amount)")
  }

  func gauge(_ label: String, _ dimensions: [(String, String)], record value: Int) {
    write("\(label)\(dimensions) = \(value)")
  }

  func timer(_ label: String, _ dimensions: [(String, String)], recordNanoseconds span: Int64) {
    write("\(label)\(dimensions) took \(span)")
  }
}

private struct SystemSink: MetricsSink {
  let system: MetricsSystem

  func count(_ name: String, _ amount: Int, labels: [MetricLabel]) {
    system.counter(name, labels.map { ($0.name, $0.value) }, increment: Int64(amount))
  }

  func gauge(_ name: String, _ value: Int, labels: [MetricLabel]) {
    system.gauge(name, labels.map { ($0.name, $0.value) }, record: value)
  }

  func time(_ name: String, _ span: TimeSpan, labels: [MetricLabel]) {
    system.timer(name, labels.map { ($0.name, $0.value) }, recordNanoseconds: span.nanoseconds)
  }
}

@Suite("F56: adapters to other packages")
struct AdapterExamples {
  private final class Lines: @unchecked Sendable {
    // Unchecked: used by one test on one thread.
    var text: [String] = []
  }

  private struct Refusal: Error {}

  private func story() throws -> Recorder {
    var recorder = Recorder(try .made(), seed: 1)
    recorder.feed(.connect(here))
    recorder.transport(.opened, at: .seconds(1))
    recorder.transport(.failed(.fatal), at: .seconds(2))
    return recorder
  }

  @Test("a monitor in the shape of swift-log tells what happened, with the step")
  func logs() throws {
    let lines = Lines()
    let monitor = LogMonitor(Logger(label: "chat") { lines.text.append($0) })
    let recorder = try story()
    monitor.connection(startsWith: recorder.machine)
    for record in recorder.records {
      if record.sequence == 3 { monitor.connection(linkOf: Epoch(1), failedWith: Refusal()) }
      monitor.connection(made: record, leaving: recorder.machine)
    }
    #expect(
      lines.text == [
        "chat debug attempt 1 started: #1 to @0 phase=connecting step=1",
        "chat info opened: #1 phase=open step=2",
        "chat debug link #1 failed error=Refusal()",
        "chat notice link ended: #1 \(Cause.fatal) phase=closed step=3",
        "chat warning closed: terminal, \(Cause.fatal) phase=closed step=3",
      ])
  }

  @Test("a sink in the shape of swift-metrics takes counters, gauges and timers")
  func metrics() throws {
    let lines = Lines()
    let sink = SystemSink(system: MetricsSystem { lines.text.append($0) })
    let telemetry = Telemetry(sink, label: "chat")
    let recorder = try story()
    telemetry.connection(startsWith: Machine(policy: try .made(), seed: 1))
    for record in recorder.records {
      telemetry.connection(made: record, leaving: recorder.machine)
    }
    #expect(lines.text.count == 4)
    #expect(lines.text[0] == #"connection_attempts[("connection", "chat")] += 1"#)
  }
}
