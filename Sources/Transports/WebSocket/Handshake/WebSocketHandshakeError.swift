/// Why a handshake failed, with the place and the mend: the `diagnosis` of a link.
///
/// Its description shows neither the URL's query nor any header of the request.
public struct WebSocketHandshakeError: Error, Equatable, Sendable {
  /// What went wrong.
  public enum Problem: Equatable, Sendable {
    /// It was answered with this status instead of 101.
    case status(UInt16)
    /// The answer is no HTTP; the offset of the first byte that tells, from its beginning.
    case garbled(offset: Int)
    /// The head of the answer has more bytes than this.
    case headTooLong(limit: Int)
    /// There were more interim answers (1xx) than this.
    case tooManyInterimAnswers(limit: Int)
    /// The server finished before it said anything.
    case endedBeforeAnswer
    /// The server finished inside of its answer, after so many bytes.
    case endedInside(offset: Int)
    /// This field of the answer is at fault.
    case field(String, FieldFault)
    /// The server chose a subprotocol that was not offered.
    case subprotocolNotOffered(String)
    /// The server chose extensions, and none were offered.
    case extensionNotOffered(String)
    /// The server's answer to the offer of compression is not legal, for this reason.
    case extensionAnswer(String)
    /// The Location of a redirection leads nowhere.
    case location(WebSocketURLError)
    /// A redirection leads from `wss` to `ws`.
    case redirectToInsecure(WebSocketURL)
    /// A redirection leads to where an earlier one came from.
    case redirectLoop(WebSocketURL)
    /// There were more redirections than this.
    case tooManyRedirects(limit: Int)
  }

  /// What can be wrong with a field.
  public enum FieldFault: Equatable, Sendable {
    /// It is not there.
    case missing
    /// It is there more than once.
    case repeated
    /// It has this value.
    case value(String)
  }

  /// What was asked, after redirections.
  public let url: WebSocketURL
  /// What went wrong.
  public let problem: Problem
  /// The answer; nil if there was none that could be read.
  public let response: HTTPResponse?
}

extension WebSocketHandshakeError: CustomStringConvertible {
  public var description: String { "\(url.place): \(words)" }

  private var words: String {
    switch problem {
    case .status(let status): words(of: status)
    case .garbled(0) where !url.isSecure:
      "the answer is no HTTP: is it a WebSocket server, and does it want TLS (wss://)?"
    case .garbled(let offset):
      "the answer is no HTTP at byte \(offset): is it a WebSocket server?"
    case .headTooLong(let limit): "the head of the answer has more than \(limit) bytes"
    case .tooManyInterimAnswers(let limit): "there were more than \(limit) interim answers"
    case .endedBeforeAnswer: "the server went away without an answer"
    case .endedInside(let offset): "the server went away \(offset) bytes into its answer"
    case .field(let name, let fault): words(of: fault, in: name)
    case .subprotocolNotOffered(let name):
      "the server chose the subprotocol “\(Self.cut(name))”, which was not offered: add it to "
        + "subprotocols if it is spoken here"
    case .extensionNotOffered(let value):
      "the server chose the extension “\(Self.cut(value))”, and none was offered"
    case .extensionAnswer(let reason): "the answer about compression is not legal: \(reason)"
    case .location(let error): "the redirection leads nowhere: \(error)"
    case .redirectToInsecure(let target):
      "the redirection leads to \(target.place), which is not encrypted, and is not followed"
    case .redirectLoop(let target): "the redirection leads back to \(target.place)"
    case .tooManyRedirects(let limit): "more than \(limit) redirections: raise redirectLimit?"
    }
  }

  private func words(of fault: FieldFault, in name: String) -> String {
    switch fault {
    case .missing: "the answer has no \(name): is it a WebSocket server, or a cache before it?"
    case .repeated: "the answer has \(name) more than once"
    case .value(let value): "the answer has the wrong \(name), “\(Self.cut(value))”"
    }
  }

  private func words(of status: UInt16) -> String {
    let start = "the server answered HTTP \(status)"
    switch status {
    case 200...299:
      return start + ", as to a web page: is the path right, or does a portal want a login?"
    case 301, 302, 303, 307, 308:
      guard let location = response?.values(of: "Location").first else { return start }
      let target = (try? url.following(location))?.place ?? "elsewhere"
      return start + " and points to \(target): connect there, or raise redirectLimit"
    case 401, 407:
      let name = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
      let challenges = (response?.values(of: name) ?? []).joined(separator: ", ")
      return start + (challenges.isEmpty ? "" : " (\(Self.cut(challenges)))")
        + ": it wants other credentials in the headers"
    case 403: return start + ": check Origin and credentials in the headers"
    case 404: return start + ": check the path"
    case 426:
      let versions = HTTPText.list(response?.values(of: "Sec-WebSocket-Version") ?? [])
      guard !versions.isEmpty else { return start + ": it wants another protocol" }
      let list = Self.cut(versions.joined(separator: ", "))
      return start
        + (versions.contains("13")
          ? ": it refuses the protocol, though it speaks version 13 (\(list))"
          : ": it speaks version \(list) of the protocol, and not 13")
    case _:
      guard let seconds = response?.retryAfter else { return start }
      return start + " and wants to be asked again in \(seconds) s"
    }
  }

  /// What a server says is shown, but not without end.
  private static func cut(_ text: String) -> String {
    text.count > 100 ? "\(text.prefix(100))…" : text
  }
}
