public import ConnectionFSM

/// Makes TCP streams on a ``SocketEventLoop``.
///
/// A numeric address is dialled as it is; a name is looked up on another thread, and its addresses
/// are tried one after another until one connects. There is no time limit here: whoever dials
/// closes the stream when it has taken too long.
public final class TCPDialer: ByteStreamDialer {
  private let loop: SocketEventLoop
  private let resolver: Resolver

  public var eventLoop: any EventLoop { loop }

  /// Makes a dialer whose streams live on the loop.
  public convenience init(loop: SocketEventLoop) {
    self.init(loop: loop, resolver: .shared)
  }

  package init(loop: SocketEventLoop, resolver: Resolver) {
    self.loop = loop
    self.resolver = resolver
  }

  /// Starts to connect to a `tcp` endpoint. To be called on the loop.
  ///
  /// The observer hears `streamOpened`, or `streamFailed` with what the system said:
  /// `Cause.system` of the most hopeful address, `Cause.resolution`, or
  /// `Cause.unsupportedEndpoint` for another scheme, port 0, or a host that is empty or contains
  /// NUL.
  public func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> TCPStream {
    loop.expectLoop()
    let stream = TCPStream(loop: loop, observer: observer)
    // Later, so that the observer hears nothing inside this call. Weakly: a stream that is dropped
    // meanwhile has nothing left to do.
    let confined = WeakStream(stream)
    let resolver = resolver
    loop.execute { confined.stream?.start(endpoint, resolver) }
    return stream
  }
}

/// A stream on its way through another thread, which only passes it on.
struct WeakStream: @unchecked Sendable {
  // Unchecked: looked into on the stream's loop alone.
  weak var stream: TCPStream?

  init(_ stream: TCPStream) { self.stream = stream }
}
