import ConnectionFSM

/// A random walk: inputs of every kind, well and badly timed, current, stale and unheard of.
struct Walk {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// A number below the bound.
  mutating func below(_ bound: Int) -> Int { Int(random.next(through: UInt64(bound - 1))) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// When the next input comes: often at once, often at the deadline, sometimes long after it.
  mutating func instant(for rig: Rig) -> Instant {
    switch below(10) {
    case 0...3: rig.now
    case 4...5: rig.now + .milliseconds(Int64(below(300)))
    case 6: rig.now + .seconds(Int64(below(20)))
    default: max(rig.now, rig.machine.nextDeadline ?? rig.now)
    }
  }

  /// An input that suits the phase more often than not.
  mutating func input(for rig: Rig, lanes: Int) -> Input {
    switch below(100) {
    case 0..<5: return .connect(chance(70) ? here : elsewhere)
    case 5..<7: return .close
    case 7..<25: return .offer(LaneID(UInt8(below(lanes))), byteCount: UInt32(below(40)))
    case 25..<29: return .cancel(message(of: rig, lanes: lanes))
    case 29..<32: return .pathChanged(Path(PathStatus.allCases[below(3)]))
    case 32..<34: return .demandChanged(chance(80))
    case 34..<36: return .lifecycleChanged(chance(70) ? .foreground : Lifecycle.allCases[below(3)])
    case 36..<52: return .deadlineReached
    case 52..<60: return .credentials(epoch(of: rig), credentialsAnswer())
    case 60..<66: return .session(epoch(of: rig), chance(85) ? .ready : .refused(.denied))
    default: return .transport(epoch(of: rig), event(for: rig, lanes: lanes))
    }
  }

  private mutating func credentialsAnswer() -> CredentialsAnswer {
    chance(85) ? .available : chance(80) ? .unavailable : .refused
  }

  private mutating func epoch(of rig: Rig) -> Epoch {
    let dialled = rig.ledger.dials.last?.epoch.rawValue ?? 0
    let newest = max(dialled, rig.ledger.requests.last?.rawValue ?? 0)
    return Epoch(chance(90) ? newest : newest + UInt64(below(3)) &- 1)
  }

  private mutating func message(of rig: Rig, lanes: Int) -> MessageID {
    let lane = LaneID(UInt8(below(lanes)))
    let newest = UInt64(rig.ledger.offered(to: lane))
    return MessageID(lane: lane, sequence: newest &- UInt64(below(12)) &+ 1)
  }

  private mutating func event(for rig: Rig, lanes: Int) -> TransportEvent {
    switch below(20) {
    case 0..<6: .opened
    case 6: .failed(chance(90) ? .lost : .fatal)
    case 7: .closed(chance(50) ? CloseCode(1001) : nil)
    case 8: .received(byteCount: 3)
    case 9: .pong(UInt32(below(3)))
    case 10..<14: .written(through: message(of: rig, lanes: lanes))
    case 14..<18: .acknowledged(through: message(of: rig, lanes: lanes))
    default: .writabilityChanged(chance(70))
    }
  }
}
