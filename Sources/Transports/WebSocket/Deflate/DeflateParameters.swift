/// The parameters of permessage-deflate as an offer or an answer has them (RFC 7692 section 7.1).
struct DeflateParameters {
  static let extensionName = "permessage-deflate"

  enum Name: String, CaseIterable {
    case serverNoContextTakeover = "server_no_context_takeover"
    case clientNoContextTakeover = "client_no_context_takeover"
    case serverMaxWindowBits = "server_max_window_bits"
    case clientMaxWindowBits = "client_max_window_bits"
  }

  /// What windows have (section 7.1.2). Zlib inflates all of them, and does not deflate with 8.
  static let windowBits = 8...15
  static let deflatableWindowBits = 9...15

  var serverTakesContextOver = true
  var clientTakesContextOver = true
  var serverWindowBits: Int?
  /// Whether there is `client_max_window_bits` at all: it may have no value in an offer.
  var namesClientWindow = false
  var clientWindowBits: Int?

  init() {}

  /// - Throws: ``DeflateAnswerError`` for what neither an offer nor an answer may have.
  init(_ parameters: [ExtensionHeader.Parameter]) throws(DeflateAnswerError) {
    var seen: [Name] = []
    for parameter in parameters {
      guard let name = Name(rawValue: parameter.name) else {
        throw .unknownParameter(parameter.name)
      }
      guard !seen.contains(name) else { throw .repeatedParameter(parameter.name) }
      seen.append(name)
      switch name {
      case .serverNoContextTakeover:
        try Self.requireNoValue(parameter)
        serverTakesContextOver = false
      case .clientNoContextTakeover:
        try Self.requireNoValue(parameter)
        clientTakesContextOver = false
      case .serverMaxWindowBits:
        guard let value = parameter.value else { throw .valueMissing(parameter.name) }
        serverWindowBits = try Self.bits(value, of: name)
      case .clientMaxWindowBits:
        namesClientWindow = true
        if let value = parameter.value { clientWindowBits = try Self.bits(value, of: name) }
      }
    }
  }

  /// One element of the header's value.
  var text: String {
    var text = Self.extensionName
    if !serverTakesContextOver { text += "; \(Name.serverNoContextTakeover.rawValue)" }
    if !clientTakesContextOver { text += "; \(Name.clientNoContextTakeover.rawValue)" }
    if let bits = serverWindowBits { text += "; \(Name.serverMaxWindowBits.rawValue)=\(bits)" }
    if namesClientWindow { text += "; \(Name.clientMaxWindowBits.rawValue)" }
    if let bits = clientWindowBits { text += "=\(bits)" }
    return text
  }

  private static func requireNoValue(
    _ parameter: ExtensionHeader.Parameter
  ) throws(DeflateAnswerError) {
    if let value = parameter.value { throw .badValue(parameter.name, value: value) }
  }

  /// A decimal number without leading zeros (section 7.1.2.1).
  private static func bits(_ value: String, of name: Name) throws(DeflateAnswerError) -> Int {
    guard let bits = windowBits.first(where: { String($0) == value }) else {
      throw .badValue(name.rawValue, value: value)
    }
    return bits
  }
}
