import ConnectionFSM
import Testing

@Suite("F54 and F56: what is told of a planned replacement")
struct ReplacementTraceTests {
  /// Replaced after a minute, slow after two of outage, a beat each 20 s that is answered.
  private func policy() throws -> Policy {
    try Policy(
      connectDeadline: .seconds(10), closeDeadline: .seconds(5), drainDeadline: .seconds(5),
      backoff: .exact, minimumDialSpacing: .seconds(1),
      patience: Patience(fastFor: .seconds(120), slowWait: .seconds(300)),
      heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)),
      beat: Beat(interval: .seconds(20), answerTimeout: .seconds(5)), path: .probing,
      sessionDeadline: nil, credentialsDeadline: nil, rollover: Rollover(maxAge: .seconds(60)),
      lanes: [.made(.atMostOnce), .made(.atLeastOnce)])
  }

  /// A machine whose link has reached its age, and whose replacement is dialled as epoch 2.
  private func replacing() throws -> Recorder {
    var rig = Recorder(try policy())
    rig.feed(.connect(here))
    rig.transport(.opened)
    while rig.machine.newestEpoch == Epoch(1), rig.now < .seconds(100) {
      rig.serveDeadline()
      rig.feed(.transport(Epoch(1), .received(byteCount: 1)))
    }
    #expect(rig.machine.newestEpoch == Epoch(2))
    return rig
  }

  @Test("the new link opens, then the old one ends as replaced; no outage, no other attempt")
  func takeOver() throws {
    var rig = try replacing()
    rig.feed(.offerB())
    #expect(rig.transport(.opened).moments == [.opened(Epoch(2))])
    let acknowledged = rig.feed(.transport(Epoch(1), .acknowledged(through: .b(1))))
    #expect(acknowledged.moments == [.messagesEnded(MessageRange(.b(1), .b(1)), .acknowledged)])
    let ended = rig.feed(.transport(Epoch(1), .closed(nil)))
    #expect(ended.moments == [.linkEnded(Epoch(1), .replaced)])
    let found = rig.statistics
    #expect(found.attempts == 2 && found.opens == 2 && found.wishedEnds == 1)
    #expect(found.failures.isEmpty && found.outages.count == 0)
    #expect(found.open.count == 1 && found.open.current == found.open.total)
    // The end of the old link was asked for when its last message was acknowledged.
    #expect(rig.parents.last == acknowledged.sequence)
  }

  @Test("a replacement that fails is an attempt that failed, and the link is open all the while")
  func failure() throws {
    var rig = try replacing()
    #expect(rig.transport(.failed(.lost)).moments == [.attemptFailed(Epoch(2), .lost)])
    #expect(rig.statistics.outages.count == 0)
    #expect(rig.statistics.failures == [.transient: 1])
    #expect(rig.statistics.open.current != nil)
  }

  @Test("a beat's answer measures the round trip and belongs to the step that sent the beat")
  func beat() throws {
    var rig = Recorder(try policy())
    rig.feed(.connect(here))
    rig.transport(.opened)
    let sent = rig.serveDeadline()
    guard case .sendBeat(_, let number) = sent.effects.first else {
      Issue.record("no beat but \(Array(sent.effects))")
      return
    }
    rig.transport(.pong(number), at: rig.now + .milliseconds(40))
    #expect(rig.parents.last == sent.sequence)
    #expect(rig.statistics.roundTrip?.last == .milliseconds(40))
  }

  @Test("in any weather each dial is told once, ends once, and at most two run")
  func anyWeather() throws {
    for seed in 1...60 as ClosedRange<UInt64> {
      var rig = Recorder(try policy(), seed: seed)
      var random = SplitMix64(seed: seed)
      for _ in 1...600 {
        let late = TimeSpan.milliseconds(Int64(random.next(through: 4_000)))
        let input = input(of: rig, using: &random)
        let due = max(rig.now, rig.machine.nextDeadline ?? rig.now)
        rig.feed(input, at: input == .deadlineReached ? due : rig.now + late)
      }
      var running: [Epoch: Bool] = [:]
      for moment in rig.moments {
        switch moment {
        case .attemptStarted(let epoch, _, _):
          #expect(running.updateValue(false, forKey: epoch) == nil)
        case .opened(let epoch): #expect(running.updateValue(true, forKey: epoch) == false)
        case .attemptFailed(let epoch, _): #expect(running.removeValue(forKey: epoch) == false)
        case .linkEnded(let epoch, _): #expect(running.removeValue(forKey: epoch) == true)
        case .waiting, .closed, .messageRejected, .messagesEnded, .ignored: break
        }
        #expect(running.count <= 2, "seed \(seed)")
      }
      let found = rig.statistics
      #expect(found.taken == found.pending + found.ended.values.reduce(0, +), "seed \(seed)")
      let ends = found.wishedEnds + found.failures.values.reduce(0, +)
      #expect(found.attempts == ends + running.count, "seed \(seed)")
      #expect(rig.statistics.opens > 0)
    }
  }

  /// Something that may happen now, more often than not what keeps a link going.
  private func input(of rig: Recorder, using random: inout SplitMix64) -> Input {
    let newestEpoch = rig.machine.newestEpoch
    let isOlder = newestEpoch > Epoch(0) && random.next(through: 2) == 0
    let epoch = isOlder ? Epoch(newestEpoch.rawValue - 1) : newestEpoch
    let lane = LaneID(UInt8(random.next(through: 1)))
    let newest = rig.machine.newestMessage(in: lane) ?? MessageID(lane: lane, sequence: 1)
    switch random.next(through: 19) {
    case 0...6: return .deadlineReached
    case 7...9: return .transport(rig.machine.newestEpoch, .opened)
    case 10: return .transport(epoch, .received(byteCount: 1))
    case 11: return .transport(epoch, .pong(UInt32(random.next(through: 3))))
    case 12: return .transport(epoch, .written(through: newest))
    case 13: return .transport(epoch, .acknowledged(through: newest))
    case 14: return .transport(epoch, .closed(nil))
    case 15: return .transport(epoch, .drainRequested)
    case 16...17: return .offer(lane, byteCount: 3)
    case 18: return .connect(here)
    default:
      return [.close, .drain, .pathChanged(.down), .pathChanged(.up), .connect(elsewhere)][
        Int(random.next(through: 4))]
    }
  }
}
