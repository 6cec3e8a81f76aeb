/// Why a server's answer to an offer of permessage-deflate cannot be taken (RFC 7692 section 7.1).
public enum DeflateAnswerError: Error, Equatable, Sendable {
  /// The header breaks its grammar.
  case malformed(ExtensionHeaderError)
  /// The server chose an extension of this name, which was not offered.
  case unknownExtension(String)
  /// The server chose permessage-deflate twice.
  case repeatedExtension
  /// The extension has no parameter of this name.
  case unknownParameter(String)
  /// The parameter of this name is given twice.
  case repeatedParameter(String)
  /// The parameter of this name has no value, and needs one.
  case valueMissing(String)
  /// The parameter of this name cannot have this value.
  case badValue(String, value: String)
  /// The offer asked for the parameter of this name, and the server chose the extension without it.
  case notAccepted(String)
  /// The server's window has more bits than were offered.
  case windowTooWide(bits: Int, offered: Int)
  /// The server bounds our window to bits that zlib cannot deflate with.
  case windowTooSmall(bits: Int)
}

extension DeflateAnswerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed(let error): "\(error)"
    default: "Sec-WebSocket-Extensions: \(words)"
    }
  }

  private var words: String {
    switch self {
    case .malformed(let error): "\(error)"
    case .unknownExtension(let name):
      "the server chose \(Self.quote(name)), which was not offered; mend the server"
    case .repeatedExtension:
      "the server chose \(DeflateParameters.extensionName) twice; mend the server"
    case .unknownParameter(let name):
      "\(DeflateParameters.extensionName) has no parameter \(Self.quote(name)); mend the server"
    case .repeatedParameter(let name):
      "\(name) is given twice; mend the server"
    case .valueMissing(let name):
      "\(name) has no value; mend the server"
    case .badValue(let name, let value):
      "\(name) cannot be \(Self.quote(value)); mend the server"
    case .notAccepted(let name):
      "the offer asked for \(name), and the answer lacks it; mend the server, or do not ask for it"
    case .windowTooWide(let bits, let offered):
      "server_max_window_bits is \(bits), more than the offered \(offered); mend the server"
    case .windowTooSmall(let bits):
      "client_max_window_bits is \(bits), and zlib deflates with 9 to 15; raise it at the server, "
        + "or offer no compression"
    }
  }

  /// The peer's words may be as long as the header.
  private static func quote(_ text: String) -> String {
    let longest = 64
    return text.utf8.count <= longest ? "“\(text)”" : "“\(text.prefix(longest))…”"
  }
}
