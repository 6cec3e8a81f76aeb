public import ConnectionFSM

// Servers that fail in a way of their own, as scripts.

extension Service {
  /// The system completes connections, and no program ever reads.
  public static let zombie = Service(accepts: false)

  /// A server that plays TLS (``PlayedTLS``) and whose certificate, version or name does not suit
  /// the client.
  public static func failingTLS(_ failure: TLSFailure) -> Service {
    Service(script: [.receive(PlayedTLS.hello.count), .send(PlayedTLS.flight(failure)), .close])
  }

  /// A server that breaks off a played TLS handshake.
  /// - Parameters:
  ///   - count: After so many bytes of its flight, 3,000 in all; none is after the client's.
  ///   - withReset: Whether it does so with a reset rather than a FIN.
  public static func cuttingTLS(after count: Int, withReset: Bool = false) -> Service {
    Service(script: [
      .receive(PlayedTLS.hello.count), .send(Array(PlayedTLS.flight().prefix(max(0, count)))),
      withReset ? .reset : .close,
    ])
  }

  /// A server that answers what it reads first with an HTTP status and then ends in order: a
  /// refused upgrade.
  /// - Parameters:
  ///   - status: As in 401, 403, 429 or 503.
  ///   - reason: The word behind it.
  ///   - retryAfter: The seconds of a `Retry-After`; nil is none.
  public static func refusingUpgrade(
    status: UInt16, reason: String, retryAfter: UInt16? = nil
  ) -> Service {
    let hint = retryAfter.map { "Retry-After: \($0)\r\n" } ?? ""
    return answering(
      "HTTP/1.1 \(status) \(reason)\r\n\(hint)Content-Length: 0\r\nConnection: close\r\n\r\n")
  }

  /// A captive portal on a port without TLS: it sends every request to its login page.
  public static let portal = answering(
    "HTTP/1.1 302 Found\r\nLocation: http://portal.invalid/login\r\nContent-Length: 0\r\n\r\n")

  /// A captive portal on a port with TLS: it has a certificate, of another name.
  public static let portalTLS = failingTLS(.hostMismatch)

  /// A server that reads a byte, gives this answer, and ends in order.
  static func answering(_ text: String) -> Service {
    Service(script: [.receive(1), .send(Array(text.utf8)), .finish])
  }
}
