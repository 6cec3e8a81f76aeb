// A snapshot as an object: facts by name, those left out that are as in a machine at rest, unknown
// names refused. One table a type serves both directions, so that neither can forget what the other
// knows.

/// A value that stands in a snapshot as something simpler.
protocol FactValue: Equatable, SendableMetatype {
  associatedtype Raw: Codable
  var raw: Raw { get }
  /// - Throws: ``FactProblem`` for what the value cannot be.
  init(raw: Raw) throws
}

/// Why a fact cannot be so.
struct FactProblem: Error {
  let text: String
}

/// One fact of a value: how it is called, and where it lies.
struct Fact<Owner>: Sendable {
  let name: String
  let write: @Sendable (_ owner: Owner, _ rest: Owner, inout FactWriter) throws -> Void
  let read: @Sendable (inout Owner, FactReader) throws -> Void

  init<Value: FactValue>(_ name: String, _ path: any WritableKeyPath<Owner, Value> & Sendable) {
    self.name = name
    write = { owner, rest, writer in
      guard owner[keyPath: path] != rest[keyPath: path] else { return }
      try writer.write(owner[keyPath: path], name)
    }
    read = { owner, reader in
      if let value = try reader.read(Value.self, name) { owner[keyPath: path] = value }
    }
  }

  /// A fact that there may be none of.
  init<Value: FactValue>(_ name: String, _ path: any WritableKeyPath<Owner, Value?> & Sendable) {
    self.name = name
    write = { owner, _, writer in
      if let value = owner[keyPath: path] { try writer.write(value, name) }
    }
    read = { owner, reader in owner[keyPath: path] = try reader.read(Value.self, name) }
  }
}

/// Writes facts into an object.
struct FactWriter {
  private var values: KeyedEncodingContainer<AnyKey>

  init(_ encoder: any Encoder) { values = encoder.container(keyedBy: AnyKey.self) }

  mutating func write(_ value: some FactValue, _ name: String) throws {
    try values.encode(value.raw, forKey: AnyKey(stringValue: name))
  }
}

/// Reads facts from an object that has no others.
struct FactReader {
  private let values: KeyedDecodingContainer<AnyKey>

  init(_ decoder: any Decoder, known: [String]) throws {
    values = try decoder.container(keyedBy: AnyKey.self)
    for name in values.allKeys.map(\.stringValue).sorted() where !known.contains(name) {
      throw DecodingError.dataCorruptedError(
        forKey: AnyKey(stringValue: name), in: values,
        debugDescription: "is unknown; known are \(known.joined(separator: ", "))")
    }
  }

  /// The fact; nil if it is not there.
  func read<Value: FactValue>(_: Value.Type, _ name: String) throws -> Value? {
    let key = AnyKey(stringValue: name)
    guard let raw = try values.decodeIfPresent(Value.Raw.self, forKey: key) else { return nil }
    do { return try Value(raw: raw) } catch let problem as FactProblem {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: values, debugDescription: problem.text)
    }
  }

  /// A fact that must be there.
  func require<Value: FactValue>(_ name: String) throws -> Value {
    if let value = try read(Value.self, name) { return value }
    let key = AnyKey(stringValue: name)
    throw DecodingError.keyNotFound(
      key, DecodingError.Context(codingPath: values.codingPath, debugDescription: "is missing"))
  }
}

/// A value that is told by a table of facts, beginning with what it is at rest.
protocol FactList: FactValue, Codable where Raw == Self {
  init()
  static var facts: [Fact<Self>] { get }
}

extension FactList {
  var raw: Self { self }
  init(raw: Self) { self = raw }

  init(from decoder: any Decoder) throws {
    self.init()
    try read(from: decoder)
  }

  func encode(to encoder: any Encoder) throws { try write(to: encoder) }

  mutating func read(from decoder: any Decoder) throws {
    let reader = try FactReader(decoder, known: Self.facts.map(\.name))
    for fact in Self.facts { try fact.read(&self, reader) }
  }

  func write(to encoder: any Encoder) throws {
    // Made first, so that an object without facts is an object too.
    var writer = FactWriter(encoder)
    let rest = Self()
    for fact in Self.facts { try fact.write(self, rest, &writer) }
  }
}
