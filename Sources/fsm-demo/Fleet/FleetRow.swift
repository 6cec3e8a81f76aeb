import NetSim

/// What came of one policy: a run a seed, never none.
struct FleetRow: Sendable {
  /// The policy, as the user named it.
  let name: String
  let runs: [FleetRun]

  /// The run that is drawn: the first.
  var shown: FleetRun { runs[0] }
}

/// What is kept of a report: not the instant of every client, which for many seeds were gigabytes.
struct FleetRun: Sendable {
  let clients: Int
  let peak: Int
  let series: [FleetReport.Bin]
  /// By the names of the measures; without those that there are none of.
  let measures: [String: Double]

  init(_ report: FleetReport) {
    clients = report.clients
    peak = report.peak
    series = report.series
    let values = FleetMeasure.all.compactMap { measure in
      measure.value(report).map { (measure.name, $0) }
    }
    measures = Dictionary(uniqueKeysWithValues: values)
  }
}
