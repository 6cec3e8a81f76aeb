// A policy as an object: times in seconds, every key optional with the default of its initializer,
// null for none, unknown keys refused.

extension Policy: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case connectDeadline, closeDeadline, backoff, minimumDialSpacing, heartbeat, path
    case sessionDeadline, credentialsDeadline, lanes, overrides
  }

  public convenience init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = try Policy()
    try self.init(
      connectDeadline: values.value(.connectDeadline, else: defaults.connectDeadline),
      closeDeadline: values.value(.closeDeadline, else: defaults.closeDeadline),
      backoff: values.value(.backoff, else: defaults.backoff),
      minimumDialSpacing: values.value(.minimumDialSpacing, else: defaults.minimumDialSpacing),
      heartbeat: values.contains(.heartbeat)
        ? values.decodeIfPresent(Heartbeat.self, forKey: .heartbeat) : defaults.heartbeat,
      path: values.value(.path, else: defaults.path),
      sessionDeadline: values.decodeIfPresent(TimeSpan.self, forKey: .sessionDeadline),
      credentialsDeadline: values.decodeIfPresent(TimeSpan.self, forKey: .credentialsDeadline),
      lanes: values.value(.lanes, else: defaults.lanes),
      overrides: values.value(.overrides, else: defaults.overrides))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(connectDeadline, forKey: .connectDeadline)
    try values.encode(closeDeadline, forKey: .closeDeadline)
    try values.encode(backoff, forKey: .backoff)
    try values.encode(minimumDialSpacing, forKey: .minimumDialSpacing)
    try values.encode(heartbeat, forKey: .heartbeat)
    try values.encode(path, forKey: .path)
    try values.encodeIfPresent(sessionDeadline, forKey: .sessionDeadline)
    try values.encodeIfPresent(credentialsDeadline, forKey: .credentialsDeadline)
    try values.encode(lanes, forKey: .lanes)
    if !overrides.isEmpty { try values.encode(overrides, forKey: .overrides) }
  }
}

extension PathPolicy.Loss: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Lane.Delivery: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Lane.Overflow: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Heartbeat: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable { case interval, timeout }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = Heartbeat()
    self = Heartbeat(
      interval: try values.value(.interval, else: defaults.interval),
      timeout: try values.value(.timeout, else: defaults.timeout))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(interval, forKey: .interval)
    try values.encode(timeout, forKey: .timeout)
  }
}

extension PathPolicy: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case onLoss, suspectTimeout, probeInterval, returnJitter
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = PathPolicy()
    self = PathPolicy(
      onLoss: try values.value(.onLoss, else: defaults.onLoss),
      suspectTimeout: try values.value(.suspectTimeout, else: defaults.suspectTimeout),
      probeInterval: try values.value(.probeInterval, else: defaults.probeInterval),
      returnJitter: try values.value(.returnJitter, else: defaults.returnJitter))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(onLoss, forKey: .onLoss)
    try values.encode(suspectTimeout, forKey: .suspectTimeout)
    try values.encode(probeInterval, forKey: .probeInterval)
    try values.encode(returnJitter, forKey: .returnJitter)
  }
}

extension Lane: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case delivery, timeToLive, countLimit, byteLimit, overflow, window
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = Lane(try values.decode(Delivery.self, forKey: .delivery))
    self = Lane(
      defaults.delivery,
      timeToLive: values.contains(.timeToLive)
        ? try values.decodeIfPresent(TimeSpan.self, forKey: .timeToLive) : defaults.timeToLive,
      countLimit: try values.value(.countLimit, else: defaults.countLimit),
      byteLimit: try values.value(.byteLimit, else: defaults.byteLimit),
      overflow: try values.value(.overflow, else: defaults.overflow),
      window: try values.value(.window, else: defaults.window))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(delivery, forKey: .delivery)
    try values.encode(timeToLive, forKey: .timeToLive)
    try values.encode(countLimit, forKey: .countLimit)
    try values.encode(byteLimit, forKey: .byteLimit)
    try values.encode(overflow, forKey: .overflow)
    try values.encode(window, forKey: .window)
  }
}

extension KeyedDecodingContainer {
  func value<Value: Decodable>(_ key: Key, else fallback: Value) throws -> Value {
    try decodeIfPresent(Value.self, forKey: key) ?? fallback
  }
}
