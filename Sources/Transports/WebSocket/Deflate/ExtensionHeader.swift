/// What Sec-WebSocket-Extensions lists (RFC 6455 section 9.1), in order.
///
/// Several field lines count as one list (RFC 9110 section 5.3). Empty elements count for nothing
/// (section 5.6.1); spaces and tabs may stand around every separator.
package struct ExtensionHeader: Equatable, Sendable {
  package struct Parameter: Equatable, Sendable {
    package let name: String
    /// Without the quotes and escapes that it may have had.
    package let value: String?
  }

  package struct Element: Equatable, Sendable {
    package let name: String
    package let parameters: [Parameter]
  }

  package let elements: [Element]

  /// Reads the values of the field lines, of which there is at least one.
  /// - Throws: ``ExtensionHeaderError``. Whoever receives such a header must fail the connection.
  package init(_ fields: [String]) throws(ExtensionHeaderError) {
    var elements: [Element] = []
    for (line, field) in fields.enumerated() {
      var reader = Reader(field, line: line)
      while reader.skipSpace() {
        if reader.take(",") { continue }
        elements.append(try reader.element())
        guard reader.isAtEnd || reader.take(",") else { throw reader.error(.separatorMissing) }
      }
    }
    guard !elements.isEmpty else {
      throw ExtensionHeaderError(line: 0, offset: 0, problem: .nothingListed)
    }
    self.elements = elements
  }

  private struct Reader {
    private let bytes: [UInt8]
    private let line: Int
    private var place = 0

    init(_ field: String, line: Int) {
      bytes = Array(field.utf8)
      self.line = line
    }

    var isAtEnd: Bool { place == bytes.count }

    func error(_ problem: ExtensionHeaderError.Problem) -> ExtensionHeaderError {
      ExtensionHeaderError(line: line, offset: place, problem: problem)
    }

    /// False if nothing stands behind it.
    @discardableResult
    mutating func skipSpace() -> Bool {
      while !isAtEnd, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
      return !isAtEnd
    }

    mutating func take(_ separator: Unicode.Scalar) -> Bool {
      guard !isAtEnd, bytes[place] == UInt8(ascii: separator) else { return false }
      place += 1
      return true
    }

    /// extension-token *( ";" token [ "=" ( token / quoted-string ) ] )
    mutating func element() throws(ExtensionHeaderError) -> Element {
      let name = try token()
      var parameters: [Parameter] = []
      skipSpace()
      while take(";") {
        skipSpace()
        let name = try token()
        var value: String?
        skipSpace()
        if take("=") {
          skipSpace()
          value = take("\"") ? try quotedToken() : try token()
          skipSpace()
        }
        parameters.append(Parameter(name: name, value: value))
      }
      return Element(name: name, parameters: parameters)
    }

    private mutating func token() throws(ExtensionHeaderError) -> String {
      let start = place
      while !isAtEnd, Self.isTokenByte(bytes[place]) { place += 1 }
      guard place > start else { throw error(.tokenMissing) }
      return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    /// What stands in quotes must be a token, too, once it is unescaped.
    private mutating func quotedToken() throws(ExtensionHeaderError) -> String {
      var value: [UInt8] = []
      while !take("\"") {
        _ = take("\\")
        guard !isAtEnd else { throw error(.quoteUnfinished) }
        guard Self.isTokenByte(bytes[place]) else { throw error(.quotedNoToken) }
        value.append(bytes[place])
        place += 1
      }
      guard !value.isEmpty else { throw error(.quotedNoToken) }
      return String(decoding: value, as: UTF8.self)
    }

    /// RFC 9110 section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: marks.contains(byte)
      }
    }

    private static let marks = Array("!#$%&'*+-.^_`|~".utf8)
  }
}

/// Where a Sec-WebSocket-Extensions header breaks its grammar (RFC 6455 section 9.1).
public struct ExtensionHeaderError: Error, Equatable, Sendable {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// A name or a value should stand here.
    case tokenMissing
    /// A comma, a semicolon or the end should stand here.
    case separatorMissing
    /// A quoted value does not end.
    case quoteUnfinished
    /// A quoted value is empty, or holds a character that no token may have.
    case quotedNoToken
    /// The header lists no extension at all.
    case nothingListed
  }

  /// Which of the header's field lines, counted from 0.
  public let line: Int
  /// Which byte of that line's value, counted from 0.
  public let offset: Int
  /// What is wrong there.
  public let problem: Problem

  package init(line: Int, offset: Int, problem: Problem) {
    self.line = line
    self.offset = offset
    self.problem = problem
  }
}

extension ExtensionHeaderError: CustomStringConvertible {
  public var description: String {
    "Sec-WebSocket-Extensions, line \(line), byte \(offset): \(words)"
  }

  private var words: String {
    switch problem {
    case .tokenMissing: "a name or a value is missing; give a token"
    case .separatorMissing: "the list does not go on; put a comma or a semicolon"
    case .quoteUnfinished: "a quoted value does not end; put a quotation mark"
    case .quotedNoToken: "a quoted value is no token; leave out what no token may have"
    case .nothingListed: "no extension is listed; leave the header out"
    }
  }
}
