/// A server's side of the opening handshake (RFC 6455 section 4.2): a value without a stream.
package struct ServerHandshake: Sendable {
  /// What a client wants, checked.
  package struct Request: Equatable, Sendable {
    /// Path and query.
    package let resource: String
    /// Host and perhaps port, as the client spells them.
    package let host: String
    /// All fields in order.
    package let fields: [HTTPField]
    /// 24 characters of base64.
    package let key: String
    /// What the client offers, the preferred one first.
    package let subprotocols: [String]
    /// The values of Sec-WebSocket-Extensions.
    package let extensions: [String]
  }

  /// Why a request is refused.
  package struct Refusal: Error, Equatable, Sendable {
    /// What to answer: 400, 405, 426 or 431.
    package let status: UInt16
    /// What is wrong, and the mend.
    package let words: String

    package init(status: UInt16, words: String) {
      self.status = status
      self.words = words
    }
  }

  /// How far the handshake has come.
  package enum Progress: Equatable, Sendable {
    /// More is awaited.
    case goesOn
    /// The request is good. So many of the last bytes were its own; the rest is frames.
    case asked(Request, taken: Int)
    /// It is not, and nothing more is read.
    case refused(Refusal)
  }

  private var parser = HTTPHeadParser<RequestLine>()

  package init() {}

  /// Bytes arrived, cut anywhere. Not to be called again after an end.
  package mutating func receive(_ bytes: RawSpan) -> Progress {
    switch parser.receive(bytes) {
    case .goesOn: return .goesOn
    case .failed(.garbled(let offset)):
      return .refused(Refusal(status: 400, words: "no HTTP at byte \(offset)"))
    case .failed(.tooLong(let limit)):
      return .refused(Refusal(status: 431, words: "the head has more than \(limit) bytes"))
    case .failed(.tooManyInterimAnswers):
      return .refused(Refusal(status: 400, words: "a request has no interim answers"))
    case .head(let head, let taken):
      do throws(Refusal) {
        return .asked(try Request(head), taken: taken)
      } catch {
        return .refused(error)
      }
    }
  }
}

// MARK: Answers

extension ServerHandshake {
  /// The answer that opens the link.
  /// - Parameters:
  ///   - request: What was asked.
  ///   - subprotocol: One of those that the request offers, or nil.
  ///   - extensions: The value of Sec-WebSocket-Extensions, or nil.
  package static func acceptance(
    of request: Request, subprotocol: String?, extensions: String?
  ) -> [UInt8] {
    var lines = [
      "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Accept: \(acceptValue(for: request.key))",
    ]
    if let subprotocol { lines.append("Sec-WebSocket-Protocol: \(subprotocol)") }
    if let extensions { lines.append("Sec-WebSocket-Extensions: \(extensions)") }
    return head(lines)
  }

  /// The answer that refuses it, after which the link is closed.
  package static func refusal(_ refusal: Refusal) -> [UInt8] {
    let body = Array("\(refusal.words)\n".utf8)
    var lines = ["HTTP/1.1 \(refusal.status) \(reason(of: refusal.status))"]
    switch refusal.status {
    case 405: lines.append("Allow: GET")
    // RFC 9110 section 15.5.22 asks for the first, RFC 6455 section 4.4 for the second.
    case 426: lines += ["Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    case _: break
    }
    lines += [
      "Connection: \(refusal.status == 426 ? "Upgrade, close" : "close")",
      "Content-Type: text/plain; charset=utf-8", "Content-Length: \(body.count)",
    ]
    return head(lines) + body
  }

  private static func reason(of status: UInt16) -> String {
    switch status {
    case 400: "Bad Request"
    case 405: "Method Not Allowed"
    case 426: "Upgrade Required"
    case 431: "Request Header Fields Too Large"
    case _: ""
    }
  }

  private static func head(_ lines: [String]) -> [UInt8] {
    lines.flatMap { Array("\($0)\r\n".utf8) } + Array("\r\n".utf8)
  }
}

// MARK: Checks

extension ServerHandshake.Request {
  private typealias Refusal = ServerHandshake.Refusal

  fileprivate init(_ head: HTTPHead<RequestLine>) throws(ServerHandshake.Refusal) {
    let start = head.start
    guard start.method == "GET" else {
      throw Refusal(status: 405, words: "use the method GET")
    }
    guard start.minorVersion > 0 else {
      throw Refusal(status: 400, words: "the version is HTTP/1.0; use HTTP/1.1")
    }
    let host = try Self.only("Host", in: head)
    guard let host, !host.isEmpty else { throw Refusal(status: 400, words: "Host is missing") }
    guard head.values(of: "Transfer-Encoding").isEmpty,
      head.values(of: "Content-Length").allSatisfy({ $0 == "0" })
    else { throw Refusal(status: 400, words: "an upgrade has no body") }
    (resource, self.host) = try Self.target(start.target, host: host)
    guard Self.list("Upgrade", in: head).contains("websocket") else {
      throw Refusal(
        status: 426, words: "only WebSocket is spoken here; ask with Upgrade: websocket")
    }
    guard Self.list("Connection", in: head).contains("upgrade") else {
      throw Refusal(status: 400, words: "Connection does not name upgrade")
    }
    guard try Self.only("Sec-WebSocket-Version", in: head) == "13" else {
      throw Refusal(status: 426, words: "only version 13 of the protocol is spoken here")
    }
    guard let key = try Self.only("Sec-WebSocket-Key", in: head), Base64.isOf16Bytes(key) else {
      throw Refusal(status: 400, words: "Sec-WebSocket-Key is not the base64 of 16 bytes")
    }
    self.key = key
    fields = head.fields
    subprotocols = HTTPText.list(head.values(of: "Sec-WebSocket-Protocol"))
    extensions = head.values(of: "Sec-WebSocket-Extensions")
    guard subprotocols.allSatisfy({ HTTPText.isToken($0.utf8) }),
      Set(subprotocols).count == subprotocols.count
    else {
      throw Refusal(status: 400, words: "Sec-WebSocket-Protocol is no list of tokens, each once")
    }
  }

  /// The absolute form counts for more than Host (RFC 9112 section 3.2.2).
  private static func target(
    _ target: String, host: String
  ) throws(ServerHandshake.Refusal) -> (resource: String, host: String) {
    if target.first == "/", !target.contains("#") { return (target, host) }
    guard let url = try? WebSocketURL(absolute: target) else {
      throw Refusal(status: 400, words: "what is asked for is no path")
    }
    return (url.resource, url.authority)
  }

  private static func list(_ name: String, in head: HTTPHead<RequestLine>) -> [String] {
    HTTPText.list(head.values(of: name)).map { $0.lowercased() }
  }

  private static func only(
    _ name: String, in head: HTTPHead<RequestLine>
  ) throws(ServerHandshake.Refusal) -> String? {
    let values = head.values(of: name)
    guard values.count < 2 else { throw Refusal(status: 400, words: "\(name) is there twice") }
    return values.first
  }
}
