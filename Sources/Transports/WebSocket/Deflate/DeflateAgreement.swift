/// What a client and a server have agreed on: permessage-deflate with these parameters
/// (RFC 7692 section 7.1).
public struct DeflateAgreement: Hashable, Sendable {
  /// Whether a message that the client sends may point back into those before it.
  public let clientTakesContextOver: Bool
  /// Whether a message that the server sends may point back into those before it.
  public let serverTakesContextOver: Bool
  /// The client's window has at most 2 to this power bytes: 8 to 15.
  public let clientWindowBits: Int
  /// The server's window has at most 2 to this power bytes: 8 to 15.
  public let serverWindowBits: Int

  package init(
    clientTakesContextOver: Bool, serverTakesContextOver: Bool, clientWindowBits: Int,
    serverWindowBits: Int
  ) {
    self.clientTakesContextOver = clientTakesContextOver
    self.serverTakesContextOver = serverTakesContextOver
    self.clientWindowBits = clientWindowBits
    self.serverWindowBits = serverWindowBits
  }
}
