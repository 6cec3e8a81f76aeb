public import ConnectionFSM

/// What a client asks of a WebSocket server, and how it talks.
public struct WebSocketOptions: Sendable {
  /// Where the server is.
  public let url: WebSocketURL
  /// Fields of the request, in order: Origin, Authorization, Cookie and others.
  public let headers: [HTTPField]
  /// The subprotocols that are offered, the preferred one first.
  public let subprotocols: [String]
  /// The compression that is offered; nil if none is.
  public let compression: WebSocketCompression?
  /// How long frames and messages may be.
  public let limits: WebSocketLimits
  /// How many redirections are followed; 0 follows none.
  public let redirectLimit: Int
  /// A message that is sent before all others, right after the handshake.
  public let login: Message?
  /// Where the credentials stand; nil if the link takes none.
  public let authorization: WebSocketAuthorization?
  /// Whether binary messages that are UTF-8 arrive as text.
  public let readsBinaryAsText: Bool
  /// What an orderly end of ours says.
  public let farewell: WebSocketClose
  /// Where keys and masks come from.
  public let random: WebSocketRandom
  /// Hears, on the link's event loop, what was agreed and how the peer closed.
  public let notice: (@Sendable (WebSocketNotice) -> Void)?

  /// The most redirections that can be followed, as the Fetch standard has it.
  private static let mostRedirects = 20

  /// Makes options.
  /// - Parameters:
  ///   - url: Where the server is.
  ///   - headers: Sent as they are. Those that the protocol itself sends are refused: Host,
  ///     Upgrade, Connection, all of Sec-WebSocket, and those that announce a body.
  ///   - subprotocols: Tokens, each once (RFC 6455 section 4.1).
  ///   - compression: Offers permessage-deflate (RFC 7692).
  ///   - limits: How long frames and messages may be.
  ///   - redirectLimit: 0 to 20; 5 is usual where redirections are wanted. One from `wss` to `ws`
  ///     is never followed, and credentials and cookies do not go to another host or port.
  ///   - login: Text or binary, not longer than the limits allow. It also goes where a redirection
  ///     that was followed has led.
  ///   - authorization: Where to write what the connection's `CredentialsProvider` gives. A policy
  ///     that has one needs a `credentialsDeadline`.
  ///   - readsBinaryAsText: For a server that sends its text as binary. What is not UTF-8 stays
  ///     binary. Not together with limits that deliver pieces, which may end inside a character.
  ///   - farewell: The code and reason with which the link is closed in order.
  ///   - random: Leave it to the system, but for a simulation.
  ///   - notice: Must not block: the loop waits.
  /// - Throws: ``WebSocketOptionError``, which names the parameter and the mend.
  public init(
    _ url: WebSocketURL, headers: [HTTPField] = [], subprotocols: [String] = [],
    compression: WebSocketCompression? = nil, limits: WebSocketLimits = .standard,
    redirectLimit: Int = 0, login: Message? = nil, authorization: WebSocketAuthorization? = nil,
    readsBinaryAsText: Bool = false, farewell: WebSocketClose = .normal,
    random: WebSocketRandom = .system, notice: (@Sendable (WebSocketNotice) -> Void)? = nil
  ) throws(WebSocketOptionError) {
    if let header = headers.first(where: \.isOfProtocol) {
      throw WebSocketOptionError(
        "headers", "hold \(header.name), which the protocol itself sends; leave it out")
    }
    try Self.check(subprotocols)
    guard (0...Self.mostRedirects).contains(redirectLimit) else {
      throw WebSocketOptionError(
        "redirectLimit", "is \(redirectLimit); give 0 to \(Self.mostRedirects)")
    }
    do throws(FramingError) {
      try login?.validateForWebSocket(limit: limits.maximumOutgoingLength)
    } catch {
      throw WebSocketOptionError("login", "cannot be sent, \(error)")
    }
    try authorization?.validate(url, headers)
    guard !readsBinaryAsText || !limits.deliversPieces else {
      throw WebSocketOptionError(
        "readsBinaryAsText",
        "cannot be with limits.deliversPieces: a piece may end inside a "
          + "character; leave one of them out")
    }
    self.url = url
    self.headers = headers
    self.subprotocols = subprotocols
    self.compression = compression
    self.limits = limits
    self.redirectLimit = redirectLimit
    self.login = login
    self.authorization = authorization
    self.readsBinaryAsText = readsBinaryAsText
    self.farewell = farewell
    self.random = random
    self.notice = notice
  }

  private static func check(_ subprotocols: [String]) throws(WebSocketOptionError) {
    for (place, name) in subprotocols.enumerated() {
      guard HTTPText.isToken(name.utf8) else {
        throw WebSocketOptionError(
          "subprotocols", "hold “\(name)”; use letters, digits and ! # $ % & ' * + - . ^ _ ` | ~")
      }
      guard !subprotocols[..<place].contains(name) else {
        throw WebSocketOptionError("subprotocols", "hold “\(name)” twice; offer it once")
      }
    }
  }
}

extension HTTPField {
  /// Whether the protocol sends it by itself, or rules it out.
  var isOfProtocol: Bool {
    let name = name.lowercased()
    return name.hasPrefix("sec-websocket-")
      || ["host", "upgrade", "connection", "content-length", "transfer-encoding"].contains(name)
  }
}

/// A value that the options of a WebSocket cannot have, with the mend.
public struct WebSocketOptionError: Error, Equatable, CustomStringConvertible, Sendable {
  /// The name of the parameter.
  public let parameter: String
  private let problem: String

  init(_ parameter: String, _ problem: String) {
    self.parameter = parameter
    self.problem = problem
  }

  public var description: String { "\(parameter) \(problem)" }
}
