/// What the handshake has led to.
public struct WebSocketAgreement: Sendable {
  /// The server's answer, with its cookies and whatever else it said.
  public let response: HTTPResponse
  /// The subprotocol that the server chose; nil if it chose none.
  public let subprotocol: String?
  /// How messages are compressed; nil if they are not.
  public let compression: DeflateAgreement?
  /// Where that was, after all redirections.
  public let url: WebSocketURL
}
