// A policy as an object: times in seconds, every key optional with the default of its initializer,
// null for none, unknown keys refused.

extension Policy: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case connectDeadline, connectDeadlineLimit, closeDeadline, drainDeadline
    case backoff, minimumDialSpacing, retryBudget, patience, heartbeat, beat, path, lifecycle
    case shufflesEndpoints, sessionDeadline, resumeWindow, credentialsDeadline, pacing, rollover
    case lanes, overrides
  }

  public convenience init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = try Policy()
    try self.init(
      connectDeadline: values.value(.connectDeadline, else: defaults.connectDeadline),
      connectDeadlineLimit: values.optional(
        .connectDeadlineLimit, else: defaults.connectDeadlineLimit),
      closeDeadline: values.value(.closeDeadline, else: defaults.closeDeadline),
      drainDeadline: values.value(.drainDeadline, else: defaults.drainDeadline),
      backoff: values.value(.backoff, else: defaults.backoff),
      minimumDialSpacing: values.value(.minimumDialSpacing, else: defaults.minimumDialSpacing),
      retryBudget: values.optional(.retryBudget, else: defaults.retryBudget),
      patience: values.optional(.patience, else: defaults.patience),
      heartbeat: values.optional(.heartbeat, else: defaults.heartbeat),
      beat: values.optional(.beat, else: defaults.beat),
      path: values.value(.path, else: defaults.path),
      lifecycle: values.value(.lifecycle, else: defaults.lifecycle),
      shufflesEndpoints: values.value(.shufflesEndpoints, else: defaults.shufflesEndpoints),
      sessionDeadline: values.optional(.sessionDeadline, else: defaults.sessionDeadline),
      resumeWindow: values.optional(.resumeWindow, else: defaults.resumeWindow),
      credentialsDeadline: values.optional(
        .credentialsDeadline, else: defaults.credentialsDeadline),
      pacing: values.optional(.pacing, else: defaults.pacing),
      rollover: values.optional(.rollover, else: defaults.rollover),
      lanes: values.value(.lanes, else: defaults.lanes),
      overrides: values.value(.overrides, else: defaults.overrides))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(connectDeadline, forKey: .connectDeadline)
    try values.encodeIfPresent(connectDeadlineLimit, forKey: .connectDeadlineLimit)
    try values.encode(closeDeadline, forKey: .closeDeadline)
    try values.encode(drainDeadline, forKey: .drainDeadline)
    try values.encode(backoff, forKey: .backoff)
    try values.encode(minimumDialSpacing, forKey: .minimumDialSpacing)
    try values.encodeIfPresent(retryBudget, forKey: .retryBudget)
    try values.encodeIfPresent(patience, forKey: .patience)
    // Null where there is none: an absent key is the default.
    try values.encode(heartbeat, forKey: .heartbeat)
    try values.encodeIfPresent(beat, forKey: .beat)
    try values.encode(path, forKey: .path)
    try values.encode(lifecycle, forKey: .lifecycle)
    if shufflesEndpoints { try values.encode(shufflesEndpoints, forKey: .shufflesEndpoints) }
    try values.encodeIfPresent(sessionDeadline, forKey: .sessionDeadline)
    try values.encodeIfPresent(resumeWindow, forKey: .resumeWindow)
    try values.encodeIfPresent(credentialsDeadline, forKey: .credentialsDeadline)
    try values.encodeIfPresent(pacing, forKey: .pacing)
    try values.encodeIfPresent(rollover, forKey: .rollover)
    try values.encode(lanes, forKey: .lanes)
    if !overrides.isEmpty { try values.encode(overrides, forKey: .overrides) }
  }
}

extension KeyedDecodingContainer {
  func value<Value: Decodable>(_ key: Key, else fallback: Value) throws -> Value {
    try decodeIfPresent(Value.self, forKey: key) ?? fallback
  }

  /// The value, nil for null, the fallback for an absent key.
  func optional<Value: Decodable>(_ key: Key, else fallback: Value?) throws -> Value? {
    contains(key) ? try decodeIfPresent(Value.self, forKey: key) : fallback
  }
}
