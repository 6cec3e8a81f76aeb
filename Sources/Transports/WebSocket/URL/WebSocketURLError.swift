/// A text that names no WebSocket, with the mend.
public struct WebSocketURLError: Error, Equatable, Sendable {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// It begins with no scheme.
    case noScheme
    /// Its scheme is this one.
    case otherScheme(String)
    /// It names no host.
    case noHost
    /// Its host holds what a name cannot, or is no IPv6 address between brackets.
    case host
    /// Its port is no number from 1 to 65535.
    case port
    /// It has user or password before its host.
    case userInfo
    /// It has a fragment, which means nothing here (RFC 6455 section 3).
    case fragment
    /// It has a space, a control character, or what is not ASCII.
    case character
  }

  /// The text as given, but for a query and for what stands before an @, which may be secret.
  public let text: String
  /// What is wrong.
  public let problem: Problem

  init(_ text: String, _ problem: Problem) {
    // A password may hold a question mark, so that what stands before the last @ goes first.
    let place = text.lastIndex(of: "@")
    let rest = text[(place ?? text.startIndex)...]
    let path = rest.prefix { $0 != "?" }
    self.text = (place == nil ? "" : "…") + path + (path.endIndex < rest.endIndex ? "?…" : "")
    self.problem = problem
  }
}

extension WebSocketURLError: CustomStringConvertible {
  public var description: String { "WebSocket URL “\(text)” \(words)" }

  private var words: String {
    switch problem {
    case .noScheme: "begins with no scheme; write ws://HOST/PATH or wss://HOST/PATH"
    case .otherScheme("http"): "is of the scheme http; write ws://"
    case .otherScheme("https"): "is of the scheme https; write wss://"
    case .otherScheme(let scheme): "is of the scheme \(scheme); write ws:// or wss://"
    case .noHost: "names no host; an IPv6 address stands in brackets"
    case .host:
      "has a host that is no name and no address; an IPv6 address stands in brackets, and a name "
        + "is not percent-encoded"
    case .port: "names no port from 1 to 65535; an IPv6 address stands in brackets"
    case .userInfo:
      "has user or password before its host; give them in a header: Authorization: Basic …"
    case .fragment: "has a fragment, which means nothing here; leave it out, or write %23 for a #"
    case .character:
      "has a space, a control character, or what is not ASCII; write those of a path "
        + "percent-encoded, and a host as xn--…"
    }
  }
}
