// The example of Docs/AsyncSimulation.md, compiled and run; `ChatExampleTests` checks that the page
// shows just this.

// example
import ConnectionFSM
import NetSim
import Testing
import Transports

/// A chat client as an application has it: nothing in it knows of simulations.
actor ChatClient {
  private let connection: Connection
  private(set) var heard: [String] = []

  init(_ transport: sending any Transport, room: Endpoint) throws {
    connection = try Connection(transport, policy: Policy(heartbeat: nil), seed: 1)
    connection.connect(to: room)
  }

  func listen() async throws {
    for try await message in connection.messages() { heard.append(message.text) }
  }

  func say(_ text: String) async throws -> Outcome {
    try await connection.send(Message(text), in: LaneID(1))
  }

  func leave() async { await connection.close() }
}

@Test("what is said in the tunnel is heard behind it")
func tunnel() throws {
  try VirtualTime.run { loop in
    var world = Internet(seed: 7)
    let phone = world.addHost("phone", link: .wptLTE)
    let internet = SimulatedInternet(world, on: loop)
    let server = internet.change { $0.addHost("chat.example") }
    let framing = try DelimiterFraming(delimiter: .lf, acknowledgement: .echo)
    let echo = SimulatedServer(internet, host: server, port: 7000, engine: { framing }) {
      message, client in client.send(message)
    }
    internet.inject(.leaveNetwork(phone, sockets: .failed(.networkDown)), after: .seconds(10))
    internet.inject(.join(phone, interface: 1, sockets: .kept), after: .seconds(40))

    let chat = try ChatClient(
      internet.transport(from: phone) { framing },
      room: Endpoint(host: "chat.example", port: 7000))
    let listener = loop.task("listener") { try await chat.listen() }
    try await loop.clock.sleep(for: .seconds(20))
    #expect(try await chat.say("can you hear me?") == .acknowledged)
    #expect(loop.now > .origin + .seconds(40))
    await chat.leave()
    listener.cancel()
    try await loop.clock.sleep(for: .seconds(1))
    #expect(await chat.heard == ["can you hear me?"])
    withExtendedLifetime(echo) {}
  }
}
// end
