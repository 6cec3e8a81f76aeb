public import ConnectionFSM

/// How many bytes may wait to be written.
public struct WaterMarks: Equatable, Sendable {
  /// A write beyond this many bytes that wait is refused; one on its own may be larger.
  public let high: Int
  /// After a refusal the channel is writable again when no more than this wait, and there is room
  /// for what was refused.
  public let low: Int

  /// Makes marks, in bytes.
  /// - Throws: ``ChannelError/invalidMarks(low:high:)``.
  public init(low: Int, high: Int) throws(ChannelError) {
    guard low >= 0, high >= 1, low <= high else { throw .invalidMarks(low: low, high: high) }
    self.low = low
    self.high = high
  }

  private init(known low: Int, _ high: Int) {
    self.low = low
    self.high = high
  }

  /// 64 KiB and 256 KiB: about one and four socket buffers of a busy link.
  public static let standard = WaterMarks(known: 64 << 10, 256 << 10)
}

/// What a channel does when its peer finishes writing (F40).
public enum HalfClosePolicy: Sendable {
  /// It ends. What arrived before can still be read; what waits to be written is not written.
  case close
  /// It says so and goes on writing until it is closed.
  case keepWriting
}

/// What befalls a channel as a whole.
public enum ChannelEvent: Equatable, Sendable {
  /// The stream is connected.
  case opened
  /// The peer has finished writing; heard under ``HalfClosePolicy/keepWriting`` alone.
  case readClosed
  /// There is room for what was refused with ``ChannelError/bufferFull``.
  case writable
  /// The channel has ended; the last event, heard once. `closedByUser` when it was closed and, with
  /// ``ByteChannel/closeAfterWriting(linger:completion:)``, the peer has ended too;
  /// `closedByPeer` when the peer finished writing; `timedOut` with `connect`, with `write` when a
  /// write timed out or nothing was taken for the linger time, with `read` when the peer did not
  /// end within it; else what broke the stream.
  case closed(Cause)
}
