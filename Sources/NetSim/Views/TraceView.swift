public import ConnectionFSM

/// A picture of a trace: it takes the steps, and the notes between them, in order, and is read at
/// the end. The text depends on these alone.
public protocol TraceView: Sendable {
  /// Takes the next step of the trace.
  mutating func add(_ record: TraceRecord)

  /// Takes something that is no step: what the network or the device did.
  mutating func note(_ text: String, at instant: Instant)

  /// The picture, as the text of a file.
  var text: String { get }
}
