// A backoff as an object. A preset's name stands for all its knobs; each knob beside it overrides.

extension Backoff: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case preset, strategy, first, base, cap, jitter, firstJitter, stability, attemptLimit
    case elapsedLimit
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let preset = try values.decodeIfPresent(Preset.self, forKey: .preset)
    var backoff = preset.map { Backoff($0) } ?? Backoff()
    try values.override(&backoff.strategy, forKey: .strategy)
    try values.override(&backoff.first, forKey: .first)
    try values.override(&backoff.base, forKey: .base)
    try values.override(&backoff.cap, forKey: .cap)
    try values.override(&backoff.jitter, forKey: .jitter)
    try values.override(&backoff.firstJitter, forKey: .firstJitter)
    try values.override(&backoff.stability, forKey: .stability)
    try values.override(&backoff.attemptLimit, forKey: .attemptLimit)
    try values.override(&backoff.elapsedLimit, forKey: .elapsedLimit)
    self = backoff
  }

  /// Knobs, never a preset's name: what a name stands for may be mended in a later release.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    if strategy != .doubling { try values.encode(strategy, forKey: .strategy) }
    try values.encode(first, forKey: .first)
    try values.encode(base, forKey: .base)
    try values.encode(cap, forKey: .cap)
    try values.encode(jitter, forKey: .jitter)
    try values.encodeIfPresent(firstJitter, forKey: .firstJitter)
    try values.encode(stability, forKey: .stability)
    try values.encodeIfPresent(attemptLimit, forKey: .attemptLimit)
    try values.encodeIfPresent(elapsedLimit, forKey: .elapsedLimit)
  }
}

extension Backoff.Preset: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

/// “constant”, “linear”, “doubling”, {"exponential": percent} or {"table": [seconds, …]}.
extension Backoff.Strategy: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable { case exponential, table }

  public init(from decoder: any Decoder) throws {
    guard let values = try decoder.onlyKey(CodingKeys.self) else {
      self = try decoder.decodeName(
        [
          ("constant", .constant), ("linear", .linear), ("doubling", .doubling),
        ], orKeys: CodingKeys.self)
      return
    }
    switch values.key {
    case .exponential:
      self = .exponential(percent: try values.object.decode(UInt16.self, forKey: .exponential))
    case .table:
      self = .table(Backoff.Table(try values.object.decode([TimeSpan].self, forKey: .table)))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .constant: try encoder.encodeName("constant")
    case .linear: try encoder.encodeName("linear")
    case .doubling: try encoder.encodeName("doubling")
    case .exponential(let percent): try encoder.encode(percent, as: CodingKeys.exponential)
    case .table(let table): try encoder.encode(table.steps, as: CodingKeys.table)
    }
  }
}

/// “none”, “full”, “equal”, “decorrelated”, {"within": percent}, {"above": percent},
/// {"added": seconds} or {"fullOver": seconds}.
extension Backoff.Jitter: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable { case within, above, added, fullOver }

  public init(from decoder: any Decoder) throws {
    guard let values = try decoder.onlyKey(CodingKeys.self) else {
      self = try decoder.decodeName(
        [
          ("none", .none), ("full", .full), ("equal", .equal), ("decorrelated", .decorrelated),
        ], orKeys: CodingKeys.self)
      return
    }
    switch values.key {
    case .within: self = .within(percent: try values.object.decode(UInt8.self, forKey: .within))
    case .above: self = .above(percent: try values.object.decode(UInt8.self, forKey: .above))
    case .added: self = .added(try values.object.decode(TimeSpan.self, forKey: .added))
    case .fullOver: self = .fullOver(try values.object.decode(TimeSpan.self, forKey: .fullOver))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .none: try encoder.encodeName("none")
    case .full: try encoder.encodeName("full")
    case .equal: try encoder.encodeName("equal")
    case .decorrelated: try encoder.encodeName("decorrelated")
    case .within(let percent): try encoder.encode(percent, as: CodingKeys.within)
    case .above(let percent): try encoder.encode(percent, as: CodingKeys.above)
    case .added(let most): try encoder.encode(most, as: CodingKeys.added)
    case .fullOver(let least): try encoder.encode(least, as: CodingKeys.fullOver)
    }
  }
}

// A choice is a name, or an object whose only key is the name and whose value is its number.

extension Decoder {
  /// The object and its one key; nil if a name stands in its place.
  fileprivate func onlyKey<Key: CodingKey & CaseIterable>(
    _: Key.Type
  ) throws -> (object: KeyedDecodingContainer<Key>, key: Key)? {
    guard let object = try? container(keyedBy: Key.self) else { return nil }
    try rejectUnknownKeys(Key.self)
    guard object.allKeys.count == 1, let key = object.allKeys.first else {
      throw refusal("must have one key of \(names(of: Key.self))")
    }
    return (object, key)
  }

  fileprivate func decodeName<Value, Key: CodingKey & CaseIterable>(
    _ known: [(name: String, value: Value)], orKeys: Key.Type
  ) throws -> Value {
    let name = try singleValueContainer().decode(String.self)
    if let match = known.first(where: { $0.name == name }) { return match.value }
    let plain = known.map(\.name).joined(separator: ", ")
    throw refusal(
      "unknown value “\(name)”; known are \(plain), and objects with \(names(of: Key.self))")
  }

  private func names<Key: CodingKey & CaseIterable>(of: Key.Type) -> String {
    Key.allCases.map(\.stringValue).joined(separator: ", ")
  }

  private func refusal(_ text: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: text))
  }
}

extension Encoder {
  fileprivate func encodeName(_ name: String) throws {
    var container = singleValueContainer()
    try container.encode(name)
  }

  fileprivate func encode<Key: CodingKey>(_ value: some Encodable, as key: Key) throws {
    var container = container(keyedBy: Key.self)
    try container.encode(value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  fileprivate func override<Value: Decodable>(_ knob: inout Value, forKey key: Key) throws {
    if contains(key) { knob = try decode(Value.self, forKey: key) }
  }
}
