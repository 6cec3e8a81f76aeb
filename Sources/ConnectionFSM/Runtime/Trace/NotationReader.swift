/// A text that is no input in the notation of traces: the text, and the part of it at fault.
public struct NotationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text as it was given.
  public let text: String
  /// What is wrong with it, and what would do.
  public let problem: String

  public var description: String { "“\(text)”: \(problem)" }
}

/// Takes a text of the notation apart from left to right. What is not written as the notation
/// writes it (another order, another spelling of a number, a space too many) is refused, so that a
/// value has one text.
struct NotationReader {
  private let text: String
  private var rest: Substring

  init(_ text: String) {
    self.text = text
    rest = text[...]
  }

  /// Goes past this, if it comes next.
  mutating func take(_ piece: String) -> Bool {
    guard rest.utf8.starts(with: piece.utf8) else { return false }
    rest = rest[rest.utf8.index(rest.startIndex, offsetBy: piece.utf8.count)...]
    return true
  }

  /// Goes past this, which must come next.
  mutating func expect(_ piece: String) throws(NotationError) {
    guard take(piece) else { throw failure("must have “\(piece)” before “\(rest)”") }
  }

  /// The next word: letters alone, perhaps none.
  mutating func word() -> Substring {
    let end = rest.utf8.firstIndex { !(65...90 ~= $0 || 97...122 ~= $0) } ?? rest.endIndex
    defer { rest = rest[end...] }
    return rest[..<end]
  }

  /// A whole number without a sign or a zero before it.
  mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
    _ name: String, in range: ClosedRange<Number> = 0 ... .max
  ) throws(NotationError) -> Number {
    let end = rest.utf8.firstIndex { !(48...57 ~= $0) } ?? rest.endIndex
    let digits = rest[..<end]
    guard let number = Number(digits), range.contains(number),
      digits.utf8.count == 1 || digits.utf8.first != 48
    else {
      throw failure(
        "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), "
          + "not “\(rest)”")
    }
    rest = rest[end...]
    return number
  }

  /// A case by its name.
  mutating func value<Value>(
    _ name: String, of names: NamedCases<Value>
  ) throws(NotationError) -> Value {
    let given = word()
    if let value = names[given] { return value }
    throw failure("unknown \(name) “\(given)”; known are \(names.list)")
  }

  /// Wants nothing to be left.
  func finish() throws(NotationError) {
    guard rest.isEmpty else { throw failure("“\(rest)” is too much") }
  }

  func failure(_ problem: String) -> NotationError { NotationError(text: text, problem: problem) }
}

/// The cases of an enum without payload, by their names. Made once: to ask a case for its name
/// costs more than all the rest of reading.
struct NamedCases<Value: CaseIterable & Sendable>: Sendable {
  private let values: [Substring: Value]

  init() {
    values = Dictionary(uniqueKeysWithValues: Value.allCases.map { ("\($0)", $0) })
  }

  subscript(name: Substring) -> Value? { values[name] }

  /// All names in the order of the cases, for messages.
  var list: String { Value.allCases.map { "\($0)" }.joined(separator: ", ") }
}
