import ConnectionFSM
import Foundation
import Testing

@Suite("Replay of a recorded run")
struct ReplayTests {
  /// Sessions, credentials, beats, replacement, pacing: whatever has deadlines and dice.
  static func policy(heartbeat: TimeSpan = .seconds(6)) throws -> Policy {
    try Policy(
      connectDeadline: .seconds(4), connectDeadlineLimit: .seconds(16), closeDeadline: .seconds(2),
      drainDeadline: .seconds(3),
      backoff: Backoff(
        first: .milliseconds(500), base: .milliseconds(300), cap: .seconds(8), jitter: .full,
        stability: .seconds(3), attemptLimit: 9),
      minimumDialSpacing: .milliseconds(600),
      retryBudget: RetryBudget(burst: 5, interval: .seconds(10)),
      patience: Patience(fastFor: .seconds(40), slowWait: .seconds(60)),
      heartbeat: Heartbeat(interval: heartbeat, timeout: .seconds(2)),
      beat: Beat(interval: .seconds(9), answerTimeout: .seconds(5)), path: .probing,
      lifecycle: LifecyclePolicy(backgroundGrace: .seconds(5), idleGrace: .seconds(5)),
      shufflesEndpoints: true, sessionDeadline: .seconds(3), resumeWindow: .seconds(20),
      credentialsDeadline: .seconds(3), rollover: Rollover(maxAge: .seconds(30)),
      lanes: [
        .made(.atMostOnce, timeToLive: .seconds(4), countLimit: 6, window: 2),
        .made(.atLeastOnce, countLimit: 8, overflow: .dropOldest, window: 3),
      ])
  }

  /// What was recorded of a random life, its policy replaced now and then.
  static func life(seed: UInt64) throws -> (Recorder, [TraceLine]) {
    var recorder = Recorder(try policy(), seed: seed)
    var random = SplitMix64(seed: seed)
    for step in 1...400 {
      let late = TimeSpan.milliseconds(Int64(random.next(through: 2_000)))
      if step % 90 == 0 {
        let silence = TimeSpan.seconds(Int64(3 + random.next(through: 9)))
        try recorder.adopt(policy(heartbeat: silence), at: recorder.now + late)
        continue
      }
      let input = Self.input(of: recorder, using: &random)
      let due = max(recorder.now, recorder.machine.nextDeadline ?? recorder.now)
      recorder.feed(input, at: input == .deadlineReached ? due : recorder.now + late)
    }
    return (recorder, recorder.lines)
  }

  /// Something that suits, or anything there is.
  private static func input(of rig: Recorder, using random: inout SplitMix64) -> Input {
    let epoch = rig.machine.newestEpoch
    let lane = LaneID(UInt8(random.next(through: 1)))
    switch (random.next(through: 9), rig.machine.phase) {
    case (0...5, .waitingForCredentials): return .credentials(epoch, .available)
    case (0...5, .connecting): return .transport(epoch, .opened)
    case (0...5, .authenticating):
      return .session(epoch, random.next(through: 3) == 0 ? .resumed : .ready)
    case (0...5, .closed), (0...5, .suspended):
      return [.connect(here, count: 3), .demandChanged(true), .lifecycleChanged(.foreground)][
        Int(random.next(through: 2))]
    case (0...4, _): return .deadlineReached
    case (5...7, _): return .offer(lane, byteCount: UInt32(random.next(through: 40)))
    case (8, _):
      let newest = rig.machine.newestMessage(in: lane) ?? MessageID(lane: lane, sequence: 1)
      return .transport(epoch, .acknowledged(through: newest))
    default: return AnyInput.drawn(&random)
    }
  }

  @Test("a recorded life replays without a difference, policies replaced on the way and all")
  func lives() throws {
    var opens = 0
    for seed in 1...60 as ClosedRange<UInt64> {
      let (recorder, lines) = try Self.life(seed: seed)
      var replay = try Replay(TraceHeader(policy: Self.policy(), seed: seed))
      #expect(replay.otherVersion == nil)
      var statistics = Statistics()
      for (line, record) in zip(lines, recorder.records) {
        let replayed = try replay.next(line)
        #expect(replayed.effects == record.effects && replayed.moments == record.moments)
        statistics.add(replayed)
      }
      #expect(statistics == recorder.statistics, "seed \(seed)")
      opens += statistics.opens
    }
    #expect(opens > 100)
  }

  @Test("another seed than the recorded one is found out at the first wait that was drawn")
  func otherSeed() throws {
    let backoff = Backoff(
      first: .seconds(4), base: .seconds(4), cap: .seconds(60), jitter: .full,
      stability: .seconds(10))
    let policy = try Policy.made(backoff: backoff, spacing: .zero)
    var recorder = Recorder(policy, seed: 3)
    recorder.feed(.connect(here))
    recorder.serveDeadline()
    var replay = try Replay(TraceHeader(policy: policy, seed: 4))
    let difference = try #require(Self.firstDifference(of: recorder.lines, by: &replay))
    #expect(difference.recorded.sequence == 2 && difference.replayed.sequence == 2)
    #expect(difference.fields.map(\.name) == ["nextDeadline", "until"])
  }

  private static func firstDifference(
    of lines: [TraceLine], by replay: inout Replay
  ) throws -> ReplayDifference? {
    for line in lines {
      do throws(ReplayError) { _ = try replay.next(line) } catch {
        guard case .different(let difference) = error else { throw error }
        return difference
      }
    }
    return nil
  }

  /// Two dials, the first of which times out.
  private func short() throws -> Recorder {
    var recorder = Recorder(try .made(), seed: 1)
    recorder.feed(.connect(here))
    recorder.serveDeadline()
    recorder.serveDeadline()
    recorder.transport(.opened, at: recorder.now + .milliseconds(30))
    return recorder
  }

  @Test("another policy differs at the first step that it decides, and names each field")
  func otherPolicy() throws {
    let recorder = try short()
    let policy = try Policy.made(connectDeadline: .seconds(11))
    var replay = try Replay(TraceHeader(policy: policy, seed: 1))
    let difference = try #require(Self.firstDifference(of: recorder.lines, by: &replay))
    #expect(difference.recorded == recorder.lines[0])
    #expect(
      difference.description
        == "step 1 differs: nextDeadline: recorded 10.000, replayed 11.000; "
        + "until: recorded 10.000, replayed 11.000")
  }

  @Test(
    "a field that was changed in the recording is named",
    arguments: [
      ("disposition", "accepted", "ignored early"), ("to", "backingOff", "open"),
      ("effects", "abort #1", "abort #2"), ("cause", "timedOut(connect)", "replaced"),
      ("waitsFor", "retry", "network"),
    ])
  func changedField(name: String, old: String, new: String) throws {
    let recorder = try short()
    var replay = try Replay(TraceHeader(policy: .made(), seed: 1))
    _ = try replay.next(recorder.lines[0])
    let changed = try recorder.lines[1].changed { text in
      let place = try #require(text.range(of: "\"\(name)\":"))
      let value = try #require(text.range(of: old, range: place.upperBound..<text.endIndex))
      text.replaceSubrange(value, with: new)
    }
    let error = #expect(throws: ReplayError.self) { try replay.next(changed) }
    guard case .different(let difference)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(difference.fields.map(\.name) == [name])
    #expect(difference.fields[0].recorded.contains(new))
    #expect(difference.fields[0].replayed.contains(old))
  }

  @Test("a recording that begins later is refused with the reason")
  func part() throws {
    var replay = try Replay(TraceHeader(policy: .made(), seed: 1))
    let line = try short().lines[2]
    let error = #expect(throws: ReplayError.self) { try replay.next(line) }
    guard case .beginsLater(3)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.description.contains("begins with step 3, and its header does not say") == true)
  }

  @Test("a step that is missing is named, and one that is there twice")
  func gaps() throws {
    let lines = try short().lines
    for wrong in [0, 2] {
      var replay = try Replay(TraceHeader(policy: .made(), seed: 1))
      _ = try replay.next(lines[0])
      let error = #expect(throws: ReplayError.self) { try replay.next(lines[wrong]) }
      #expect(error?.description.hasPrefix("is step \(wrong + 1) where step 2 must be") == true)
    }
  }

  @Test("an input that cannot be read is named")
  func unreadable() throws {
    var replay = try Replay(TraceHeader(policy: .made(), seed: 1))
    let line = try short().lines[0].changed { $0.replace("connect @0", with: "connect 0") }
    let error = #expect(throws: ReplayError.self) { try replay.next(line) }
    #expect(error?.description == "input: “connect 0”: must have “ @” before “ 0”")
  }

  @Test("a policy that was replaced must be in its line, with the lanes there are")
  func replacedPolicy() throws {
    var recorder = Recorder(try .made(), seed: 1)
    try recorder.adopt(.made(connectDeadline: .seconds(3)))
    let line = recorder.lines[0]
    var replay = try Replay(TraceHeader(policy: .made(), seed: 1))
    let without = try line.changed { $0.replace("\"policy\":{", with: "\"other\":{") }
    #expect(without.policy == nil)
    let missing = #expect(throws: ReplayError.self) { try replay.next(without) }
    #expect(missing?.description == "policy: is missing, and this step replaced it")
    replay = try Replay(TraceHeader(policy: .made(lanes: [.made(.atMostOnce)]), seed: 1))
    let lanes = #expect(throws: ReplayError.self) { try replay.next(line) }
    #expect(
      lanes?.description == "policy: lanes: must be those the connection was made with")
    replay = try Replay(TraceHeader(policy: .made(), seed: 1))
    _ = try replay.next(line)
  }

  @Test("a header of another version says so, and one of another format is refused")
  func versions() throws {
    let header = TraceHeader(policy: try .made(), seed: 1)
    let older = try header.changed { $0.replace(packageVersion, with: "0.0.9") }
    #expect(try Replay(older).otherVersion == "0.0.9")
    let newer = try header.changed { $0.replace("\"format\":1", with: "\"format\":2") }
    let error = #expect(throws: ReplayError.self) { try Replay(newer) }
    #expect(error?.description.hasPrefix("format 2 is not the one") == true)
  }
}

extension Encodable where Self: Decodable {
  /// The value after a change of its JSON.
  fileprivate func changed(_ change: (inout String) throws -> Void) throws -> Self {
    var text = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    let before = text
    try change(&text)
    try #require(text != before)
    return try JSONDecoder().decode(Self.self, from: Data(text.utf8))
  }
}
