// The example of Docs/AsyncSimulation.md, compiled and run; `BlocksTests` checks that the page
// shows just this.

import ConnectionFSM
import NetSim
import Testing
import Transports

/// A chat client as an application has it: nothing in it knows of simulations.
actor ChatClient {
  private let connection: Connection
  private(set) var heard: [String] = []

  init(_ transport: sending any Transport) throws {
    connection = try Connection(transport, policy: Policy(heartbeat: nil), seed: 1)
  }
  func join(_ room: Endpoint) async throws {
    connection.connect(to: room)
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
    let (phone, room) = (world.addHost("phone", link: .wptLTE), world.addHost("chat.example"))
    world.inject(.leaveNetwork(phone, sockets: .failed(.networkDown)), at: .origin + .seconds(10))
    world.inject(.join(phone, interface: 1, sockets: .kept), at: .origin + .seconds(40))
    let internet = SimulatedInternet(world, on: loop)
    let lines = try DelimiterFraming(delimiter: .lf, acknowledgement: .echo)
    let server = SimulatedServer(internet, host: room, port: 7000, engine: { lines }) {
      message, client in client.send(message)
    }
    let chat = try ChatClient(internet.transport(from: phone) { lines })
    let listening = loop.task("listening") {
      try await chat.join(Endpoint(host: "chat.example", port: 7000))
    }
    try await loop.clock.sleep(for: .seconds(20))
    #expect(try await chat.say("can you hear me?") == .acknowledged)
    #expect(loop.now > .origin + .seconds(40) && server.acceptedCount == 2)
    await chat.leave()
    listening.cancel()
    #expect(await chat.heard == ["can you hear me?"])
  }
}
