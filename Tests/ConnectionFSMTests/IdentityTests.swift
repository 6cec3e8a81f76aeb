import ConnectionFSM
import Testing

@Suite("Identity")
struct IdentityTests {
  @Test(
    "a message id keeps its lane and its sequence",
    arguments: [
      0, 1, 2, 1000, 1 << 32, 1 << 62 - 1,
    ] as [UInt64])
  func packs(sequence: UInt64) {
    for lane in 0..<4 as Range<UInt8> {
      let id = MessageID(lane: LaneID(lane), sequence: sequence)
      #expect(id.lane == LaneID(lane))
      #expect(id.sequence == sequence)
    }
  }

  @Test("ids order by lane, then by sequence, in one word")
  func order() {
    #expect(MessageID.a(1) < .a(2))
    #expect(MessageID.a(1 << 62 - 1) < .b(0))
    #expect(MessageLayout.size == 8)
  }

  private enum MessageLayout {
    static let size = MemoryLayout<MessageID>.size
  }

  @Test("a range names its ends and what is between, of its lane alone")
  func range() {
    let range = MessageRange(.a(3), .a(5))
    #expect(range.contains(.a(3)) && range.contains(.a(4)) && range.contains(.a(5)))
    #expect(!range.contains(.a(2)) && !range.contains(.a(6)) && !range.contains(.b(4)))
  }

  @Test("epochs order by number")
  func epochs() {
    #expect(Epoch(1) < Epoch(2))
    #expect(Epoch(2).rawValue == 2)
    #expect(EndpointID(7).rawValue == 7)
  }

  @Test("equal values hash alike")
  func hashes() {
    #expect(Set([MessageID.a(1), .a(1), .b(1)]).count == 2)
    #expect(Set([Epoch(1), Epoch(1)]).count == 1)
    #expect(Set([MessageRange(.a(1), .a(2)), MessageRange(.a(1), .a(2))]).count == 1)
    #expect(Set([Input.close, .close, .deadlineReached]).count == 2)
    #expect(
      Set([
        Effect.startSession(Epoch(1), resuming: false), .startSession(Epoch(2), resuming: false),
      ]).count == 2)
  }
}

@Suite("Effects buffer")
struct EffectsTests {
  private func dialled() throws -> (Machine, Effects) {
    var machine = Machine(policy: try Policy.made(), seed: 1)
    var effects = Effects()
    machine.handle(.connect(here), at: .origin, into: &effects)
    return (machine, effects)
  }

  @Test("it begins empty and holds 32")
  func empty() {
    let effects = Effects()
    #expect(effects.isEmpty)
    #expect(effects.count == 0)
    #expect(Effects.capacity == 32)
  }

  @Test("it is a collection of what the last transition asked for, in order")
  func collection() throws {
    var (machine, effects) = try dialled()
    #expect(Array(effects) == [.openTransport(Epoch(1), here)])
    machine.handle(.connect(elsewhere), at: .origin, into: &effects)
    #expect(effects.count == 3)
    #expect(effects[0] == .abortTransport(Epoch(1)))
    #expect(effects.first == .abortTransport(Epoch(1)))
    #expect(effects.last == .openTransport(Epoch(2), elsewhere))
    #expect(effects.map(render).joined(separator: ", ") == render(effects))
  }

  @Test("each transition empties it first, an ignored one too")
  func emptied() throws {
    var (machine, effects) = try dialled()
    machine.handle(.deadlineReached, at: .origin, into: &effects)
    #expect(effects.isEmpty)
  }

  @Test("two buffers are equal by what they hold, not by what they held before")
  func equality() throws {
    var (machine, effects) = try dialled()
    #expect(effects != Effects())
    machine.handle(.connect(here), at: .origin, into: &effects)
    #expect(effects == Effects())
  }
}
