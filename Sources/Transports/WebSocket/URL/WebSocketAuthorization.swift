public import ConnectionFSM

/// Where the credentials of a link stand: what the connection's `CredentialsProvider` gives, anew
/// for each link.
///
/// They go to the URL's own host and port, and to no other that a redirection leads to. Without a
/// provider nothing is written.
public enum WebSocketAuthorization: Sendable {
  /// In a field of the request, behind the prefix: `Authorization: Bearer …`.
  case header(name: String = "Authorization", prefix: String = "Bearer ")
  /// In the URL's query, percent-encoded: `?token=…`. Servers and proxies like to log URLs: prefer
  /// a header where the server reads one.
  case query(name: String)
  /// In a message that is sent right after the handshake, before everything else. The closure makes
  /// it, on the link's event loop; one that cannot be sent ends the link with
  /// `Cause.protocolError`.
  case message(@Sendable (Credentials) -> Message)
}

extension WebSocketAuthorization {
  /// Checks it against what else the request holds.
  func validate(
    _ url: WebSocketURL, _ headers: [HTTPField]
  ) throws(WebSocketOptionError) {
    switch self {
    case .header(let name, let prefix):
      let field: HTTPField
      do throws(HTTPFieldError) { field = try HTTPField(name, prefix) } catch {
        throw WebSocketOptionError("authorization", "\(error)")
      }
      guard !field.isOfProtocol else {
        throw WebSocketOptionError(
          "authorization", "is in \(name), which the protocol itself sends; name another field")
      }
      guard !headers.contains(where: { $0.isNamed(name) }) else {
        throw WebSocketOptionError(
          "authorization", "is in \(name), which the headers hold, too; leave it out there")
      }
    case .query(let name):
      guard !name.isEmpty else {
        throw WebSocketOptionError(
          "authorization", "has an empty name; write .query(name: \"token\")")
      }
      guard !url.hasQueryItem(name) else {
        throw WebSocketOptionError(
          "authorization", "is in \(name), which the URL's query holds, too; leave it out there")
      }
    case .message: break
    }
  }
}

/// Credentials in their place of one handshake.
struct WebSocketProof: Sendable {
  private let credentials: Credentials
  private let place: WebSocketAuthorization

  /// - Throws: ``HTTPFieldError``, for a token that would break the head it stands in.
  init(_ credentials: Credentials, in place: WebSocketAuthorization) throws(HTTPFieldError) {
    self.credentials = credentials
    self.place = place
    if case .header(let name, let prefix) = place {
      _ = try HTTPField(name, prefix + credentials.token)
    }
  }

  /// The field of the request that holds them.
  var line: String? {
    guard case .header(let name, let prefix) = place else { return nil }
    return "\(name): \(prefix)\(credentials.token)"
  }

  /// What is asked for, with them.
  func resource(of url: WebSocketURL) -> String {
    // A redirection may have kept them.
    guard case .query(let name) = place, !url.hasQueryItem(name) else { return url.resource }
    return url.resource + (url.resource.contains("?") ? "&" : "?")
      + "\(HTTPText.percentEncoded(name))=\(HTTPText.percentEncoded(credentials.token))"
  }

  /// The message that holds them.
  var message: Message? {
    guard case .message(let make) = place else { return nil }
    return make(credentials)
  }
}

extension WebSocketURL {
  /// Whether the query holds a value of this name.
  func hasQueryItem(_ name: String) -> Bool {
    let encoded = HTTPText.percentEncoded(name)
    return resource.drop { $0 != "?" }.dropFirst().split(separator: "&").contains {
      let key = $0.prefix { $0 != "=" }
      return key == name || key == encoded
    }
  }
}

extension HTTPText {
  /// All but the unreserved marks as percent signs and their numbers (RFC 3986 section 2.1).
  static func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      case _:
        encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
