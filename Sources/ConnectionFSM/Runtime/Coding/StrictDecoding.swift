// Scenario files and trace headers are written by hand: a misspelt key must be an error that names
// it, never a knob that silently keeps its default.

package struct AnyKey: CodingKey {
  package let stringValue: String
  package let intValue: Int? = nil

  package init(stringValue: String) { self.stringValue = stringValue }
  package init?(intValue: Int) { nil }
}

extension Decoder {
  /// Fails if the object has a key that the type does not know.
  package func rejectUnknownKeys<Key: CodingKey & CaseIterable>(_: Key.Type) throws {
    let known = Key.allCases.map(\.stringValue)
    for key in try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
    where !known.contains(key) {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "unknown key “\(key)”; known are \(known.joined(separator: ", "))"))
    }
  }
}

extension TimeSpan {
  /// Seconds, rounded to a nanosecond. Not `rounded()`, which would link the C mathematics library.
  package init(seconds: Double) {
    self.init(nanoseconds: Int64(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5)))
  }
}

extension TimeSpan: Codable {
  /// A number of seconds.
  public init(from decoder: any Decoder) throws {
    let seconds = try decoder.singleValueContainer().decode(Double.self)
    guard seconds.magnitude <= 9e9 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "must be a number of seconds below 9,000,000,000"))
    }
    self.init(seconds: seconds)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Double(nanoseconds) / 1e9)
  }
}

extension Decoder {
  /// The case of an enum without payload, written as its name.
  package func decodeCase<Value: CaseIterable>(_: Value.Type = Value.self) throws -> Value {
    let name = try singleValueContainer().decode(String.self)
    guard let value = Value.allCases.first(where: { "\($0)" == name }) else {
      let known = Value.allCases.map { "\($0)" }.joined(separator: ", ")
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath,
          debugDescription: "unknown value “\(name)”; known are \(known)"))
    }
    return value
  }
}

extension Encoder {
  /// The name of a case.
  package func encodeCase(_ value: some CaseIterable) throws {
    var container = singleValueContainer()
    try container.encode("\(value)")
  }
}
