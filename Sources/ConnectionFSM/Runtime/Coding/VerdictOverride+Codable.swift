// An override as a flat object: just one pattern, the class, and the modifiers that differ from it.
//
//   {"closeCodes": [4000, 4099], "class": "terminal"}
//   {"httpStatuses": [404, 404], "class": "transient", "retryLimit": 3}
//   {"kind": "pathLost", "class": "terminal"}

extension FailureClass: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension SystemError: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Cause.Kind: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension VerdictOverride: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case closeCodes, httpStatuses, system, kind
    case failureClass = "class"
    case retryLimit, minimumDelay, spread, retriesAtOnce, refreshesCredentials, prefersElsewhere
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    var verdict = Verdict(try values.decode(FailureClass.self, forKey: .failureClass))
    // As `Int`, so that what does not fit is refused by name: of a number too large for the type
    // asked for, a decoder may say no more than that the JSON is not valid.
    if let given = try values.decodeIfPresent(Int.self, forKey: .retryLimit) {
      guard let limit = UInt8(exactly: given) else {
        throw DecodingError.dataCorruptedError(
          forKey: .retryLimit, in: values, debugDescription: "must be 0 to 255")
      }
      verdict = verdict.capped(limit)
    }
    verdict = verdict.after(
      try values.value(.minimumDelay, else: .zero), spread: try values.value(.spread, else: .zero))
    if try values.value(.retriesAtOnce, else: false) { verdict = verdict.now }
    if try values.value(.refreshesCredentials, else: false) { verdict = verdict.refreshing }
    if try values.value(.prefersElsewhere, else: false) { verdict = verdict.elsewhere }
    self.init(try Self.pattern(in: values), verdict)
  }

  private static func pattern(
    in values: KeyedDecodingContainer<CodingKeys>
  ) throws -> Pattern {
    let patterns: [Pattern?] = [
      try range(.closeCodes, in: values).map { .closeCodes($0) },
      try range(.httpStatuses, in: values).map { .httpStatuses($0) },
      try values.decodeIfPresent(SystemError.self, forKey: .system).map { .system($0) },
      try values.decodeIfPresent(Cause.Kind.self, forKey: .kind).map { .kind($0) },
    ]
    let given = patterns.compactMap { $0 }
    guard given.count == 1 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: values.codingPath,
          debugDescription: "must have just one of closeCodes, httpStatuses, system, kind"))
    }
    return given[0]
  }

  private static func range(
    _ key: CodingKeys, in values: KeyedDecodingContainer<CodingKeys>
  ) throws -> ClosedRange<UInt16>? {
    guard let ends = try values.decodeIfPresent([Int].self, forKey: key) else { return nil }
    guard ends.count == 2, ends[0] <= ends[1], let first = UInt16(exactly: ends[0]),
      let last = UInt16(exactly: ends[1])
    else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: values,
        debugDescription: "must be [first, last], each 0 to 65535, first not above last")
    }
    return first...last
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    switch pattern {
    case .closeCodes(let range):
      try values.encode([range.lowerBound, range.upperBound], forKey: .closeCodes)
    case .httpStatuses(let range):
      try values.encode([range.lowerBound, range.upperBound], forKey: .httpStatuses)
    case .system(let error): try values.encode(error, forKey: .system)
    case .kind(let kind): try values.encode(kind, forKey: .kind)
    }
    try values.encode(verdict.failureClass, forKey: .failureClass)
    try values.encodeIfPresent(verdict.retryLimit, forKey: .retryLimit)
    try values.encode(verdict.minimumDelay, forKey: .minimumDelay)
    try values.encode(verdict.spread, forKey: .spread)
    try values.encode(verdict.retriesAtOnce, forKey: .retriesAtOnce)
    try values.encode(verdict.refreshesCredentials, forKey: .refreshesCredentials)
    if verdict.prefersElsewhere { try values.encode(true, forKey: .prefersElsewhere) }
  }
}
