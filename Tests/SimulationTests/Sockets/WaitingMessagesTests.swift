import ConnectionFSM
import NetSim
import Testing

@Suite struct WaitingMessagesTests {
  @Test("I11: a message taken back between others ends as cancelled, and the others are sent")
  func cancelInBetween() throws {
    let (ends, heard) = try VirtualTime.run { loop in
      var world = Internet(seed: 1)
      let client = world.addHost("client", link: .constant(.milliseconds(10)))
      let host = world.addHost("server")
      world.inject(.leaveNetwork(client, sockets: .kept), at: .origin)
      world.inject(.join(client, interface: 1, sockets: .kept), at: .origin + .seconds(20))
      let internet = SimulatedInternet(world, on: loop)
      let heard = Heard()
      let server = SimulatedServer(
        internet, host: host, port: 1, engine: { SimulatedProtocol() },
        respond: { message, _ in heard.texts.append(message.text) })
      let policy = try Policy(
        backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .none),
        heartbeat: Heartbeat(interval: .seconds(25), timeout: .seconds(10)),
        lanes: [Lane(.atMostOnce, timeToLive: nil), Lane(.atLeastOnce, timeToLive: nil)])
      let connection = try Connection(
        internet.transport(from: client), policy: policy, seed: 1)
      connection.connect(to: Endpoint(host: "server", port: 1))
      let sends = (1...7).map { number in
        loop.task("message \(number)") {
          try? await connection.send(Message("\(number)"), in: LaneID(1))
        }
      }
      try await loop.clock.sleep(for: .seconds(5))
      sends[2].cancel()
      sends[4].cancel()
      var ends: [Outcome?] = []
      for send in sends { ends.append(await send.value) }
      await connection.close()
      withExtendedLifetime(server) {}
      return (ends, heard.texts)
    }
    let sent = Outcome.acknowledged
    #expect(ends == [sent, sent, .cancelled, sent, .cancelled, sent, sent])
    #expect(heard == ["1", "2", "4", "6", "7"])
  }

  private final class Heard: @unchecked Sendable {
    var texts: [String] = []
  }
}
