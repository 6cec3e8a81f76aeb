import ConnectionFSM

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
  }

  let speech: Speech
  /// Of the stream: tcp, tls or unix. Its port is 1 where any free one is meant.
  let endpoint: Endpoint
  /// Whether any free port will do, which is no port of an endpoint.
  let isAnyPort: Bool
}

extension ArgumentList {
  /// Reads `--tls` and the operand that names an endpoint.
  /// - Parameter serves: Whether it may be port 0, and raw.
  mutating func peerAddress(serves: Bool) throws(Failure) -> PeerAddress {
    let wantsTLS = flag("--tls")
    guard let word = operand() else {
      throw usage("name an endpoint, such as tcp://127.0.0.1:7000")
    }
    let isAnyPort = serves && word.hasSuffix(":0") && !word.lowercased().hasPrefix("unix:")
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
    default:
      let raw = serves ? ", raw" : ""
      throw usage(
        "there is no “\(named.scheme)” here; there are tcp, tls, unix, line, wg, chat\(raw)")
    }
    if named.scheme == "unix" {
      if wantsTLS { throw usage("--tls is for endpoints with a host") }
      return PeerAddress(speech: speech, endpoint: named, isAnyPort: false)
    }
    let isSecure = wantsTLS || named.scheme == "tls"
    return PeerAddress(
      speech: speech,
      endpoint: Endpoint(
        scheme: isSecure ? "tls" : "tcp", host: named.host, port: named.port),
      isAnyPort: isAnyPort)
  }
}
