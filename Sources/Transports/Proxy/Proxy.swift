public import ConnectionFSM

/// A proxy to dial through, and how it is spoken to.
///
/// No description of it, and no mirror, shows its user or password.
public struct Proxy: Hashable, Sendable {
  /// How a proxy is asked for a tunnel.
  public enum Kind: Hashable, Sendable {
    /// HTTP CONNECT (RFC 9110 section 9.3.6).
    case http
    /// SOCKS version 5 (RFC 1928); names are passed to the proxy, which looks them up.
    case socks5
  }

  /// How it is asked.
  public let kind: Kind
  /// Where it is: `tcp`, or `tls` for a proxy that is spoken to over TLS.
  public let endpoint: Endpoint
  let credentials: ProxyCredentials?

  /// Makes a proxy.
  /// - Throws: ``ProxySettingError`` if the kind of proxy cannot be given these credentials.
  public init(
    _ kind: Kind, at endpoint: Endpoint, credentials: ProxyCredentials? = nil
  ) throws(ProxySettingError) {
    if kind == .socks5, let credentials { try credentials.checkForSOCKS() }
    self.kind = kind
    self.endpoint = endpoint
    self.credentials = credentials
  }

  /// Reads `scheme://user:password@host:port`, where all but the host may be missing, as the
  /// variables of the environment have it.
  ///
  /// The scheme is `http` (which is also what a missing one means), `https` for a proxy over TLS,
  /// whose ``endpoint`` is then `tls` and needs a dialer for that, `socks5` or `socks5h`, which are
  /// the same here. The port is 80, 443 or 1080 if none is given. User and password are
  /// percent-decoded. A path behind it is ignored if it is only a slash.
  /// - Throws: ``ProxySettingError``, which never shows the text: it may hold a password.
  public init(_ text: String) throws(ProxySettingError) {
    var rest = text[...]
    var scheme = "http"
    if let separator = rest.firstRange(of: "://") {
      scheme = rest[..<separator.lowerBound].lowercased()
      rest = rest[separator.upperBound...]
    }
    let usual: (kind: Kind, transport: String, port: UInt16)
    switch scheme {
    case "http": usual = (.http, "tcp", 80)
    case "https": usual = (.http, "tls", 443)
    case "socks5", "socks5h": usual = (.socks5, "tcp", 1080)
    default:
      throw ProxySettingError("has a scheme that is none of http, https, socks5 and socks5h")
    }
    if rest.hasSuffix("/") { rest.removeLast() }
    var credentials: ProxyCredentials?
    if let at = rest.lastIndex(of: "@") {
      credentials = try ProxyCredentials(userInfo: rest[..<at])
      rest = rest[rest.index(after: at)...]
    }
    let endpoint: Endpoint
    do throws(EndpointError) {
      endpoint = try Endpoint("\(usual.transport)://\(Self.withPort(rest, usual.port))")
    } catch {
      throw ProxySettingError(error.problem)
    }
    try self.init(usual.kind, at: endpoint, credentials: credentials)
  }

  /// The last colon begins the port, unless it stands in brackets.
  private static func withPort(_ text: Substring, _ port: UInt16) -> String {
    let end = text.lastIndex(of: "]") ?? text.startIndex
    return text[end...].contains(":") ? String(text) : "\(text):\(port)"
  }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String {
    let word = kind == .http ? "HTTP" : "SOCKS5"
    return "\(word) proxy \(endpoint)" + (credentials == nil ? "" : " with credentials")
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["endpoint": endpoint]) }
}

/// The user and password that a proxy wants. Neither is ever shown.
public struct ProxyCredentials: Hashable, Sendable {
  let user: String
  let password: String

  /// Makes credentials.
  /// - Parameters:
  ///   - user: Without a colon, which ends it in the header, and without control characters
  ///     (RFC 7617 section 2). For SOCKS from 1 to 255 bytes of UTF-8.
  ///   - password: Without control characters. For SOCKS from 1 to 255 bytes of UTF-8 (RFC 1929).
  /// - Throws: ``ProxySettingError``, which shows neither.
  public init(user: String, password: String) throws(ProxySettingError) {
    guard !user.utf8.contains(UInt8(ascii: ":")) else {
      throw ProxySettingError("has a colon in its user, which ends the user on the wire")
    }
    guard !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw ProxySettingError("has a control character in its user or password")
    }
    self.user = user
    self.password = password
  }

  /// Reads what stands before the @ of a URL.
  init(userInfo text: Substring) throws(ProxySettingError) {
    let colon = text.firstIndex(of: ":") ?? text.endIndex
    guard let user = Self.decoded(text[..<colon]),
      let password = Self.decoded(text[colon...].dropFirst())
    else {
      throw ProxySettingError(
        "has a % in its user or password that is not followed by two hex digits, or no UTF-8: "
          + "write %25 for a percent sign")
    }
    try self.init(user: user, password: password)
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      // UInt8(_:radix:) would read a sign.
      guard digits.count == 2, Substring(digits).allSatisfy(\.isHexDigit),
        let value = UInt8(Substring(digits), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  func checkForSOCKS() throws(ProxySettingError) {
    for (name, value) in [("user", user), ("password", password)] {
      guard (1...255).contains(value.utf8.count) else {
        throw ProxySettingError(
          "has a \(name) of \(value.utf8.count) bytes, and SOCKS takes from 1 to 255 (RFC 1929)")
      }
    }
  }
}

extension ProxyCredentials: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  public var description: String { "credentials" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A setting that names no proxy, with the mend. Shows neither the text nor what was secret in it.
public struct ProxySettingError: Error, Equatable, CustomStringConvertible, Sendable {
  /// The variable of the environment in which it stood, if it stood in one.
  public var variable: String?
  /// What is wrong with it.
  public let problem: String

  init(_ problem: String, variable: String? = nil) {
    self.problem = problem
    self.variable = variable
  }

  public var description: String { "\(variable ?? "the proxy's address") \(problem)" }
}
