/// An ordered stream of bytes in both directions: a socket, a TLS session over one, a simulated
/// link.
///
/// Synchronous and driven by readiness: a call never waits. Confined to its dialer's loop.
public protocol ByteStream: AnyObject {
  /// Reads what is there into the buffer, from its beginning.
  func read(into buffer: inout MutableRawSpan) -> ReadResult

  /// Writes as much as is taken now. After `wouldBlock` the observer hears once that there is room.
  func write(_ bytes: RawSpan) -> WriteResult

  /// Whether the observer hears `streamReadable` from now on; once the stream is open it does. What
  /// is left unread meanwhile makes the peer wait.
  func setReading(_ isReading: Bool)

  /// Says that nothing more will be written; reading goes on (TCP: FIN, RFC 9293 section 3.6).
  func finishWriting()

  /// Lets go of the stream at once. The observer hears nothing after this.
  func close()

  /// The error behind the cause of its failure, for logs; nil if the cause says all.
  var diagnosis: (any Error)? { get }
}

extension ByteStream {
  public var diagnosis: (any Error)? { nil }
}

/// What a read gave.
public enum ReadResult: Equatable, Sendable {
  /// So many bytes, at least one.
  case bytes(Int)
  /// Nothing is there now; the observer hears when that changes.
  case wouldBlock
  /// The peer has finished writing.
  case end
  /// The stream is broken.
  case failed(Cause)
}

/// What a write gave.
public enum WriteResult: Equatable, Sendable {
  /// So many bytes were taken, at least one unless none were given.
  case wrote(Int)
  /// None is taken now.
  case wouldBlock
  /// The stream is broken.
  case failed(Cause)
}

/// Who hears of a stream's readiness.
public protocol ByteStreamObserver: AnyObject {
  /// The stream is connected: it can be read and written.
  func streamOpened()
  /// There is something to read: bytes, the end, or an error. Heard again while something is left;
  /// whoever will not read it says so with `setReading`, or keeps the loop busy.
  func streamReadable()
  /// There is room again after a write that would have blocked.
  func streamWritable()
  /// The stream could not be connected.
  func streamFailed(_ cause: Cause)
}

/// Makes byte streams.
public protocol ByteStreamDialer: AnyObject {
  /// The kind of stream it makes.
  associatedtype Stream: ByteStream

  /// The loop on which its streams live.
  var eventLoop: any EventLoop { get }

  /// Starts to connect; the observer hears how it went, never inside this call. The stream holds
  /// its observer weakly.
  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> Stream
}
