/// What a WebSocket server of tests and demonstrations offers.
package struct WebSocketServerOptions: Sendable {
  /// What to say to a request that is good.
  package enum Decision: Sendable {
    /// Open the link, with this subprotocol.
    case accept(subprotocol: String?)
    /// Write these bytes, as they are, and end the link.
    case answer([UInt8])
  }

  /// How messages are compressed if the client offers it; nil never compresses.
  package var compression: WebSocketCompression?
  package var limits: WebSocketLimits
  /// Fields of the answer, in place of its own of the same names. One with an empty value leaves
  /// the answer's own out: so a server lacks what it needs, or chooses what nobody offered.
  package var fields: [HTTPField]
  /// How it misbehaves.
  package var fault: WebSocketFault
  /// Decides about each request.
  package var decide: @Sendable (ServerHandshake.Request) -> Decision
  /// Hears, on the link's loop, how the client closed.
  package var notice: (@Sendable (WebSocketNotice) -> Void)?

  package init(
    compression: WebSocketCompression? = nil, limits: WebSocketLimits = .standard,
    fields: [HTTPField] = [], fault: WebSocketFault = .none,
    decide: @escaping @Sendable (ServerHandshake.Request) -> Decision = { _ in
      .accept(subprotocol: nil)
    }
  ) {
    self.compression = compression
    self.limits = limits
    self.fields = fields
    self.fault = fault
    self.decide = decide
  }
}

extension WebSocketServerOptions {
  /// An answer with any status and no body.
  package static func answer(_ status: UInt16, _ fields: [HTTPField] = []) -> [UInt8] {
    let lines = ["HTTP/1.1 \(status) ", "Connection: close", "Content-Length: 0"]
    return head(lines, fields)
  }

  /// The head of an answer with the fields in place of its own of the same names.
  static func head(_ lines: [String], _ fields: [HTTPField]) -> [UInt8] {
    let names = fields.map { "\($0.name.lowercased()):" }
    var lines = lines.filter { line in !names.contains { line.lowercased().hasPrefix($0) } }
    lines += fields.filter { !$0.value.isEmpty }.map { "\($0.name): \($0.value)" }
    return lines.flatMap { Array("\($0)\r\n".utf8) } + Array("\r\n".utf8)
  }
}
