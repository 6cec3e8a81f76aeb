package import ConnectionFSM

/// A client's opening handshake (RFC 6455 section 4.1), with its redirections: a value without a
/// stream.
package struct ClientHandshake: Sendable {
  /// How far it has come.
  package enum Progress: Sendable {
    /// More is awaited.
    case goesOn
    /// Frames may flow. So many of the last bytes were the answer's; the rest is frames.
    case agreed(WebSocketAgreement, taken: Int)
    /// The server is elsewhere: ``start(key:into:)`` again once connected there.
    case redirected(to: Endpoint)
    /// There is no link.
    case failed(Cause, WebSocketHandshakeError)
  }

  private let options: WebSocketOptions
  private var url: WebSocketURL
  /// Without what must not go to the present host.
  private var headers: [HTTPField]
  private var visited: [WebSocketURL] = []
  private var expectedAccept = ""
  private var parser = HTTPHeadParser<StatusLine>()

  package init(_ options: WebSocketOptions) {
    self.options = options
    url = options.url
    headers = options.headers
  }

  /// The request.
  /// - Parameters:
  ///   - key: 16 random bytes, others each time.
  ///   - output: Where it goes, behind what is there.
  package mutating func start(key: [UInt8], into output: inout [UInt8]) {
    let key = Base64.encode(key)
    expectedAccept = ServerHandshake.acceptValue(for: key)
    parser = HTTPHeadParser()
    var lines = [
      "GET \(url.resource) HTTP/1.1", "Host: \(url.authority)", "Upgrade: websocket",
      "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
    ]
    if !options.subprotocols.isEmpty {
      lines.append("Sec-WebSocket-Protocol: \(options.subprotocols.joined(separator: ", "))")
    }
    if let compression = options.compression {
      lines.append("Sec-WebSocket-Extensions: \(compression.offer)")
    }
    lines += headers.map { "\($0.name): \($0.value)" }
    for line in lines { output += "\(line)\r\n".utf8 }
    output += "\r\n".utf8
  }

  /// Bytes arrived, cut anywhere. Not to be called again after an end.
  package mutating func receive(_ bytes: RawSpan) -> Progress {
    switch parser.receive(bytes) {
    case .goesOn: return .goesOn
    case .failed(let error): return failed(.protocolError, problem(of: error), nil)
    case .head(let head, let taken):
      let response = HTTPResponse(head)
      guard response.status == 101 else { return answered(response) }
      do throws(WebSocketHandshakeError) {
        return .agreed(try verify(response), taken: taken)
      } catch {
        return .failed(.protocolError, error)
      }
    }
  }

  /// The server has finished before the handshake was over.
  package func receiveEnd() -> (Cause, WebSocketHandshakeError) {
    parser.offset == 0
      ? (.closedByPeer(nil), error(.endedBeforeAnswer, nil))
      : (.truncated, error(.endedInside(offset: parser.offset), nil))
  }

  private func error(
    _ problem: WebSocketHandshakeError.Problem, _ response: HTTPResponse?
  ) -> WebSocketHandshakeError {
    WebSocketHandshakeError(url: url, problem: problem, response: response)
  }

  private func failed(
    _ cause: Cause, _ problem: WebSocketHandshakeError.Problem, _ response: HTTPResponse?
  ) -> Progress {
    .failed(cause, error(problem, response))
  }

  private func problem(of error: HTTPHeadError) -> WebSocketHandshakeError.Problem {
    switch error {
    case .garbled(let offset): .garbled(offset: offset)
    case .tooLong(let limit): .headTooLong(limit: limit)
    case .tooManyInterimAnswers(let limit): .tooManyInterimAnswers(limit: limit)
    }
  }
}

// MARK: 101

extension ClientHandshake {
  private func verify(
    _ response: HTTPResponse
  ) throws(WebSocketHandshakeError) -> WebSocketAgreement {
    for (name, wanted) in [("Upgrade", "websocket"), ("Connection", "upgrade")] {
      let values = response.values(of: name)
      guard !values.isEmpty else { throw error(.field(name, .missing), response) }
      guard HTTPText.list(values).contains(where: { $0.lowercased() == wanted }) else {
        throw error(.field(name, .value(values.joined(separator: ", "))), response)
      }
    }
    let accept = "Sec-WebSocket-Accept"
    guard let value = try only(accept, in: response) else {
      throw error(.field(accept, .missing), response)
    }
    guard value == expectedAccept else { throw error(.field(accept, .value(value)), response) }
    let subprotocol = try only("Sec-WebSocket-Protocol", in: response)
    if let subprotocol, !options.subprotocols.contains(subprotocol) {
      throw error(.subprotocolNotOffered(subprotocol), response)
    }
    return WebSocketAgreement(
      response: response, subprotocol: subprotocol, compression: try compression(in: response),
      url: url)
  }

  /// The value of a field that may be there once.
  private func only(
    _ name: String, in response: HTTPResponse
  ) throws(WebSocketHandshakeError) -> String? {
    let values = response.values(of: name)
    guard values.count < 2 else { throw error(.field(name, .repeated), response) }
    return values.first
  }

  private func compression(
    in response: HTTPResponse
  ) throws(WebSocketHandshakeError) -> DeflateAgreement? {
    let chosen = response.values(of: "Sec-WebSocket-Extensions")
    guard let offered = options.compression else {
      guard let first = chosen.first else { return nil }
      throw error(.extensionNotOffered(first), response)
    }
    do {
      return try offered.agreement(answering: chosen)
    } catch {
      throw self.error(.extensionAnswer("\(error)"), response)
    }
  }
}

// MARK: Everything else

extension ClientHandshake {
  private mutating func answered(_ response: HTTPResponse) -> Progress {
    let cause = Cause.http(status: response.status, retryAfter: response.retryAfter)
    guard options.redirectLimit > 0, [301, 302, 303, 307, 308].contains(response.status) else {
      return failed(cause, .status(response.status), response)
    }
    do throws(WebSocketHandshakeError) {
      let next = try target(of: response)
      if next.host != url.host || next.port != url.port {
        // For good: a way back does not make the servers between trustworthy.
        headers.removeAll(where: \.isSecret)
      }
      visited.append(url)
      url = next
      return .redirected(to: next.endpoint)
    } catch {
      return .failed(cause, error)
    }
  }

  private func target(of response: HTTPResponse) throws(WebSocketHandshakeError) -> WebSocketURL {
    guard let location = try only("Location", in: response) else {
      throw error(.field("Location", .missing), response)
    }
    let next: WebSocketURL
    do throws(WebSocketURLError) {
      next = try url.following(location)
    } catch {
      throw self.error(.location(error), response)
    }
    guard next.isSecure || !url.isSecure else { throw error(.redirectToInsecure(next), response) }
    guard next != url, !visited.contains(next) else {
      throw error(.redirectLoop(next), response)
    }
    guard visited.count < options.redirectLimit else {
      throw error(.tooManyRedirects(limit: options.redirectLimit), response)
    }
    return next
  }
}
