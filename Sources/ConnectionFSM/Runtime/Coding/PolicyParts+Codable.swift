// The parts of a policy that are structs: every key optional, with the default of its initializer.

extension PathPolicy.Loss: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension PathPolicy.Switch: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Lane.Delivery: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Lane.Admission: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Lane.Overflow: Codable {
  public init(from decoder: any Decoder) throws { self = try decoder.decodeCase() }
  public func encode(to encoder: any Encoder) throws { try encoder.encodeCase(self) }
}

extension Heartbeat: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case interval, timeout, misses, isServerDriven, anyByteCounts, shortestInterval, stretch
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = Heartbeat()
    self = Heartbeat(
      interval: try values.value(.interval, else: defaults.interval),
      timeout: try values.value(.timeout, else: defaults.timeout),
      misses: try values.value(.misses, else: defaults.misses),
      isServerDriven: try values.value(.isServerDriven, else: defaults.isServerDriven),
      anyByteCounts: try values.value(.anyByteCounts, else: defaults.anyByteCounts),
      shortestInterval: try values.optional(.shortestInterval, else: defaults.shortestInterval),
      stretch: try values.value(.stretch, else: defaults.stretch))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(interval, forKey: .interval)
    try values.encode(timeout, forKey: .timeout)
    try values.encode(misses, forKey: .misses)
    try values.encode(isServerDriven, forKey: .isServerDriven)
    try values.encode(anyByteCounts, forKey: .anyByteCounts)
    try values.encode(shortestInterval, forKey: .shortestInterval)
    try values.encode(stretch, forKey: .stretch)
  }
}

extension Beat: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case interval, isImmediate, skipsAfterTraffic, answerTimeout
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = Beat(interval: try values.decode(TimeSpan.self, forKey: .interval))
    self = Beat(
      interval: defaults.interval,
      isImmediate: try values.value(.isImmediate, else: defaults.isImmediate),
      skipsAfterTraffic: try values.value(.skipsAfterTraffic, else: defaults.skipsAfterTraffic),
      answerTimeout: try values.optional(.answerTimeout, else: defaults.answerTimeout))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(interval, forKey: .interval)
    try values.encode(isImmediate, forKey: .isImmediate)
    try values.encode(skipsAfterTraffic, forKey: .skipsAfterTraffic)
    try values.encode(answerTimeout, forKey: .answerTimeout)
  }
}

extension PathPolicy: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case onLoss, onSwitch, suspectTimeout, probeInterval, returnJitter, debounce
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = PathPolicy()
    self = PathPolicy(
      onLoss: try values.value(.onLoss, else: defaults.onLoss),
      onSwitch: try values.value(.onSwitch, else: defaults.onSwitch),
      suspectTimeout: try values.value(.suspectTimeout, else: defaults.suspectTimeout),
      probeInterval: try values.value(.probeInterval, else: defaults.probeInterval),
      returnJitter: try values.value(.returnJitter, else: defaults.returnJitter),
      debounce: try values.value(.debounce, else: defaults.debounce))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(onLoss, forKey: .onLoss)
    try values.encode(onSwitch, forKey: .onSwitch)
    try values.encode(suspectTimeout, forKey: .suspectTimeout)
    try values.encode(probeInterval, forKey: .probeInterval)
    try values.encode(returnJitter, forKey: .returnJitter)
    try values.encode(debounce, forKey: .debounce)
  }
}

extension LifecyclePolicy: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case backgroundGrace, idleGrace
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = LifecyclePolicy()
    self = LifecyclePolicy(
      backgroundGrace: try values.optional(.backgroundGrace, else: defaults.backgroundGrace),
      idleGrace: try values.optional(.idleGrace, else: defaults.idleGrace))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(backgroundGrace, forKey: .backgroundGrace)
    try values.encode(idleGrace, forKey: .idleGrace)
  }
}

extension Rollover: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case maxAge, dither, returnAfter
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = Rollover()
    self = Rollover(
      maxAge: try values.optional(.maxAge, else: defaults.maxAge),
      dither: try values.value(.dither, else: defaults.dither),
      returnAfter: try values.optional(.returnAfter, else: defaults.returnAfter))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(maxAge, forKey: .maxAge)
    try values.encode(dither, forKey: .dither)
    try values.encode(returnAfter, forKey: .returnAfter)
  }
}

extension Pacing: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case burst, interval
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self = Pacing(
      burst: try values.decode(UInt32.self, forKey: .burst),
      interval: try values.decode(TimeSpan.self, forKey: .interval))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(burst, forKey: .burst)
    try values.encode(interval, forKey: .interval)
  }
}

extension RetryBudget: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case burst, interval
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self = RetryBudget(
      burst: try values.decode(UInt32.self, forKey: .burst),
      interval: try values.decode(TimeSpan.self, forKey: .interval))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(burst, forKey: .burst)
    try values.encode(interval, forKey: .interval)
  }
}

extension Patience: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case fastFor, slowWait
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = Patience()
    self = Patience(
      fastFor: try values.value(.fastFor, else: defaults.fastFor),
      slowWait: try values.value(.slowWait, else: defaults.slowWait))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(fastFor, forKey: .fastFor)
    try values.encode(slowWait, forKey: .slowWait)
  }
}

extension Lane: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case delivery, timeToLive, countLimit, byteLimit, overflow, window, highWater, lowWater,
      admission
  }

  public init(from decoder: any Decoder) throws {
    try decoder.rejectUnknownKeys(CodingKeys.self)
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let defaults = Lane(try values.decode(Delivery.self, forKey: .delivery))
    self = Lane(
      defaults.delivery,
      timeToLive: try values.optional(.timeToLive, else: defaults.timeToLive),
      countLimit: try values.value(.countLimit, else: defaults.countLimit),
      byteLimit: try values.value(.byteLimit, else: defaults.byteLimit),
      overflow: try values.value(.overflow, else: defaults.overflow),
      window: try values.value(.window, else: defaults.window),
      highWater: try values.value(.highWater, else: defaults.highWater),
      lowWater: try values.value(.lowWater, else: defaults.lowWater),
      admission: try values.value(.admission, else: defaults.admission))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(delivery, forKey: .delivery)
    try values.encode(timeToLive, forKey: .timeToLive)
    try values.encode(countLimit, forKey: .countLimit)
    try values.encode(byteLimit, forKey: .byteLimit)
    try values.encode(overflow, forKey: .overflow)
    try values.encode(window, forKey: .window)
    if admission != .always { try values.encode(admission, forKey: .admission) }
    guard highWater < .max else { return }
    try values.encode(highWater, forKey: .highWater)
    try values.encode(lowWater, forKey: .lowWater)
  }
}
