package import ConnectionFSM

/// Asks an HTTP proxy for a tunnel with CONNECT (RFC 9110 section 9.3.6).
///
/// The head of the answer is read to its end and not a byte further: what stands behind the blank
/// line is the tunnel's, whatever Content-Length or Transfer-Encoding say (there). Interim answers
/// are skipped; 101 is none, since nothing was asked to be upgraded.
package struct ConnectHandshake: ProxyHandshake {
  /// The most bytes of all headers up to the final one's end.
  package static var headerLimit: Int { HTTPHeadParser<StatusLine>.limit }
  /// The most interim answers (1xx) before the final one.
  package static var interimLimit: Int { HTTPHeadParser<StatusLine>.interimLimit }

  private let authority: String
  private let credentials: ProxyCredentials?
  private var parser = HTTPHeadParser<StatusLine>()

  package var offset: Int { parser.offset }

  /// Nil if a proxy cannot be asked for the target.
  package init?(target: Endpoint, credentials: ProxyCredentials?) {
    guard target.isFitForProxy else { return nil }
    authority =
      target.host.contains(":")
      ? "[\(target.host)]:\(target.port)" : "\(target.host):\(target.port)"
    self.credentials = credentials
  }

  package mutating func start(into output: inout [UInt8]) {
    output += "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n".utf8
    if let credentials {
      // RFC 7617 section 2: base64 of user, colon and password.
      let pair = Base64.encode("\(credentials.user):\(credentials.password)".utf8)
      output += "Proxy-Authorization: Basic \(pair)\r\n".utf8
    }
    output += "\r\n".utf8
  }

  package mutating func receive(_ bytes: RawSpan, into output: inout [UInt8]) -> ProxyProgress {
    switch parser.receive(bytes) {
    case .goesOn: return .goesOn
    case .failed(let error): return .failed(.protocolError, ProxyError.Problem(error))
    case .head(let head, let taken):
      let response = HTTPResponse(head)
      let status = response.status
      guard !(200...299).contains(status) else { return .isDone(taken: taken) }
      let cause = Cause.http(status: status, retryAfter: response.retryAfter)
      return .failed(cause, .status(status))
    }
  }
}

extension ProxyError.Problem {
  fileprivate init(_ error: HTTPHeadError) {
    switch error {
    case .garbled(let offset): self = .garbled(offset: offset)
    case .tooLong(let limit): self = .headerTooLong(limit: limit)
    case .tooManyInterimAnswers(let limit): self = .tooManyInterimAnswers(limit: limit)
    }
  }
}
