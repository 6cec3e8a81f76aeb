public import ConnectionFSM

/// Why a request of a ``ByteChannel`` was not met. Every request ends once: met, or with one of
/// these.
public enum ChannelError: Error, Equatable, Sendable {
  /// Its time passed. So many bytes were there for a read, and stay for the next one; so many were
  /// taken of a write, and with it the channel has ended.
  case timedOut(Timeout, byteCount: Int)
  /// The peer finished writing before a read was met. So many bytes were there, and stay for
  /// another read.
  case ended(byteCount: Int)
  /// There is no terminator in so many bytes, which stay for another read.
  case terminatorNotFound(maximum: Int)
  /// Taken back before it began.
  case cancelled
  /// Too much waits already; see ``WaterMarks``. Nothing was taken of it.
  case bufferFull
  /// The channel is closing, and takes no more requests.
  case closing
  /// The channel has ended, with this cause; what a write had begun, or a connect, is in doubt.
  case closed(Cause)
  /// A channel connects once in its life: make another one.
  case alreadyConnected
  /// A read of fewer than one byte (of fewer than none, if exactly so many are asked for).
  case invalidCount(Int)
  /// A read whose maximum is too small for its terminator.
  case maximumTooSmall(Int, terminator: Int)
  /// Water marks that no count can meet.
  case invalidMarks(low: Int, high: Int)
}

extension ChannelError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .timedOut(let timeout, let count): "\(timeout): timed out after \(count) bytes"
    case .ended(let count): "the peer finished writing when \(count) bytes of the read were there"
    case .terminatorNotFound(let maximum):
      "no terminator in \(maximum) bytes; raise maximum, or close"
    case .cancelled: "cancelled before it began"
    case .bufferFull: "too much waits to be written or read; go on when the channel is writable"
    case .closing: "the channel is closing; ask before closeAfterWriting()"
    case .closed(let cause): "the channel has ended: \(cause)"
    case .alreadyConnected: "a channel connects once; make another one"
    case .invalidCount(let count): "count: is \(count); ask for at least one byte"
    case .maximumTooSmall(let maximum, let terminator):
      "maximum: is \(maximum); the terminator alone has \(terminator) bytes"
    case .invalidMarks(let low, let high):
      "marks: low is \(low) and high is \(high); give 0 <= low <= high and high >= 1"
    }
  }
}
