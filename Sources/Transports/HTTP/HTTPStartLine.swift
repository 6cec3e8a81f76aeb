/// The first line of a head: of a request or of an answer (RFC 9112 sections 3 and 4).
package protocol HTTPStartLine: Equatable, Sendable {
  /// Whether a line can begin so; only the last byte is new. What is no HTTP is told at its first
  /// byte, since it may never end a line.
  static func canBegin(_ line: [UInt8]) -> Bool

  /// Reads the whole line, without its end; nil if it is none.
  init?(_ line: [UInt8])

  /// Whether another head follows and is the one that counts.
  var isInterim: Bool { get }

  /// Whether a field may go on in the next line: to be read in an answer, to be refused in a
  /// request (RFC 9112 section 5.2).
  static var foldsFields: Bool { get }
}

/// `HTTP/1.1 101 Switching Protocols`
package struct StatusLine: HTTPStartLine {
  package let status: UInt16

  package static var foldsFields: Bool { true }

  /// 101 is the last answer in HTTP.
  package var isInterim: Bool { (100...199).contains(status) && status != 101 }

  private static let version = Array("HTTP/1.".utf8)

  package static func canBegin(_ line: [UInt8]) -> Bool {
    let place = line.count - 1
    let byte = line[place]
    switch place {
    case 0..<7: return byte == version[place]
    case 7, 9, 10, 11: return HTTPText.isDigit(byte)
    case 8: return byte == UInt8(ascii: " ")
    case 12: return byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\r")
    // Whether the CR stands before LF is seen there.
    default: return HTTPText.isText(byte) || byte == UInt8(ascii: "\r")
    }
  }

  /// The bytes were looked at when they came: only the end can be missing.
  package init?(_ line: [UInt8]) {
    guard line.count >= 12, line.allSatisfy(HTTPText.isText) else { return nil }
    let digits = line[9..<12].map { UInt16($0 - UInt8(ascii: "0")) }
    status = digits[0] * 100 + digits[1] * 10 + digits[2]
    guard (100...599).contains(status) else { return nil }
  }
}

/// `GET /chat HTTP/1.1`
package struct RequestLine: HTTPStartLine {
  package let method: String
  /// What is asked for, as it is spelled.
  package let target: String
  /// The second digit of the version, whose first is 1.
  package let minorVersion: UInt8

  package static var foldsFields: Bool { false }
  package var isInterim: Bool { false }

  package static func canBegin(_ line: [UInt8]) -> Bool {
    let byte = line[line.count - 1]
    if line.count == 1 { return HTTPText.isTokenByte(byte) }
    return HTTPText.isText(byte) || byte == UInt8(ascii: "\r")
  }

  package init?(_ line: [UInt8]) {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, HTTPText.isToken(parts[0]), !parts[1].isEmpty,
      parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F }), parts[2].count == 8,
      parts[2].starts(with: "HTTP/1.".utf8), let digit = parts[2].last, HTTPText.isDigit(digit)
    else { return nil }
    method = String(decoding: parts[0], as: UTF8.self)
    target = String(decoding: parts[1], as: UTF8.self)
    minorVersion = digit - UInt8(ascii: "0")
  }
}
