import ConnectionFSM
import Testing
import Transports

/// A client's handshake driven by hand, with the key of RFC 6455 section 1.3.
struct HandshakeTrial {
  static let key = Array("the sample nonce".utf8)
  static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

  /// How the last bytes were taken; `taken` counts all bytes of the answer.
  enum End: Equatable {
    case goesOn
    case agreed(subprotocol: String?, isCompressed: Bool, taken: Int)
    case redirected(Endpoint)
    case failed(Cause, WebSocketHandshakeError.Problem)
  }

  var handshake: ClientHandshake
  /// The last request.
  private(set) var request = ""
  private(set) var agreement: WebSocketAgreement?
  private(set) var error: WebSocketHandshakeError?

  init(_ options: WebSocketOptions) {
    handshake = ClientHandshake(options)
    start()
  }

  init(
    _ url: String = "ws://server.example.com/chat", headers: [HTTPField] = [],
    subprotocols: [String] = [], compression: WebSocketCompression? = nil, redirectLimit: Int = 0
  ) throws {
    self.init(
      try WebSocketOptions(
        WebSocketURL(url), headers: headers, subprotocols: subprotocols, compression: compression,
        redirectLimit: redirectLimit))
  }

  mutating func start() {
    var output: [UInt8] = []
    handshake.start(key: Self.key, into: &output)
    request = String(decoding: output, as: UTF8.self)
  }

  /// Gives an answer in pieces, until it ends the handshake.
  mutating func receive(_ pieces: [ArraySlice<UInt8>]) -> End {
    var before = 0
    for piece in pieces {
      switch handshake.receive(Array(piece).span.bytes) {
      case .goesOn: before += piece.count
      case .agreed(let agreement, let taken):
        self.agreement = agreement
        return .agreed(
          subprotocol: agreement.subprotocol, isCompressed: agreement.compression != nil,
          taken: before + taken)
      case .redirected(let endpoint): return .redirected(endpoint)
      case .failed(let cause, let error):
        self.error = error
        return .failed(cause, error.problem)
      }
    }
    return .goesOn
  }

  mutating func receive(_ answer: String) -> End { receive([Array(answer.utf8)[...]]) }

  /// An answer with this status.
  mutating func receive(_ status: Int, _ fields: String...) -> End {
    receive("HTTP/1.1 \(status) X\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n")
  }

  /// The lines of an answer that is good.
  static let fields = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: \(accept)",
  ]

  /// An answer of 101.
  static func answer(_ fields: [String] = Self.fields, end: String = "\r\n") -> String {
    (["HTTP/1.1 101 Switching Protocols"] + fields + [""]).map { "\($0)\(end)" }.joined()
  }

  /// That it begins the link, plainly, with the whole answer.
  static func plain(_ answer: String) -> End {
    .agreed(subprotocol: nil, isCompressed: false, taken: answer.utf8.count)
  }
}
