import ConnectionFSM
import Foundation
import Testing

@Suite("F56: the snapshot of a machine")
struct MachineSnapshotTests {
  private static func written(_ snapshot: MachineSnapshot) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return try encoder.encode(snapshot)
  }

  private static func read(_ bytes: Data) throws -> MachineSnapshot {
    try JSONDecoder().decode(MachineSnapshot.self, from: bytes)
  }

  @Test("a machine restored at any step of a life equals the one it was made of and goes on alike")
  func lives() throws {
    var standbys = 0
    var phases: Set<Phase> = []
    for seed in 1...60 as ClosedRange<UInt64> {
      var walk = try SnapshotWalk(seed: seed)
      for step in 1...500 {
        var snapshot = MachineSnapshot(walk.machine)
        if step % 5 == 0 { snapshot = try Self.read(Self.written(snapshot)) }
        let restored = try Machine(restoring: snapshot, policy: walk.machine.policy)
        try #require(restored == walk.machine, "seed \(seed), step \(step)")
        let next = walk.next()
        let (twin, disposition, effects) = try walk.fed(next, to: restored)
        let made = try walk.take(next)
        try #require(disposition == made.0 && effects == made.1, "seed \(seed), step \(step)")
        try #require(twin == walk.machine, "seed \(seed), step \(step)")
        if walk.machine.standby != nil { standbys += 1 }
        phases.insert(walk.machine.phase)
      }
    }
    #expect(standbys > 500)
    #expect(phases == Set(Phase.allCases))
  }

  @Test("a machine at rest takes a few bytes")
  func small() throws {
    let machine = Machine(policy: try .made(), seed: 5)
    let text = String(decoding: try Self.written(MachineSnapshot(machine)), as: UTF8.self)
    #expect(text == #"{"random":5}"#)
  }

  @Test("I21: ten thousand waiting messages take at most sixteen bytes each, with all their facts")
  func large() throws {
    let lane = Lane(.atLeastOnce, timeToLive: .seconds(900), countLimit: 10_000, window: 5)
    var machine = Machine(policy: try .made(lanes: [lane]), seed: 1)
    var effects = Effects()
    for place in 0..<10_000 as Range<Int64> {
      // Of an odd nanosecond, as a real clock gives them.
      let now = Instant(nanoseconds: place * 1_234_567 + place * place)
      _ = machine.handle(.offer(LaneID(0), byteCount: 211), at: now, into: &effects)
    }
    let bytes = try Self.written(MachineSnapshot(machine))
    #expect(bytes.count < 160_300, "\(bytes.count)")
    #expect(try Machine(restoring: Self.read(bytes), policy: machine.policy) == machine)
  }

  /// A machine with an open link, and messages in flight and waiting.
  private func open() throws -> Machine {
    let lane = Lane.made(.atLeastOnce, countLimit: 5, byteLimit: 50, window: 2)
    var recorder = Recorder(try .made(lanes: [lane]))
    recorder.feed(.connect(here))
    recorder.transport(.opened, at: .seconds(1))
    for _ in 0..<3 { recorder.feed(.offer(LaneID(0), byteCount: 9)) }
    return recorder.machine
  }

  @Test("what an open link with messages leaves behind reads as it is documented")
  func text() throws {
    let text = String(decoding: try Self.written(MachineSnapshot(open())), as: UTF8.self)
    #expect(
      text == """
        {"dialledAt":0,"epoch":1,"lanes":[{"inFlight":2,"messages":\
        [1,1000000000,9,1,0,9,1,0,9],"newest":3,"sent":2}],"link":{"counted":true,"epoch":1,\
        "since":1000000000,"stage":"open"},"now":1000000000,"random":1,"run":{"attempts":1},\
        "state":{"name":"linked"},"wanted":true}
        """)
  }

  @Test(
    "a fact that cannot be is refused with its place",
    arguments: [
      (#""now":1000000000"#, #""now":-1"#, "now: must be from 0"),
      (#""now":1000000000"#, #""now":999999999"#, "now: must not be before what has happened"),
      (#""wanted":true"#, #""wnted":true"#, "is unknown; known are now, epoch, "),
      (#""counted":true,"#, "", "counted"),
      (#""open""#, #""opn""#, "unknown value “opn”; known are authorizing, connecting"),
      (#""name":"linked""#, #""name":"idle""#, "a link exists exactly while the state is linked"),
      (#""name":"linked""#, #""name":"offline""#, "since"),
      (#""wanted":true"#, #""wanted":false"#, "I1: a link that nobody wants"),
      (#""epoch":1,"lanes""#, #""epoch":0,"lanes""#, "I2: an epoch from the future"),
      (#""inFlight":2"#, #""inFlight":4"#, "inFlight: there are more than there are messages"),
      (#""inFlight":2"#, #""inFlight":3"#, "inFlight: what flies was sent"),
      (#""inFlight":2"#, #""inFlight":1"#, "I11: a message waits for a link that takes it"),
      (#""sent":2"#, #""sent":4"#, "sent: no message above the newest"),
      (#""newest":3"#, #""newest":2"#, "messages: must rise, up to the newest"),
      (#"1,0,9]"#, #"1,0]"#, "must be three numbers a message"),
      (#"1,0,9]"#, #"0,0,9]"#, "message 3: sequence, time or bytes cannot be"),
      (#"1,0,9]"#, #"1,-1,9]"#, "message 3: sequence, time or bytes cannot be"),
      (#"1,0,9]"#, #"1,9223372036854775807,9]"#, "message 3: sequence, time or bytes cannot be"),
      (#"1,0,9]"#, #"1,0,4294967296]"#, "message 3: sequence, time or bytes cannot be"),
      (#"1,0,9]"#, #"1,0,33]"#, "messages: have more bytes than the lane's byteLimit"),
      (
        #"1,0,9]"#, #"1,0,0,1,0,0,1,0,0,1,0,0]"#,
        "messages: there are more than the lane's countLimit"
      ),
      (#"{"inFlight""#, #"{"newest":1},{"inFlight""#, "must be as many as the policy has"),
      (#""run":{"#, #""cause":"tired","run":{"#, "“tired”: unknown cause “tired”"),
      (#""run":{"#, #""surroundings":{"path":"up if0"},"run":{"#, "the interface must be"),
      (#""run":{"#, #""run":{"spent":-1,"#, "must not be negative"),
      (#""run":{"#, #""endpoints":{"count":0},"run":{"#, "endpoints: turn, start and stride must"),
      (#""run":{"#, #""endpoints":{"count":4,"stride":2},"run":{"#, "endpoints: turn, start and"),
    ])
  func refused(found: String, replacement: String, problem: String) throws {
    let machine = try open()
    let text = String(decoding: try Self.written(MachineSnapshot(machine)), as: UTF8.self)
    #expect(text.contains(found))
    let damaged = text.replacing(found, with: replacement)
    let error = #expect(throws: (any Error).self) {
      try Machine(restoring: Self.read(Data(damaged.utf8)), policy: machine.policy)
    }
    #expect("\(try #require(error))".contains(problem), "\(String(describing: error))")
  }

  @Test("whatever number stands in a snapshot, it is refused or leads to a machine that goes on")
  func numbers() throws {
    var random = SplitMix64(seed: 9)
    var (refused, restored) = (0, 0)
    for seed in 1...40 as ClosedRange<UInt64> {
      var walk = try SnapshotWalk(seed: seed)
      for _ in 1...200 {
        _ = try walk.take(walk.next())
        let text = String(decoding: try Self.written(MachineSnapshot(walk.machine)), as: UTF8.self)
        let damaged = Self.damaged(text, &random)
        guard let snapshot = try? Self.read(Data(damaged.utf8)),
          var machine = try? Machine(restoring: snapshot, policy: walk.machine.policy)
        else {
          refused += 1
          continue
        }
        restored += 1
        for _ in 1...12 { (machine, _, _) = try walk.fed(walk.next(), to: machine) }
      }
    }
    #expect(refused > 500 && restored > 500, "\(refused) refused, \(restored) restored")
  }

  /// The text with one of its numbers replaced.
  private static func damaged(_ text: String, _ random: inout SplitMix64) -> String {
    let numbers = text.ranges(of: /-?[0-9]+/)
    let others = [
      "0", "1", "2", "255", "65535", "4294967295", "9223372036854775807", "-9223372036854775808",
      "18446744073709551615",
    ]
    let place = Int(random.next(through: UInt64(numbers.count - 1)))
    let other = others[Int(random.next(through: UInt64(others.count - 1)))]
    return text.replacingCharacters(in: numbers[place], with: other)
  }
}
