/// One element of Sec-WebSocket-Extensions (RFC 6455 section 9.1).
struct WebSocketExtension: Equatable, Sendable {
  /// A parameter: its name as it is spelled, and its value without quotes, or nil if it has none.
  struct Parameter: Equatable, Sendable {
    let name: String
    let value: String?
  }

  let name: String
  let parameters: [Parameter]

  /// Reads the list in all fields of the name; nil if one of them is none.
  static func list(_ fields: [String]) -> [WebSocketExtension]? {
    var list: [WebSocketExtension] = []
    for field in fields {
      var scanner = Scanner(rest: field.utf8[...])
      guard let elements = scanner.elements() else { return nil }
      list += elements
    }
    return list
  }
}

private struct Scanner {
  var rest: Substring.UTF8View

  /// The whole of a field; empty elements count for nothing (RFC 9110 section 5.6.1).
  mutating func elements() -> [WebSocketExtension]? {
    var elements: [WebSocketExtension] = []
    repeat {
      skipBlanks()
      guard !rest.isEmpty, rest.first != UInt8(ascii: ",") else { continue }
      guard let name = token() else { return nil }
      var parameters: [WebSocketExtension.Parameter] = []
      while take(";") {
        guard let parameter = parameter() else { return nil }
        parameters.append(parameter)
      }
      elements.append(WebSocketExtension(name: name, parameters: parameters))
    } while take(",")
    return rest.isEmpty ? elements : nil
  }

  private mutating func parameter() -> WebSocketExtension.Parameter? {
    skipBlanks()
    guard let name = token() else { return nil }
    guard take("=") else { return WebSocketExtension.Parameter(name: name, value: nil) }
    skipBlanks()
    guard let value = rest.first == UInt8(ascii: "\"") ? quoted() : token() else { return nil }
    return WebSocketExtension.Parameter(name: name, value: value)
  }

  private mutating func token() -> String? {
    let token = rest.prefix(while: HTTPText.isTokenByte)
    guard !token.isEmpty else { return nil }
    rest = rest[token.endIndex...]
    return String(Substring(token))
  }

  /// A quoted string whose text is a token (section 9.1).
  private mutating func quoted() -> String? {
    rest = rest.dropFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        return HTTPText.isToken(bytes) ? String(decoding: bytes, as: UTF8.self) : nil
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst() else { return nil }
        bytes.append(escaped)
      case _: bytes.append(byte)
      }
    }
    return nil
  }

  private mutating func skipBlanks() { rest = rest.drop(while: HTTPText.isBlank) }

  /// Takes the mark if it comes next, behind blanks.
  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard rest.first == UInt8(ascii: mark) else { return false }
    rest = rest.dropFirst()
    return true
  }
}
