/// Takes the metrics of connections, on their way to whatever collects them: the shape of
/// swift-metrics, Prometheus or a log.
///
/// Called on the connection's loop, so it must be quick, and may be called by several connections
/// at once.
public protocol MetricsSink: Sendable {
  /// Something happened so many times more, at least once.
  func count(_ name: String, _ amount: Int, labels: [MetricLabel])
  /// Something has this value now.
  func gauge(_ name: String, _ value: Int, labels: [MetricLabel])
  /// Something took so long.
  func time(_ name: String, _ span: TimeSpan, labels: [MetricLabel])
}

/// One dimension of a metric. Its values are few: names of causes and outcomes, never ids.
public struct MetricLabel: Hashable, Sendable {
  /// The dimension.
  public let name: String
  /// The value in it.
  public let value: String

  /// Makes a label.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
