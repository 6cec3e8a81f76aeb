package import ConnectionFSM

/// Asks an HTTP proxy for a tunnel with CONNECT (RFC 9110 section 9.3.6).
///
/// The header of the answer is read to its end and not a byte further: what stands behind the blank
/// line is the tunnel's, whatever Content-Length or Transfer-Encoding say (there). A line may end
/// with LF alone (RFC 9112 section 2.2). Interim answers are skipped; 101 is none, since nothing
/// was asked to be upgraded.
package struct ConnectHandshake: ProxyHandshake {
  /// The most bytes of all headers up to the final one's end.
  package static let headerLimit = 16 << 10
  /// The most interim answers (1xx) before the final one.
  package static let interimLimit = 8

  private let authority: String
  private let credentials: ProxyCredentials?
  private var line: [UInt8] = []
  private var status: UInt16?
  private var retryAfter: UInt16?
  private var interimAnswers = 0
  package private(set) var offset = 0

  /// Nil if a proxy cannot be asked for the target.
  package init?(target: Endpoint, credentials: ProxyCredentials?) {
    guard target.isFitForProxy else { return nil }
    authority =
      target.host.contains(":")
      ? "[\(target.host)]:\(target.port)" : "\(target.host):\(target.port)"
    self.credentials = credentials
  }

  package mutating func start(into output: inout [UInt8]) {
    output += "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n".utf8
    if let credentials {
      // RFC 7617 section 2: base64 of user, colon and password.
      let pair = Base64.encode("\(credentials.user):\(credentials.password)".utf8)
      output += "Proxy-Authorization: Basic \(pair)\r\n".utf8
    }
    output += "\r\n".utf8
  }

  package mutating func receive(_ bytes: RawSpan, into output: inout [UInt8]) -> ProxyProgress {
    for place in 0..<bytes.byteCount {
      let byte = bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
      guard offset < Self.headerLimit else {
        return .failed(.protocolError, .headerTooLong(limit: Self.headerLimit))
      }
      offset += 1
      switch take(byte) {
      case .goesOn: continue
      case .isDone: return .isDone(taken: place + 1)
      case .failed(let cause, let problem): return .failed(cause, problem)
      }
    }
    return .goesOn
  }

  private mutating func take(_ byte: UInt8) -> ProxyProgress {
    guard byte == UInt8(ascii: "\n") else {
      line.append(byte)
      // What is no HTTP is told at its first byte: it may never end a line.
      return status != nil || isBeginningOfStatusLine ? .goesOn : garbled
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    defer { line.removeAll(keepingCapacity: true) }
    guard let status else {
      guard readStatusLine() else { return garbled }
      return .goesOn
    }
    guard line.isEmpty else { return readField() ? .goesOn : garbled }
    return end(status)
  }

  private var garbled: ProxyProgress { .failed(.protocolError, .garbled(offset: offset - 1)) }

  // MARK: The answer

  private static let version = Array("HTTP/1.".utf8)

  private var isBeginningOfStatusLine: Bool {
    let place = line.count - 1
    let byte = line[place]
    switch place {
    case 0..<7: return byte == Self.version[place]
    case 7, 9, 10, 11: return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    case 8: return byte == UInt8(ascii: " ")
    case 12: return byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\r")
    // Whether the CR stands before LF is seen there.
    default: return isText(byte) || byte == UInt8(ascii: "\r")
    }
  }

  /// The bytes were looked at when they came: only the end can be missing.
  private mutating func readStatusLine() -> Bool {
    guard line.count >= 12, line.allSatisfy(isText) else { return false }
    let digits = line[9..<12].map { UInt16($0 - UInt8(ascii: "0")) }
    let number = digits[0] * 100 + digits[1] * 10 + digits[2]
    guard (100...599).contains(number) else { return false }
    status = number
    return true
  }

  /// A field line: a name, a colon, a value (RFC 9112 section 5).
  private mutating func readField() -> Bool {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F }), line[colon...].allSatisfy(isText)
    else { return false }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    // A date instead of seconds is left out: it needs a calendar.
    if name == "retry-after" {
      let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
      let digits = value.filter { $0 != " " && $0 != "\t" }
      if digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !digits.isEmpty {
        // Too many digits are the longest span that there is.
        retryAfter = UInt16(digits) ?? .max
      }
    }
    return true
  }

  /// A tab, a space, what is visible, or what is beyond ASCII.
  private func isText(_ byte: UInt8) -> Bool {
    byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
  }

  private mutating func end(_ status: UInt16) -> ProxyProgress {
    switch status {
    case 200...299: return .isDone(taken: 0)
    case 100...199 where status != 101:
      interimAnswers += 1
      guard interimAnswers <= Self.interimLimit else {
        return .failed(.protocolError, .tooManyInterimAnswers(limit: Self.interimLimit))
      }
      self.status = nil
      retryAfter = nil
      return .goesOn
    default: return .failed(.http(status: status, retryAfter: retryAfter), .status(status))
    }
  }
}

/// Base64 with padding (RFC 4648 section 4).
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var group: UInt32 = 0
    var count = 0
    func put(_ digits: Int) {
      for digit in 0..<4 {
        let value = Int(group >> UInt32(18 - 6 * digit)) & 63
        text.append(digit < digits ? alphabet[value] : UInt8(ascii: "="))
      }
    }
    for byte in bytes {
      group |= UInt32(byte) << UInt32(16 - 8 * count)
      count += 1
      guard count == 3 else { continue }
      put(4)
      (group, count) = (0, 0)
    }
    if count > 0 { put(count + 1) }
    return String(decoding: text, as: UTF8.self)
  }
}
