public import ConnectionFSM

/// Makes TCP streams, and streams to Unix domain sockets, on a ``SocketEventLoop``.
///
/// A numeric address is dialled as it is. A name is looked up on other threads, for each address
/// family by itself, and its addresses race (RFC 8305): version 6 has a head start, an address that
/// does not answer holds up the next one for 250 ms, one that fails not at all, and the first to
/// connect wins. There is no time limit here unless `DialTiming` sets one: whoever dials closes
/// the stream when it has taken too long.
public final class TCPDialer: ByteStreamDialer {
  private let loop: SocketEventLoop
  private let plan: TCPDial.Plan

  public var eventLoop: any EventLoop { loop }

  /// Makes a dialer whose streams live on the loop.
  /// - Parameters:
  ///   - loop: Where its streams live.
  ///   - timing: How attempts are spaced, and limits beyond that of whoever dials.
  ///   - options: What the system is asked for. Unix domain sockets have none of it.
  public convenience init(
    loop: SocketEventLoop, timing: DialTiming = .standard, options: TCPOptions = .standard
  ) {
    self.init(loop: loop, resolver: .shared, timing: timing, options: options)
  }

  package init(
    loop: SocketEventLoop, resolver: Resolver, timing: DialTiming = .standard,
    options: TCPOptions = .standard
  ) {
    self.loop = loop
    plan = TCPDial.Plan(resolver: resolver, timing: timing, options: options)
  }

  /// Starts to connect to a `tcp` or a `unix` endpoint. To be called on the loop.
  ///
  /// The observer hears `streamOpened`, or `streamFailed` with one of
  /// - `Cause.system`, of the most hopeful address. A path where there is nothing, or whose queue
  ///   of connections is full, refuses.
  /// - `Cause.resolution`, `Cause.timedOut` for a limit of the timing.
  /// - `Cause.localAddressLost` when the local address of the options is not there.
  /// - `Cause.unsupportedEndpoint` for another scheme, port 0, a host that is empty or contains
  ///   NUL, or a path longer than a socket's may be: 107 bytes on Linux, 103 on Apple systems.
  ///
  /// The stream's `diagnosis` is then a ``DialError`` where that says more.
  public func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> TCPStream {
    loop.expectLoop()
    let stream = TCPStream(loop: loop, observer: observer)
    // Later, so that the observer hears nothing inside this call. Weakly: a stream that is dropped
    // meanwhile has nothing left to do.
    let confined = WeakStream(stream)
    let plan = plan
    loop.execute { confined.stream?.start(endpoint, plan) }
    return stream
  }
}

/// What the cause of a failed dial does not say, and the mend.
public struct DialError: Error, Equatable, CustomStringConvertible, Sendable {
  /// What went wrong where.
  public enum Problem: Equatable, Sendable {
    /// The path has more bytes than a socket's may have.
    case pathTooLong(limit: Int)
    /// There is nothing at the path.
    case nothingAtPath
    /// There is no such local address, or interface with an address of the right family.
    case noLocalAddress(String)
  }

  /// What was dialled.
  public let endpoint: Endpoint
  /// What went wrong.
  public let problem: Problem

  public var description: String {
    switch problem {
    case .pathTooLong(let limit):
      "\(endpoint): the path has \(endpoint.host.utf8.count) bytes, and a socket's may have "
        + "\(limit): choose a shorter one"
    case .nothingAtPath: "\(endpoint): there is nothing at the path: start who listens there"
    case .noLocalAddress(let name):
      "\(endpoint): this machine has no address or interface “\(name)” of the peer's family to "
        + "dial from: see `ip address`"
    }
  }
}

/// A stream on its way through another thread, which only passes it on.
struct WeakStream: @unchecked Sendable {
  // Unchecked: looked into on the stream's loop alone.
  weak var stream: TCPStream?

  init(_ stream: TCPStream) { self.stream = stream }
}
