public import ConnectionFSM

/// What a ``TCPDialer`` asks of the system for each of its sockets, beyond what it always does:
/// Nagle's algorithm is off, and a broken connection raises no SIGPIPE.
///
/// Keepalive and user timeout are hints: a link that falls silent while nothing is under way is
/// found by a heartbeat only, and neither option is told of a link that is down on every system.
public struct TCPOptions: Equatable, Sendable {
  /// From where to dial: a numeric address, or the name of an interface, of which the address of
  /// the right family is taken. While there is none the dial fails with `Cause.localAddressLost`.
  /// Nil leaves it to the system's routes.
  public let localAddress: String?
  /// Whether the system asks a silent peer for a sign of life (RFC 9293 section 3.8.4).
  public let keepalive: Keepalive?
  /// How long bytes may stay without an acknowledgement before the system gives the connection up
  /// (RFC 5482); it also bounds keepalive. Milliseconds on Linux, whole seconds on Apple systems,
  /// rounded up.
  public let userTimeout: TimeSpan?
  /// How many bytes the system takes before they are acknowledged; a wish, which Linux doubles and
  /// cuts to `net.core.wmem_max`. Nil lets the system choose, and adapt.
  public let sendBuffer: Int?
  /// How many bytes the system keeps that were not read; a wish, which Linux doubles and cuts to
  /// `net.core.rmem_max`. Nil lets the system choose, and adapt.
  public let receiveBuffer: Int?

  /// When the system asks, in whole seconds; a fraction is rounded up.
  public struct Keepalive: Equatable, Sendable {
    /// How long the connection is silent before the first question.
    public let idle: TimeSpan
    /// The time between questions without an answer.
    public let interval: TimeSpan
    /// How many questions without an answer end the connection.
    public let count: Int

    /// Makes a keepalive.
    /// - Parameters:
    ///   - idle: 1 to 32,767 s.
    ///   - interval: 1 to 32,767 s.
    ///   - count: 1 to 127. The bounds are those of Linux (tcp(7), `MAX_TCP_KEEPIDLE` …).
    /// - Throws: ``TCPOptionError`` for the first value out of its range.
    public init(idle: TimeSpan, interval: TimeSpan, count: Int) throws(TCPOptionError) {
      for (name, span) in [("idle", idle), ("interval", interval)] {
        guard span >= .seconds(1), span <= .seconds(32_767) else {
          throw TCPOptionError("keepalive.\(name)", "\(span.nanoseconds) ns", "from 1 to 32767 s")
        }
      }
      guard (1...127).contains(count) else {
        throw TCPOptionError("keepalive.count", "\(count)", "from 1 to 127")
      }
      self.idle = idle
      self.interval = interval
      self.count = count
    }
  }

  /// The system's own choice of everything.
  public static let standard = TCPOptions()

  private init() {
    localAddress = nil
    keepalive = nil
    userTimeout = nil
    sendBuffer = nil
    receiveBuffer = nil
  }

  /// Makes options; nil is the system's own choice.
  /// - Parameters:
  ///   - localAddress: Not empty, without NUL.
  ///   - keepalive: When the system asks a silent peer for a sign of life.
  ///   - userTimeout: 1 ms to 2,147,483,647 ms.
  ///   - sendBuffer: 1 to 2,147,483,647 bytes.
  ///   - receiveBuffer: 1 to 2,147,483,647 bytes.
  /// - Throws: ``TCPOptionError`` for the first value out of its range.
  public init(
    localAddress: String? = nil, keepalive: Keepalive? = nil, userTimeout: TimeSpan? = nil,
    sendBuffer: Int? = nil, receiveBuffer: Int? = nil
  ) throws(TCPOptionError) {
    if let localAddress, localAddress.isEmpty || localAddress.utf8.contains(0) {
      throw TCPOptionError(
        "localAddress", "empty or holds NUL", "an address such as 192.0.2.7 or a name such as eth0")
    }
    let longest = TimeSpan.milliseconds(Int64(Int32.max))
    if let userTimeout, userTimeout < .milliseconds(1) || userTimeout > longest {
      throw TCPOptionError(
        "userTimeout", "\(userTimeout.nanoseconds) ns", "from 1 to 2147483647 ms")
    }
    for (name, size) in [("sendBuffer", sendBuffer), ("receiveBuffer", receiveBuffer)] {
      guard let size, !(1...Int(Int32.max)).contains(size) else { continue }
      throw TCPOptionError(name, "\(size)", "from 1 to 2147483647 bytes")
    }
    self.localAddress = localAddress
    self.keepalive = keepalive
    self.userTimeout = userTimeout
    self.sendBuffer = sendBuffer
    self.receiveBuffer = receiveBuffer
  }
}

/// A value that ``TCPOptions`` cannot have, with the mend.
public struct TCPOptionError: Error, Equatable, CustomStringConvertible, Sendable {
  /// The name of the parameter.
  public let parameter: String
  private let problem: String
  private let range: String

  init(_ parameter: String, _ problem: String, _ range: String) {
    self.parameter = parameter
    self.problem = problem
    self.range = range
  }

  public var description: String { "\(parameter) is \(problem); it must be \(range)" }
}
