import ConnectionFSM
import NetSim
import Synchronization
import Testing
import Transports
import chat_example

/// What a terminal shows: all, and what is said alone.
private final class Screen: Sendable {
  private let all = Mutex<[String]>([])

  func show(_ line: String) { all.withLock { $0.append(line) } }

  var lines: [String] { all.withLock { $0 } }
  var said: [String] { lines.filter { !$0.hasPrefix("[") } }
}

/// A room on a simulated host, and people who join it from others.
private struct World {
  let internet: SimulatedInternet
  let loop: SimulatedEventLoop
  private let house: HostID

  static let address = Endpoint(host: "chat.example", port: 7007)

  init(_ loop: SimulatedEventLoop, seed: UInt64, script: (inout Internet, [HostID]) -> Void) {
    self.loop = loop
    var internet = Internet(seed: seed)
    house = internet.addHost("chat.example")
    let phones = ["ann", "ben"].map { internet.addHost($0, link: .wptLTE) }
    people = phones
    script(&internet, phones)
    self.internet = SimulatedInternet(internet, on: loop)
  }

  let people: [HostID]

  func open(firstNumber: UInt64) throws -> SimulatedProgram<DelimiterFraming> {
    let lines = try DelimiterFraming(delimiter: .lf)
    return SimulatedProgram(
      HistoryRoom(firstNumber: firstNumber), on: internet, host: house, port: 7007,
      engine: { lines })
  }

  /// Joins, and gives where to type; the chat ends when that is finished.
  func join(
    _ name: String, from host: HostID, run: UInt64, on screen: Screen
  ) throws -> (typing: AsyncStream<String>.Continuation, chat: Task<Void, any Error>) {
    let framing = try ChatClient.framing()
    let client = try ChatClient(
      internet.transport(from: host) { framing }, name: name, run: run, seed: run)
    let (lines, typing) = AsyncStream.makeStream(of: String.self)
    let chat = loop.task(name) {
      try await client.chat(at: Self.address, saying: lines) { screen.show($0) }
    }
    return (typing, chat)
  }

  func wait(_ seconds: Int64) async throws { try await loop.clock.sleep(for: .seconds(seconds)) }
}

@Suite("The chat example")
struct ChatTests {
  private static let leaving = SocketFate.failed(.networkDown)

  @Test("F49 F51: what was said while a client was away is sent after the reconnect, in order")
  func history() throws {
    try VirtualTime.run { loop in
      let world = World(loop, seed: 1) { internet, people in
        internet.inject(
          .leaveNetwork(people[1], sockets: Self.leaving), at: .origin + .seconds(10))
        internet.inject(.join(people[1], interface: 1, sockets: .kept), at: .origin + .seconds(70))
      }
      let room = try world.open(firstNumber: 1)
      let (anns, bens) = (Screen(), Screen())
      let ann = try world.join("ann", from: world.people[0], run: 1, on: anns)
      let ben = try world.join("ben", from: world.people[1], run: 2, on: bens)
      try await world.wait(5)
      ann.typing.yield("hello")
      try await world.wait(10)
      for number in 1...5 {
        ann.typing.yield("missed \(number)")
        try await world.wait(5)
      }
      let heardBefore = bens.said
      #expect(heardBefore == ["ann: hello"])
      try await world.wait(60)
      ann.typing.yield("back?")
      try await world.wait(5)
      let all = ["hello"] + (1...5).map { "missed \($0)" } + ["back?"]
      #expect(bens.said == all.map { "ann: \($0)" })
      #expect(anns.said == bens.said)
      ann.typing.finish()
      ben.typing.finish()
      try await ann.chat.value
      try await ben.chat.value
      #expect(room.acceptedCount == 3)
    }
  }

  @Test("I22: lines typed offline arrive once and in order, whenever the network went")
  func offline() throws {
    for moment in 0..<40 {
      try VirtualTime.run { loop in
        let world = World(loop, seed: UInt64(moment)) { internet, people in
          // Around the line of 10 s, so that some links die between a line and its echo.
          let at = Instant.origin + .milliseconds(9_900 + 10 * Int64(moment))
          internet.inject(.leaveNetwork(people[0], sockets: Self.leaving), at: at)
          internet.inject(.join(people[0], interface: 1, sockets: .kept), at: at + .seconds(30))
        }
        let room = try world.open(firstNumber: 1)
        let (anns, bens) = (Screen(), Screen())
        let ann = try world.join("ann", from: world.people[0], run: 1, on: anns)
        let ben = try world.join("ben", from: world.people[1], run: 2, on: bens)
        try await world.wait(10)
        for number in 1...10 {
          ann.typing.yield("line \(number)")
          try await world.wait(1)
        }
        try await world.wait(60)
        #expect(bens.said == (1...10).map { "ann: line \($0)" })
        #expect(anns.said == bens.said)
        ann.typing.finish()
        ben.typing.finish()
        try await ann.chat.value
        try await ben.chat.value
        withExtendedLifetime(room) {}
      }
    }
  }

  @Test("A server that was started again has forgotten the lines, and is understood all the same")
  func restart() throws {
    try VirtualTime.run { loop in
      let world = World(loop, seed: 3) { _, _ in }
      var room: SimulatedProgram<DelimiterFraming>? = try world.open(firstNumber: 1000)
      let (anns, bens) = (Screen(), Screen())
      let ann = try world.join("ann", from: world.people[0], run: 1, on: anns)
      let ben = try world.join("ben", from: world.people[1], run: 2, on: bens)
      try await world.wait(5)
      ann.typing.yield("before")
      try await world.wait(5)
      #expect(room?.connectionCount == 2)
      room = nil
      room = try world.open(firstNumber: 2000)
      ann.typing.yield("after")
      ann.typing.yield("and on")
      try await world.wait(60)
      #expect(bens.said == ["ann: before", "ann: after", "ann: and on"])
      #expect(anns.said == bens.said)
      ann.typing.finish()
      ben.typing.finish()
      try await ann.chat.value
      try await ben.chat.value
      #expect(room?.connectionCount == 0)
    }
  }

  @Test("A name that is taken ends the chat with the reason, and nobody dials again")
  func nameTaken() throws {
    try VirtualTime.run { loop in
      let world = World(loop, seed: 4) { _, _ in }
      let room = try world.open(firstNumber: 1)
      let (first, second) = (Screen(), Screen())
      let ann = try world.join("ann", from: world.people[0], run: 1, on: first)
      try await world.wait(5)
      let other = try world.join("ann", from: world.people[1], run: 2, on: second)
      try await other.chat.value
      #expect(second.lines.last?.hasPrefix("[closed") == true)
      try await world.wait(100)
      #expect(room.acceptedCount == 2)
      ann.typing.finish()
      try await ann.chat.value
    }
  }
}
