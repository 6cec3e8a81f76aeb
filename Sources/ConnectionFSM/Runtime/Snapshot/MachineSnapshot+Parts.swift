// The parts of a machine as objects.

extension Machine.Run: FactList {
  static let facts: [Fact<Machine.Run>] = [
    Fact("lastWait", \.lastWait), Fact("spent", \.spent), Fact("notBefore", \.notBefore),
    Fact("failingSince", \.failingSince), Fact("attempts", \.attempts),
    Fact("networkFailures", \.networkFailures), Fact("otherFailures", \.otherFailures),
    Fact("cappedRetries", \.cappedRetries), Fact("connectTimeouts", \.connectTimeouts),
    Fact("endpointsTried", \.endpointsTried), Fact("refreshedCredentials", \.refreshedCredentials),
    Fact("isSlow", \.isSlow),
  ]
}

extension Machine.Surroundings: FactList {
  static let facts: [Fact<Machine.Surroundings>] = [
    Fact("reportedAt", \.reportedAt), Fact("lifecycleSince", \.lifecycleSince),
    Fact("demandSince", \.demandSince), Fact("path", \.path), Fact("reportedPath", \.reportedPath),
    Fact("lifecycle", \.lifecycle), Fact("demand", \.demand),
  ]
}

extension Machine.Endpoints: FactList {
  static let facts: [Fact<Machine.Endpoints>] = [
    Fact("first", \.first), Fact("count", \.count), Fact("turn", \.turn), Fact("start", \.start),
    Fact("stride", \.stride),
  ]
}

extension Machine.Plans: FactList {
  static let facts: [Fact<Machine.Plans>] = [
    Fact("beatAt", \.beatAt), Fact("burstAt", \.burstAt), Fact("replaceAt", \.replaceAt),
    Fact("sentAtBeat", \.sentAtBeat), Fact("turn", \.turn),
    Fact("avoidsEndpoint", \.avoidsEndpoint), Fact("isReplacementDrawn", \.isReplacementDrawn),
    Fact("failedReplacements", \.failedReplacements),
  ]
}

// MARK: Links

/// What a link is made with stands beside the table.
extension Machine.Link: PlainFactValue {
  private static let facts: [Fact<Machine.Link>] = [
    Fact("heardAt", \.heardAt), Fact("askedAt", \.askedAt), Fact("lastPing", \.lastPing),
    Fact("writable", \.writable), Fact("suspect", \.suspect), Fact("probedLate", \.probedLate),
    Fact("question", \.question), Fact("missed", \.missed), Fact("ending", \.ending),
  ]

  private static let fixed = ["epoch", "stage", "since", "counted", "connectTimeouts"]

  public init(from decoder: any Decoder) throws {
    let reader = try FactReader(decoder, known: Self.fixed + Self.facts.map(\.name))
    self.init(
      epoch: try reader.require("epoch"), stage: try reader.require("stage"),
      at: try reader.require("since"), pathIsDown: !(try reader.require("counted")),
      connectTimeouts: try reader.read(UInt8.self, "connectTimeouts") ?? 0)
    for fact in Self.facts { try fact.read(&self, reader) }
  }

  public func encode(to encoder: any Encoder) throws {
    var writer = FactWriter(encoder)
    try writer.write(epoch, "epoch")
    try writer.write(stage, "stage")
    try writer.write(since, "since")
    try writer.write(isCounted, "counted")
    if connectTimeouts > 0 { try writer.write(connectTimeouts, "connectTimeouts") }
    let rest = Machine.Link(
      epoch: epoch, stage: stage, at: since, pathIsDown: !isCounted,
      connectTimeouts: connectTimeouts)
    for fact in Self.facts { try fact.write(self, rest, &writer) }
  }
}

// MARK: States

/// {"name": "backingOff", "until": …, "tier": "fast"}
extension Machine.State: PlainFactValue {
  private enum Name: CaseIterable, NamedFactValue {
    case idle, offline, backingOff, waitingForCredentials, suspended, linked, closed
  }

  public init(from decoder: any Decoder) throws {
    let known = ["name", "since", "until", "tier", "hold", "cause", "reason"]
    let facts = try FactReader(decoder, known: known)
    let name: Name = try facts.require("name")
    switch name {
    case .idle: self = .idle
    case .offline: self = .offline(Machine.Offline(since: try facts.require("since")))
    case .backingOff:
      self = .backingOff(
        Machine.BackingOff(until: try facts.require("until"), tier: try facts.require("tier")))
    case .waitingForCredentials:
      self = .waitingForCredentials(
        Machine.WaitingForCredentials(since: try facts.require("since")))
    case .suspended: self = .suspended(Machine.Suspended(hold: try facts.require("hold")))
    case .linked: self = .linked
    case .closed:
      self = .closed(
        Machine.Closed(cause: try facts.require("cause"), reason: try facts.require("reason")))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var writer = FactWriter(encoder)
    switch self {
    case .idle: try writer.write(Name.idle, "name")
    case .offline(let offline):
      try writer.write(Name.offline, "name")
      try writer.write(offline.since, "since")
    case .backingOff(let wait):
      try writer.write(Name.backingOff, "name")
      try writer.write(wait.until, "until")
      try writer.write(wait.tier, "tier")
    case .waitingForCredentials(let wait):
      try writer.write(Name.waitingForCredentials, "name")
      try writer.write(wait.since, "since")
    case .suspended(let suspended):
      try writer.write(Name.suspended, "name")
      try writer.write(suspended.hold, "hold")
    case .linked: try writer.write(Name.linked, "name")
    case .closed(let closed):
      try writer.write(Name.closed, "name")
      try writer.write(closed.cause, "cause")
      try writer.write(closed.reason, "reason")
    }
  }
}

// MARK: Lanes

extension LaneQueue.Kept: FactList {
  static let facts: [Fact<LaneQueue.Kept>] = [
    Fact("newest", \.newest), Fact("sent", \.sentThrough), Fact("inFlight", \.inFlight),
    Fact("fliesOnOldLink", \.fliesOnOldLink), Fact("isPressed", \.isPressed),
    Fact("messages", \.messages),
  ]

  /// The live messages as one flat list, since there may be thousands.
  fileprivate var messages: EntryNumbers {
    get { EntryNumbers(entries: entries) }
    set { entries = newValue.entries }
  }
}

/// Three numbers a message: how far its sequence is above the one before it, how many nanoseconds
/// later it was offered, how many bytes it has.
private struct EntryNumbers: FactValue {
  var entries: [LaneQueue.Entry]

  init(entries: [LaneQueue.Entry]) { self.entries = entries }

  var raw: [Int64] {
    var numbers: [Int64] = []
    numbers.reserveCapacity(entries.count * 3)
    var (sequence, time) = (UInt64(0), Int64(0))
    for entry in entries {
      let (next, offeredAt) = (entry.id.sequence, entry.offeredAt.nanoseconds)
      numbers += [Int64(next - sequence), offeredAt - time, Int64(entry.byteCount)]
      (sequence, time) = (next, offeredAt)
    }
    return numbers
  }

  init(raw numbers: [Int64]) throws {
    guard numbers.count % 3 == 0 else {
      throw FactProblem(text: "must be three numbers a message: sequence, time, bytes")
    }
    entries = []
    entries.reserveCapacity(numbers.count / 3)
    var (sequence, time) = (Int64(0), Int64(0))
    for place in stride(from: 0, to: numbers.count, by: 3) {
      let next = sequence.addingReportingOverflow(numbers[place])
      let offeredAt = time.addingReportingOverflow(numbers[place + 1])
      guard let byteCount = UInt32(exactly: numbers[place + 2]), numbers[place] > 0,
        numbers[place + 1] >= 0, !next.overflow, !offeredAt.overflow
      else {
        throw FactProblem(text: "message \(place / 3 + 1): sequence, time or bytes cannot be")
      }
      (sequence, time) = (next.partialValue, offeredAt.partialValue)
      let id = MessageID(lane: LaneID(0), sequence: UInt64(sequence))
      entries.append(
        LaneQueue.Entry(id: id, offeredAt: Instant(nanoseconds: time), byteCount: byteCount))
    }
  }
}
