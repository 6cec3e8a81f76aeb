/// The small grammar that all of HTTP's fields share (RFC 9110 section 5).
enum HTTPText {
  /// A tab, a space, what is visible, or what is beyond ASCII.
  static func isText(_ byte: UInt8) -> Bool {
    byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
  }

  private static let marks = Array("!#$%&'*+-.^_`|~".utf8)

  /// Whether the byte may stand in a token (RFC 9110 section 5.6.2).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    case _: marks.contains(byte)
    }
  }

  static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Without the blanks at both ends, which are no part of a value.
  static func trimmed(_ text: Substring) -> String {
    var bytes = text.utf8.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return String(Substring(bytes))
  }

  /// The elements of a list, over all fields of a name; empty ones count for nothing (RFC 9110
  /// section 5.6.1).
  static func list(_ values: [String]) -> [String] {
    values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
      .map { trimmed(Substring($0)) }.filter { !$0.isEmpty }
  }
}
