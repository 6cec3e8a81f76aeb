public import ConnectionFSM

/// Where a WebSocket is: `wss://host:port/path?query` (RFC 6455 section 3).
public struct WebSocketURL: Hashable, Sendable {
  /// Whether it is `wss`, over TLS.
  public let isSecure: Bool
  /// A host name in lower case, or a numeric address, IPv6 without its brackets.
  public let host: String
  /// The port, 1 to 65535: 80 of `ws` and 443 of `wss` if none is given.
  public let port: UInt16
  /// What is asked for there: path and query as they are spelled, `/` if there are none.
  public let resource: String

  /// Reads a URL.
  /// - Parameter text: `ws://` or `wss://`, a host, and perhaps a port, a path and a query. An IPv6
  ///   address stands in brackets. What is not ASCII has to be encoded.
  /// - Throws: ``WebSocketURLError``, which shows neither a query nor user and password.
  public init(_ text: String) throws(WebSocketURLError) {
    try self.init(text, schemes: ["ws": false, "wss": true])
  }

  /// Reads what HTTP points to, where `http` means `ws` and `https` means `wss`.
  init(absolute text: String) throws(WebSocketURLError) {
    try self.init(text, schemes: ["ws": false, "wss": true, "http": false, "https": true])
  }

  private init(_ text: String, schemes: [String: Bool]) throws(WebSocketURLError) {
    func failed(_ problem: WebSocketURLError.Problem) -> WebSocketURLError {
      WebSocketURLError(text, problem)
    }
    guard text.utf8.allSatisfy(Self.isVisible) else { throw failed(.character) }
    guard let separator = text.firstRange(of: "://"), separator.lowerBound > text.startIndex else {
      throw failed(.noScheme)
    }
    let scheme = text[..<separator.lowerBound].lowercased()
    guard HTTPText.isToken(scheme.utf8) else { throw failed(.noScheme) }
    guard let isSecure = schemes[scheme] else { throw failed(.otherScheme(scheme)) }
    let rest = text[separator.upperBound...]
    guard !rest.contains("#") else { throw failed(.fragment) }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else { throw failed(.userInfo) }
    self.isSecure = isSecure
    let hostEnd: String.Index
    if authority.first == "[" {
      guard let bracket = authority.firstIndex(of: "]") else { throw failed(.host) }
      guard let address = Self.address(authority[..<bracket].dropFirst()) else {
        throw failed(.host)
      }
      host = address
      hostEnd = authority.index(after: bracket)
    } else {
      hostEnd = authority.firstIndex(of: ":") ?? authority.endIndex
      guard hostEnd > authority.startIndex else { throw failed(.noHost) }
      host = authority[..<hostEnd].lowercased()
      guard host.utf8.allSatisfy(Self.isOfName) else { throw failed(.host) }
    }
    guard let port = Self.port(authority[hostEnd...], isSecure: isSecure) else {
      throw failed(.port)
    }
    self.port = port
    let resource = rest[authority.endIndex...]
    self.resource = resource.first == "/" ? String(resource) : "/\(resource)"
  }

  init(isSecure: Bool, host: String, port: UInt16, resource: String) {
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.resource = resource
  }

  /// What a transport dials: of the scheme `tls`, or `tcp`.
  public var endpoint: Endpoint {
    Endpoint(scheme: isSecure ? "tls" : "tcp", host: host, port: port)
  }
}

// MARK: The parts

extension WebSocketURL {
  static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

  private static let hostMarks = Array("-._~!$&'()*+,;=".utf8)

  /// Whether the byte may stand in a host's name (RFC 3986 section 3.2.2), which is not
  /// percent-encoded here: no resolver knows what that means.
  private static func isOfName(_ byte: UInt8) -> Bool {
    HTTPText.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || hostMarks.contains(byte)
  }

  /// An address of IPv6, perhaps with a zone, whose percent sign is encoded (RFC 6874).
  private static func address(_ text: Substring) -> String? {
    let percent = text.firstIndex(of: "%") ?? text.endIndex
    let address = text[..<percent].lowercased()
    guard NumericAddress(address)?.isVersion6 == true else { return nil }
    var zone = text[percent...].dropFirst()
    if zone.hasPrefix("25") { zone = zone.dropFirst(2) }
    guard percent < text.endIndex else { return address }
    guard !zone.isEmpty, zone.utf8.allSatisfy(HTTPText.isTokenByte) else { return nil }
    return "\(address)%\(zone)"
  }

  /// What stands behind the host: nothing, or a colon and a number, which may be missing.
  private static func port(_ text: Substring, isSecure: Bool) -> UInt16? {
    guard !text.isEmpty, text != ":" else { return usualPort(isSecure) }
    // UInt16 would read a plus sign.
    guard text.first == ":", text.dropFirst().utf8.allSatisfy(HTTPText.isDigit),
      let port = UInt16(text.dropFirst()), port > 0
    else { return nil }
    return port
  }

  private static func usualPort(_ isSecure: Bool) -> UInt16 { isSecure ? 443 : 80 }

  /// What the field Host says: the port if it is not the usual one, and no zone, which means
  /// something on this machine alone (RFC 6874 section 4).
  var authority: String { authority(of: String(host.prefix { $0 != "%" })) }

  private func authority(of host: String) -> String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == Self.usualPort(isSecure) ? name : "\(name):\(port)"
  }

  /// Without the query, which may hold credentials.
  var place: String {
    let host = host.replacing("%", with: "%25", maxReplacements: 1)
    return "\(isSecure ? "wss" : "ws")://\(authority(of: host))\(resource.prefix { $0 != "?" })"
  }
}

extension WebSocketURL: CustomStringConvertible {
  /// The URL, with its query, and its port if that is not the usual one.
  public var description: String { "\(place)\(resource.drop { $0 != "?" })" }
}

// MARK: References

extension WebSocketURL {
  /// Where a Location in an answer from this URL leads to (RFC 3986 section 5.2). `http` there
  /// means `ws`, `https` means `wss`, and a fragment means nothing.
  package func following(_ location: String) throws(WebSocketURLError) -> WebSocketURL {
    let reference = location.prefix { $0 != "#" }
    let beginning = reference.prefix { $0 != "/" && $0 != "?" }
    if beginning.contains(":") {
      return try WebSocketURL(absolute: String(reference)).withoutDots
    }
    if reference.hasPrefix("//") {
      return try WebSocketURL("\(isSecure ? "wss" : "ws"):\(reference)").withoutDots
    }
    guard reference.utf8.allSatisfy(Self.isVisible) else {
      throw WebSocketURLError(location, .character)
    }
    if reference.isEmpty { return self }
    let path = resource.prefix { $0 != "?" }
    switch reference.first {
    case "?": return at("\(path)\(reference)")
    case "/": return at(String(reference)).withoutDots
    case _:
      let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
      return at("\(folder)\(reference)").withoutDots
    }
  }

  private func at(_ resource: String) -> WebSocketURL {
    WebSocketURL(isSecure: isSecure, host: host, port: port, resource: resource)
  }

  /// Without the segments `.` and `..` in its path (RFC 3986 section 5.2.4).
  private var withoutDots: WebSocketURL {
    let path = resource.prefix { $0 != "?" }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    var kept: [Substring] = []
    for segment in segments {
      if segment == ".." { kept = kept.dropLast() } else if segment != "." { kept.append(segment) }
    }
    // One that ends in dots means a folder.
    if let last = segments.last, [".", ".."].contains(last) { kept.append("") }
    return at("/" + kept.joined(separator: "/") + resource[path.endIndex...])
  }
}
