public import ConnectionFSM
import Synchronization

/// A byte stream that is read and written by request, for protocols without an engine: a banner, a
/// header and then so many bytes, lines while the login lasts.
///
/// Requests wait in order, from the moment the channel is made; none is looked at before the stream
/// is open. Each has a tag, which is given back with its result, and a timeout, which starts when
/// the request comes to the head of its line and the stream is open. Each ends exactly once, with
/// its result or a ``ChannelError``, as long as the loop runs: close before it is stopped.
///
/// **Reading.** What a read does not take stays for the next one; a read that fails takes nothing.
/// Requests behind one that failed go on with the same bytes: whoever asks in advance for a body
/// must close when its header fails, and can, since the next request is looked at only after what
/// the application does inside the result of the one before. Once the stream has ended, all that
/// wait are served at once, each with what the one before left. While nobody asks, no more than
/// 16 KiB are read from the system, so that a peer that sends too much has to wait.
///
/// **Writing.** A write has ended when the system took its last byte, which is no proof that the
/// peer got it. Bytes of two writes never mix. A write that times out ends the channel.
///
/// **Threads.** Everything may be called from anywhere and takes effect on the dialer's loop in the
/// order of the calls. Results and events come on the loop, in order, and never inside a call.
///
/// **The end.** A channel connects once. What had arrived before it ended can still be read, unless
/// the application closed it. Letting go of the channel closes it.
///
/// Differences from GCDAsyncSocket, whose users are at home here: a read that times out or finds no
/// terminator fails alone and loses no byte, there it ends the socket; empty reads and writes are
/// answered; a full line says so; requests after a close fail instead of vanishing; the orderly
/// close sends FIN and waits for the peer, so that a late answer does not turn it into a reset.
/// There is no close after reading: close inside the last read's completion.
public final class ByteChannel<Dialer: ByteStreamDialer & SendableMetatype>: Sendable {
  private let loop: any EventLoop
  private let core: ChannelCore<Dialer>
  private let lastID = Atomic<UInt64>(0)

  /// Hears the result of a read, with the tag that was given.
  public typealias ReadCompletion = @Sendable (_ tag: Int, Result<[UInt8], ChannelError>) -> Void
  /// Hears the result of a write, with the tag that was given.
  public typealias WriteCompletion = @Sendable (_ tag: Int, Result<Void, ChannelError>) -> Void
  /// Asked when a request's time has passed, with how many bytes are there or were taken; gives the
  /// time it may still wait. Nil, or nothing, ends it. Asked again when that has passed too.
  public typealias Extension = @Sendable (_ byteCount: Int) -> TimeSpan?

  /// Makes a channel that is not connected.
  /// - Parameters:
  ///   - dialer: Makes the stream; handed over. Its loop is the channel's.
  ///   - marks: How much may wait to be written.
  ///   - halfClose: What to do when the peer finishes writing.
  ///   - onEvent: Called on the loop with what befalls the channel.
  ///   - diagnosed: Called right before the event `closed`, with the error behind its cause if the
  ///     stream has one to show. For logs.
  public init(
    _ dialer: sending Dialer, marks: WaterMarks = .standard, halfClose: HalfClosePolicy = .close,
    onEvent: @escaping @Sendable (ChannelEvent) -> Void = { _ in },
    diagnosed: (@Sendable (any Error) -> Void)? = nil
  ) {
    loop = dialer.eventLoop
    core = ChannelCore(
      dialer, marks: marks, halfClose: halfClose, diagnosed: diagnosed, onEvent: onEvent)
  }

  deinit {
    loop.execute { [core] in core.close() }
  }

  /// Connects, once in the channel's life.
  /// - Parameters:
  ///   - endpoint: Where to.
  ///   - timeout: For all of it: name, attempts, handshakes. Nil is no limit but the system's.
  ///   - completion: Hears how it went, before the event.
  public func connect(
    to endpoint: Endpoint, timeout: TimeSpan? = .seconds(10),
    completion: (@Sendable (Result<Void, ChannelError>) -> Void)? = nil
  ) {
    let isRunning = loop.execute { [core] in
      core.connect(to: endpoint, timeout: timeout, completion)
    }
    if !isRunning { completion?(.failure(.closed(.closedByUser))) }
  }

  /// Asks for bytes.
  /// - Parameters:
  ///   - request: Which bytes.
  ///   - tag: Given back with the result.
  ///   - timeout: From when the read is first in line and the stream is open; nil is no limit.
  ///   - onTimeout: May grant more time.
  ///   - completion: Hears the result.
  @discardableResult
  public func read(
    _ request: ReadRequest, tag: Int = 0, timeout: TimeSpan? = nil, onTimeout: Extension? = nil,
    completion: @escaping ReadCompletion
  ) -> RequestID {
    let id = nextID()
    read(
      request, as: id, PendingRead(tag: tag, onTimeout: onTimeout, completion: completion), timeout)
    return id
  }

  /// Writes bytes behind those that wait. No bytes are written at once, in order.
  /// - Parameters:
  ///   - bytes: What to write.
  ///   - tag: Given back with the result.
  ///   - timeout: From when the write is first in line and the stream is open; nil is no limit.
  ///   - onTimeout: May grant more time.
  ///   - completion: Hears the result.
  @discardableResult
  public func write(
    _ bytes: [UInt8], tag: Int = 0, timeout: TimeSpan? = nil, onTimeout: Extension? = nil,
    completion: @escaping WriteCompletion
  ) -> RequestID {
    let id = nextID()
    write(
      bytes, as: id, PendingWrite(tag: tag, onTimeout: onTimeout, completion: completion), timeout)
    return id
  }

  /// Takes a request back: a read that has not ended, a write of which no byte was taken. It ends
  /// with ``ChannelError/cancelled``; any other request goes on.
  public func cancel(_ id: RequestID) {
    loop.execute { [core] in core.cancel(id) }
  }

  /// Ends at once. What waits is dropped, and so is what arrived.
  public func close() {
    loop.execute { [core] in core.close() }
  }

  /// Ends in order: refuses new requests, writes what waits, sends FIN (RFC 9293 section 3.6), and
  /// reads until the peer has ended too, since a socket that is closed with bytes unread is reset,
  /// which can cost the peer what was written last (RFC 1122 section 4.2.2.13). Reads that wait are
  /// still served; what arrives for none is dropped.
  /// - Parameters:
  ///   - linger: The longest time in which the peer takes nothing while there is something to
  ///     write, and then the longest time from FIN to its own end.
  ///   - completion: Hears what the event `closed` tells; at once, if the channel has ended.
  public func closeAfterWriting(
    linger: TimeSpan = .seconds(10), completion: (@Sendable (Cause) -> Void)? = nil
  ) {
    let isRunning = loop.execute { [core] in core.closeAfterWriting(linger, completion) }
    if !isRunning { completion?(.closedByUser) }
  }

  func nextID() -> RequestID {
    RequestID(lastID.add(1, ordering: .relaxed).newValue)
  }

  func read(
    _ request: ReadRequest, as id: RequestID, _ pending: PendingRead, _ timeout: TimeSpan?
  ) {
    let isRunning = loop.execute { [core] in core.read(request, id, timeout, pending) }
    if !isRunning { pending.completion(pending.tag, .failure(.closed(.closedByUser))) }
  }

  func write(
    _ bytes: [UInt8], as id: RequestID, _ pending: PendingWrite, _ timeout: TimeSpan?
  ) {
    let isRunning = loop.execute { [core] in core.write(bytes, id, timeout, pending) }
    if !isRunning { pending.completion(pending.tag, .failure(.closed(.closedByUser))) }
  }

  /// Calls back once there is room for what was refused, at once if nothing was.
  func whenWritable(_ id: RequestID, _ completion: @escaping @Sendable (ChannelError?) -> Void) {
    let isRunning = loop.execute { [core] in core.whenWritable(id, completion) }
    if !isRunning { completion(.closed(.closedByUser)) }
  }
}
