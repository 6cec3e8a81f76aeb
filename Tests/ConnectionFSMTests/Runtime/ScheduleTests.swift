import ConnectionFSM
import Testing

@Suite("Connection: whatever comes in between, at every point of a life")
struct ScheduleTests {
  private static func problems(_ plan: ScheduleWorld.Plan) throws -> [String] {
    let world = ScheduleWorld(plan)
    try world.run()
    return world.problems
  }

  /// How many pieces of work, and how many callbacks, an undisturbed life has.
  private static func length() throws -> (pieces: Int, callbacks: Int) {
    let world = ScheduleWorld(ScheduleWorld.Plan())
    try world.run()
    #expect(world.problems.isEmpty)
    return (world.pieces, world.callbacks)
  }

  @Test("an undisturbed life is long enough to come in between, and holds")
  func undisturbed() throws {
    let length = try Self.length()
    #expect((40...500).contains(length.pieces), "\(length.pieces) pieces")
    #expect((20...500).contains(length.callbacks), "\(length.callbacks) callbacks")
  }

  @Test(
    "I17, F57, F58: before any piece of work: each wait ends once, each message, nothing is left",
    arguments: ScheduleWorld.Action.allCases)
  func betweenPieces(_ action: ScheduleWorld.Action) throws {
    for place in 0...(try Self.length().pieces) {
      let found = try Self.problems(ScheduleWorld.Plan(actions: [action], place: place))
      #expect(found.isEmpty, "\(action) before piece \(place)")
    }
  }

  @Test(
    "I17, F57, F58: inside any callback: each wait ends once, each message, nothing is left",
    arguments: ScheduleWorld.Action.allCases)
  func insideCallbacks(_ action: ScheduleWorld.Action) throws {
    for place in 0..<(try Self.length().callbacks) {
      let found = try Self.problems(
        ScheduleWorld.Plan(actions: [action], place: place, isInCallback: true))
      #expect(found.isEmpty, "\(action) inside callback \(place)")
    }
  }

  @Test(
    "I17, F57, F58: two at once, before any piece of work and inside any callback",
    arguments: ScheduleWorld.Action.allCases)
  func pairs(_ first: ScheduleWorld.Action) throws {
    let length = try Self.length()
    for second in ScheduleWorld.Action.allCases {
      for place in 0...length.pieces {
        let found = try Self.problems(ScheduleWorld.Plan(actions: [first, second], place: place))
        #expect(found.isEmpty, "\(first), \(second) before piece \(place)")
      }
      for place in 0..<length.callbacks {
        let found = try Self.problems(
          ScheduleWorld.Plan(actions: [first, second], place: place, isInCallback: true))
        #expect(found.isEmpty, "\(first), \(second) inside callback \(place)")
      }
    }
  }
}
