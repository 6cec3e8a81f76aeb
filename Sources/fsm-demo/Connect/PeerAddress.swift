import ConnectionFSM
import Transports

/// What an endpoint's scheme says to `connect` and `serve`: what is spoken, and over which stream.
struct PeerAddress {
  /// What is spoken.
  enum Speech: Equatable {
    /// Lines that come back, and so are acknowledged.
    case echo
    /// Bytes that come back.
    case raw
    /// Lines of CRLF with a heartbeat.
    case line
    /// JSON in frames with a 7-byte header.
    case wg
    /// `iam:` and `msg:`.
    case chat
    /// Messages of a WebSocket; to `connect` at this URL.
    case webSocket(WebSocketURL?)
  }

  let speech: Speech
  /// Of the stream: tcp, tls or unix. Its port is 1 where any free one is meant.
  let endpoint: Endpoint
  /// Whether any free port will do, which is no port of an endpoint.
  let isAnyPort: Bool

  init(_ speech: Speech, at endpoint: Endpoint, isAnyPort: Bool = false) {
    self.speech = speech
    self.endpoint = endpoint
    self.isAnyPort = isAnyPort
  }

  /// Whether TLS is spoken from the start.
  var isSecure: Bool { endpoint.scheme == "tls" }

  var isWebSocket: Bool {
    if case .webSocket = speech { true } else { false }
  }
}

extension PeerAddress: CustomStringConvertible {
  /// As it was given, more or less.
  var description: String {
    if case .webSocket(let url?) = speech { "\(url)" } else { "\(endpoint)" }
  }
}

extension ArgumentList {
  /// Reads `--tls` and the operand that names an endpoint.
  /// - Parameter serves: Whether it may be port 0, and raw.
  mutating func peerAddress(serves: Bool) throws(Failure) -> PeerAddress {
    let wantsTLS = flag("--tls")
    guard var word = operand() else {
      throw usage("name an endpoint, such as tcp://127.0.0.1:7000")
    }
    let scheme = word.firstRange(of: "://").map { word[..<$0.lowerBound].lowercased() }
    if scheme == "ws" || scheme == "wss" {
      guard !wantsTLS else { throw usage("--tls is in the scheme here: write wss://") }
      if !serves { return try webSocketAddress(word) }
      if word.hasSuffix("/") { word.removeLast() }
      guard !word.dropFirst("wss://".count).contains("/") else {
        throw usage("every path is served there; leave it out of “\(word)”")
      }
    }
    let isAnyPort = serves && word.hasSuffix(":0") && scheme != "unix"
    let named: Endpoint
    do throws(EndpointError) {
      named = try Endpoint(isAnyPort ? word.dropLast() + "1" : word)
    } catch {
      throw usage("\(error)")
    }
    let speech: PeerAddress.Speech
    switch named.scheme {
    case "tcp", "tls", "unix": speech = .echo
    case "line": speech = .line
    case "wg": speech = .wg
    case "chat": speech = .chat
    case "raw" where serves: speech = .raw
    case "ws", "wss": speech = .webSocket(nil)
    default:
      let raw = serves ? ", raw" : ""
      throw usage(
        "there is no “\(named.scheme)” here; there are tcp, tls, unix, ws, wss, line, wg, "
          + "chat\(raw)")
    }
    if named.scheme == "unix" {
      if wantsTLS { throw usage("--tls is for endpoints with a host") }
      return PeerAddress(speech, at: named)
    }
    let isSecure = wantsTLS || named.scheme == "tls" || named.scheme == "wss"
    return PeerAddress(
      speech,
      at: Endpoint(scheme: isSecure ? "tls" : "tcp", host: named.host, port: named.port),
      isAnyPort: isAnyPort)
  }

  private func webSocketAddress(_ word: String) throws(Failure) -> PeerAddress {
    do throws(WebSocketURLError) {
      let url = try WebSocketURL(word)
      return PeerAddress(.webSocket(url), at: url.endpoint)
    } catch {
      throw usage("\(error)")
    }
  }

  /// Objects to an option that means nothing at this address, rather than ignore it.
  func refuse(_ options: [String], unless applies: Bool, isFor place: String) throws(Failure) {
    guard !applies, let option = options.first(where: contains) else { return }
    throw usage("\(option) is for \(place)")
  }
}
