/// Reads the head of an HTTP message from bytes that are split anywhere (RFC 9112).
///
/// It is read to its end and not a byte further: what stands behind the blank line is not its own.
/// A line may end with LF alone (section 2.2). Any bytes give a head or one error (I13), and the
/// work and the memory are bounded by ``limit`` (I21).
package struct HTTPHeadParser<Start: HTTPStartLine>: Sendable {
  /// How far the reading has come.
  package enum Progress: Equatable, Sendable {
    /// More is awaited.
    case goesOn
    /// The head is whole; so many of the last bytes were its own.
    case head(HTTPHead<Start>, taken: Int)
    /// There is none.
    case failed(HTTPHeadError)
  }

  /// The most bytes of all heads up to the last one's end.
  package static var limit: Int { 16 << 10 }
  /// The most interim answers (1xx) before the last one.
  package static var interimLimit: Int { 8 }

  /// How many bytes were taken, of interim answers, too.
  package private(set) var offset = 0

  private var line: [UInt8] = []
  private var start: Start?
  private var fields: [HTTPField] = []
  private var interimAnswers = 0

  /// Awaits the first byte.
  package init() {}

  /// Takes bytes. Not to be called again after an end.
  package mutating func receive(_ bytes: RawSpan) -> Progress {
    for place in 0..<bytes.byteCount {
      let byte = bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
      guard offset < Self.limit else { return .failed(.tooLong(limit: Self.limit)) }
      offset += 1
      do throws(HTTPHeadError) {
        if let head = try take(byte) { return .head(head, taken: place + 1) }
      } catch {
        return .failed(error)
      }
    }
    return .goesOn
  }

  private mutating func take(_ byte: UInt8) throws(HTTPHeadError) -> HTTPHead<Start>? {
    guard byte == UInt8(ascii: "\n") else {
      line.append(byte)
      guard start != nil || Start.canBegin(line) else { throw garbled }
      return nil
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    defer { line.removeAll(keepingCapacity: true) }
    guard let start else {
      start = Start(line)
      guard start != nil else { throw garbled }
      return nil
    }
    guard line.isEmpty else {
      guard readField() else { throw garbled }
      return nil
    }
    guard start.isInterim else { return HTTPHead(start: start, fields: fields) }
    interimAnswers += 1
    guard interimAnswers <= Self.interimLimit else {
      throw .tooManyInterimAnswers(limit: Self.interimLimit)
    }
    self.start = nil
    fields = []
    return nil
  }

  private var garbled: HTTPHeadError { .garbled(offset: offset - 1) }

  /// A field line: a name, a colon, a value (section 5); or the rest of the one before.
  private mutating func readField() -> Bool {
    guard !HTTPText.isBlank(line[0]) else { return unfold() }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), HTTPText.isToken(line[..<colon]),
      line[colon...].allSatisfy(HTTPText.isText)
    else { return false }
    fields.append(
      HTTPField(
        name: String(decoding: line[..<colon], as: UTF8.self),
        checked: String(decoding: line[(colon + 1)...], as: UTF8.self)))
    return true
  }

  private mutating func unfold() -> Bool {
    guard Start.foldsFields, line.allSatisfy(HTTPText.isText), let last = fields.popLast() else {
      return false
    }
    let rest = HTTPText.trimmed(String(decoding: line, as: UTF8.self)[...])
    fields.append(HTTPField(name: last.name, checked: "\(last.value) \(rest)"))
    return true
  }
}
