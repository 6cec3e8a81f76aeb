/// How messages are compressed if the peer agrees: permessage-deflate (RFC 7692).
///
/// A client offers it and obeys what the server makes of the offer. Both windows can then be
/// smaller than asked for here, and either side may be kept from taking its context over.
public struct WebSocketCompression: Hashable, Sendable {
  /// How hard zlib tries: 0 does not compress, 1 is fastest, 9 smallest.
  public let level: Int
  /// Messages of fewer bytes are sent as they are.
  public let threshold: Int
  /// The window of what the client sends: 2 to this power bytes, 9 to 15.
  public let clientWindowBits: Int
  /// The window of what the server sends, likewise; nil leaves it to the server.
  public let serverWindowBits: Int?
  /// Whether a message that the client sends may point back into those before it.
  public let clientTakesContextOver: Bool
  /// Whether a message that the server sends may point back into those before it.
  public let serverTakesContextOver: Bool

  /// Chooses how to compress.
  /// - Parameters:
  ///   - level: 0 to 9. 6 is zlib's own choice between time and size.
  ///   - threshold: 0 or more. To deflate a message costs microseconds, and one below the default
  ///     of 64 bytes saves less than the headers of its packet are long.
  ///   - clientWindowBits: 9 to 15. RFC 7692 knows 8, too, which zlib cannot deflate with. A server
  ///     may ask for less.
  ///   - serverWindowBits: 9 to 15, or nil for whatever the server likes. A smaller window spares
  ///     the server memory; a server that cannot bound its window turns the offer down.
  ///   - clientTakesContextOver: False spares the server the window between messages, and costs
  ///     ratio.
  ///   - serverTakesContextOver: False demands it of the server, likewise.
  /// - Throws: ``WebSocketCompressionError``, which names the argument.
  public init(
    level: Int = 6, threshold: Int = 64, clientWindowBits: Int = 15, serverWindowBits: Int? = nil,
    clientTakesContextOver: Bool = true, serverTakesContextOver: Bool = true
  ) throws(WebSocketCompressionError) {
    try WebSocketCompressionError.check("level", level, 0...9)
    try WebSocketCompressionError.check("threshold", threshold, 0...Int.max)
    let bits = DeflateParameters.deflatableWindowBits
    try WebSocketCompressionError.check("clientWindowBits", clientWindowBits, bits)
    try WebSocketCompressionError.check("serverWindowBits", serverWindowBits ?? 15, bits)
    self.level = level
    self.threshold = threshold
    self.clientWindowBits = clientWindowBits
    self.serverWindowBits = serverWindowBits
    self.clientTakesContextOver = clientTakesContextOver
    self.serverTakesContextOver = serverTakesContextOver
  }

  // MARK: Negotiation

  /// The value of a client's Sec-WebSocket-Extensions.
  ///
  /// It always allows the server to bound the client's window.
  package var offer: String {
    var parameters = DeflateParameters()
    parameters.serverTakesContextOver = serverTakesContextOver
    parameters.clientTakesContextOver = clientTakesContextOver
    parameters.serverWindowBits = serverWindowBits
    parameters.namesClientWindow = true
    // Without a value it is 15.
    if clientWindowBits < 15 { parameters.clientWindowBits = clientWindowBits }
    return parameters.text
  }

  /// What the server made of the ``offer``.
  /// - Parameter fields: The values of all the Sec-WebSocket-Extensions lines of its answer.
  /// - Returns: Nil if it chose no extension.
  /// - Throws: ``DeflateAnswerError`` for everything that was not offered or may not be answered.
  package func agreement(
    answering fields: [String]
  ) throws(DeflateAnswerError) -> DeflateAgreement? {
    guard !fields.isEmpty else { return nil }
    let header: ExtensionHeader
    do throws(ExtensionHeaderError) { header = try ExtensionHeader(fields) } catch {
      throw .malformed(error)
    }
    for element in header.elements where element.name != DeflateParameters.extensionName {
      throw .unknownExtension(element.name)
    }
    guard header.elements.count == 1 else { throw .repeatedExtension }
    let answer = try DeflateParameters(header.elements[0].parameters)
    // Only an offer may leave the value out (section 7.1.2.2).
    if answer.namesClientWindow, answer.clientWindowBits == nil {
      throw .valueMissing(DeflateParameters.Name.clientMaxWindowBits.rawValue)
    }
    // A server accepts these by repeating them (sections 7.1.1.1 and 7.1.2.1).
    if !serverTakesContextOver, answer.serverTakesContextOver {
      throw .notAccepted(DeflateParameters.Name.serverNoContextTakeover.rawValue)
    }
    if let offered = serverWindowBits {
      guard let bits = answer.serverWindowBits else {
        throw .notAccepted(DeflateParameters.Name.serverMaxWindowBits.rawValue)
      }
      guard bits <= offered else { throw .windowTooWide(bits: bits, offered: offered) }
    }
    // What the client says of itself is a hint, which a server may ignore (sections 7.1.1.2 and
    // 7.1.2.2): a wider bound for the client's window than the offer's is legal, and the client
    // keeps to its own.
    let clientBits = min(answer.clientWindowBits ?? 15, clientWindowBits)
    guard DeflateParameters.deflatableWindowBits.contains(clientBits) else {
      throw .windowTooSmall(bits: clientBits)
    }
    return DeflateAgreement(
      clientTakesContextOver: clientTakesContextOver && answer.clientTakesContextOver,
      serverTakesContextOver: answer.serverTakesContextOver,
      clientWindowBits: clientBits, serverWindowBits: answer.serverWindowBits ?? 15)
  }

  /// A server's side: what comes of the first offer that can be met, and the value of the answer's
  /// Sec-WebSocket-Extensions. Other extensions, and offers that may not be, are passed over.
  /// - Parameter fields: The values of all the Sec-WebSocket-Extensions lines of the request.
  /// - Returns: Nil if none can be met.
  /// - Throws: ``ExtensionHeaderError``: the server must fail such a handshake.
  package func answer(
    offers fields: [String]
  ) throws(ExtensionHeaderError) -> (DeflateAgreement, answer: String)? {
    guard !fields.isEmpty else { return nil }
    for element in try ExtensionHeader(fields).elements
    where element.name == DeflateParameters.extensionName {
      guard let offer = try? DeflateParameters(element.parameters) else { continue }
      if let met = meet(offer) { return met }
    }
    return nil
  }

  private func meet(_ offer: DeflateParameters) -> (DeflateAgreement, answer: String)? {
    let serverBits = min(offer.serverWindowBits ?? 15, serverWindowBits ?? 15)
    guard DeflateParameters.deflatableWindowBits.contains(serverBits) else { return nil }
    // The client's window can be bounded only if the offer allows it.
    guard offer.namesClientWindow || clientWindowBits == 15 else { return nil }
    let clientBits = min(offer.clientWindowBits ?? 15, clientWindowBits)
    var answer = DeflateParameters()
    answer.serverTakesContextOver = serverTakesContextOver && offer.serverTakesContextOver
    answer.clientTakesContextOver = clientTakesContextOver && offer.clientTakesContextOver
    if offer.serverWindowBits != nil || serverBits < 15 { answer.serverWindowBits = serverBits }
    if clientBits < 15 {
      answer.namesClientWindow = true
      answer.clientWindowBits = clientBits
    }
    let agreement = DeflateAgreement(
      clientTakesContextOver: answer.clientTakesContextOver,
      serverTakesContextOver: answer.serverTakesContextOver,
      clientWindowBits: clientBits, serverWindowBits: serverBits)
    return (agreement, answer.text)
  }
}

/// An argument of ``WebSocketCompression`` that cannot be.
public struct WebSocketCompressionError: Error, Equatable, Sendable {
  /// Which argument.
  public let argument: String
  /// Its value.
  public let value: Int
  /// What it may be.
  public let range: ClosedRange<Int>

  fileprivate static func check(
    _ argument: String, _ value: Int, _ range: ClosedRange<Int>
  ) throws(WebSocketCompressionError) {
    guard range.contains(value) else {
      throw WebSocketCompressionError(argument: argument, value: value, range: range)
    }
  }
}

extension WebSocketCompressionError: CustomStringConvertible {
  public var description: String {
    let most = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
    let why = argument.hasSuffix("WindowBits") && value == 8 ? "; zlib cannot deflate with 8" : ""
    return "\(argument): is \(value); give \(range.lowerBound) \(most)\(why)"
  }
}
