import ConnectionFSM

/// Judges the trace of a connection as it comes: by the machine's own referee, and by what its
/// links have seen.
struct StreamJudge {
  private var judge: TraceJudge
  private var count: UInt64 = 0
  // Looked up, never walked through.
  private var links: [Epoch: LinkWatch] = [:]
  private var dials = 0
  /// The messages that were taken and have no end, by lane.
  private var live: [[MessageID]]
  /// What the consumers of states are to hear.
  private(set) var states: [Explanation] = []
  private(set) var phase = Phase.idle

  init(policy: Policy, seed: UInt64) {
    judge = TraceJudge(policy: policy, seed: seed)
    live = Array(repeating: [], count: policy.lanes.count)
  }

  /// Judges the next step, after its effects.
  mutating func judge(_ record: TraceRecord, _ watches: LinkWatches) throws(Violation) {
    count += 1
    guard record.sequence == count else {
      throw Violation("I17", "step \(record.sequence) was told as the \(count).: inside another")
    }
    try judge.judge(record)
    phase = record.to
    if case .transport(let epoch, let event) = record.input, let link = links[epoch] {
      try link.judge(event, at: record.instant)
    }
    if case .taken(let id) = record.disposition { live[Int(id.lane.rawValue)].append(id) }
    for effect in record.effects { try judge(effect, at: record.instant, watches) }
    if record.changesState { states.append(record.explanation) }
  }

  private mutating func judge(
    _ effect: Effect, at now: Instant, _ watches: LinkWatches
  ) throws(Violation) {
    switch effect {
    case .openTransport(let epoch, _):
      guard dials < watches.all.count else {
        throw Violation("I9", "\(epoch) was to be dialled at \(now) and was not")
      }
      links[epoch] = watches.all[dials]
      dials += 1
    case .abortTransport(let epoch):
      guard links[epoch]?.isLetGo == true else {
        throw Violation("I18", "\(epoch) was aborted at \(now), and its stream was not let go of")
      }
    case .transmit(let epoch, let range):
      for id in live[Int(range.first.lane.rawValue)] where range.contains(id) {
        guard let link = links[epoch], link.has(id) || link.isLetGo else {
          throw Violation("I11", "\(id) was to be sent on \(epoch) at \(now), and was not")
        }
      }
    case .settle(let range, _):
      live[Int(range.first.lane.rawValue)].removeAll { range.contains($0) }
    case .requestCredentials, .startSession, .closeTransport, .sendPing, .sendBeat, .ended,
      .pressureChanged:
      break
    }
  }

  /// How many transports the machine believes to be live.
  var liveTransports: Int { judge.liveTransports }
}

extension TraceRecord {
  /// Whether the phase or the link that counts has changed.
  fileprivate var changesState: Bool {
    if from != to || openBefore != openAfter { return true }
    // A dial made anew while another one was on its way.
    return to == .connecting
      && effects.contains { if case .openTransport = $0 { true } else { false } }
  }
}
