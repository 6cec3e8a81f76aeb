/// Stands in for compression (RFC 7692): offers it without parameters.
public struct WebSocketCompression: Hashable, Sendable {
  /// Makes an offer.
  public init() throws(DeflateAnswerError) {}

  package var offer: String { "permessage-deflate" }

  package func agreement(answering fields: [String]) throws(DeflateAnswerError) -> DeflateAgreement?
  {
    guard !fields.isEmpty else { return nil }
    guard fields == [offer] else { throw DeflateAnswerError() }
    return DeflateAgreement(
      clientTakesContextOver: true, serverTakesContextOver: true, clientWindowBits: 15,
      serverWindowBits: 15)
  }
}

/// What both sides have agreed on.
public struct DeflateAgreement: Hashable, Sendable {
  let clientTakesContextOver, serverTakesContextOver: Bool
  let clientWindowBits, serverWindowBits: Int
}

/// An answer that is not legal.
public struct DeflateAnswerError: Error {}
