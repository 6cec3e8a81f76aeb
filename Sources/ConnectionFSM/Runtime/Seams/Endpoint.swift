/// Where a transport dials: `tcp://host:port`, or `unix:///path` on the same machine.
public struct Endpoint: Hashable, Sendable {
  /// The transport's own word, in lower case: `tcp`.
  public let scheme: String
  /// A host name or a numeric address, IPv6 without its brackets; of `unix` the path.
  public let host: String
  /// The port, 1 to 65535; of `unix` 0.
  public let port: UInt16

  /// Makes an endpoint from its parts.
  public init(scheme: String = "tcp", host: String, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// The socket of that path in the file system.
  public init(unixSocket path: String) { self.init(scheme: "unix", host: path, port: 0) }

  /// Reads `scheme://host:port`, or `unix://` and an absolute path; an IPv6 address stands in
  /// brackets (RFC 3986 section 3.2.2).
  /// - Throws: ``EndpointError``, which names what is missing.
  public init(_ text: String) throws(EndpointError) {
    guard let separator = text.firstRange(of: "://"), separator.lowerBound > text.startIndex else {
      throw EndpointError(text, "begins with no scheme; write tcp://HOST:PORT")
    }
    scheme = text[..<separator.lowerBound].lowercased()
    let rest = text[separator.upperBound...]
    if scheme == "unix" {
      guard rest.first == "/" else {
        throw EndpointError(text, "names no absolute path; write unix:///run/app.socket")
      }
      guard !rest.utf8.contains(0) else { throw EndpointError(text, "has NUL in its path") }
      host = String(rest)
      port = 0
      return
    }
    let hostPart: Substring
    let afterHost: Substring
    if rest.first == "[" {
      guard let bracket = rest.firstIndex(of: "]") else {
        throw EndpointError(text, "opens a bracket and never closes it; write [::1]:PORT")
      }
      hostPart = rest[rest.index(after: rest.startIndex)..<bracket]
      afterHost = rest[rest.index(after: bracket)...]
    } else {
      let colon = rest.firstIndex(of: ":") ?? rest.endIndex
      hostPart = rest[..<colon]
      afterHost = rest[colon...]
      guard !afterHost.dropFirst().contains(":") else {
        throw EndpointError(text, "has more than one colon; put an IPv6 address in brackets")
      }
    }
    guard !hostPart.isEmpty else { throw EndpointError(text, "names no host") }
    guard !hostPart.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw EndpointError(text, "has a space or a control character in its host")
    }
    guard !hostPart.contains(where: { "/?#@[]".contains($0) }) else {
      throw EndpointError(text, "has more than a host before its port; leave out user and path")
    }
    // UInt16 would read a plus sign.
    guard afterHost.first == ":", !afterHost.hasPrefix(":+"),
      let port = UInt16(afterHost.dropFirst()), port > 0
    else {
      throw EndpointError(text, "names no port from 1 to 65535")
    }
    host = String(hostPart)
    self.port = port
  }
}

extension Endpoint: CustomStringConvertible {
  public var description: String {
    if scheme == "unix" { return "unix://\(host)" }
    return host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
  }
}

/// A text that names no endpoint, with the mend.
public struct EndpointError: Error, CustomStringConvertible, Sendable {
  /// The text as given, but for what stands before an @, which may be a password.
  public let text: String
  /// What is wrong with it.
  public let problem: String

  init(_ text: String, _ problem: String) {
    self.text = text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? text
    self.problem = problem
  }

  public var description: String { "endpoint “\(text)” \(problem)" }
}
