// Blocks of the article “Getting started”; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import NetSim
import Testing

@Test("the prices go on after a minute in a tunnel")
func tunnel() throws {
  try VirtualTime.run { loop in
    var world = Internet(seed: 1)
    let (phone, feed) = (world.addHost("phone", link: .wptLTE), world.addHost("feed.example"))
    world.inject(.leaveNetwork(phone, sockets: .failed(.networkDown)), at: .origin + .seconds(10))
    world.inject(.join(phone, interface: 1, sockets: .kept), at: .origin + .seconds(70))
    let internet = SimulatedInternet(world, on: loop)
    let server = SimulatedServer(internet, host: feed, port: 443, engine: { SimulatedProtocol() }) {
      message, client in  // this feed does not listen
    }
    let home = Endpoint(host: "feed.example", port: 443)
    let prices = try Prices(
      StreamTransport(internet.dialer(from: phone), home: home) { SimulatedProtocol() })
    let following = loop.task("following") { try await prices.follow() }

    try await loop.clock.sleep(for: .seconds(5))
    server.broadcast(Message("ACME 12.30"))
    try await loop.clock.sleep(for: .seconds(1))
    #expect(await prices.latest == ["ACME": "12.30"])

    try await loop.clock.sleep(for: .seconds(110))
    server.broadcast(Message("ACME 12.40"))
    try await loop.clock.sleep(for: .seconds(1))
    #expect(await prices.latest == ["ACME": "12.40"])
    #expect(server.acceptedCount == 2)

    await prices.stop()
    following.cancel()
  }
}

/// Whether the order is with the exchange, as far as anyone can know.
func place(_ order: String, on connection: Connection) async throws -> Bool? {
  switch try await connection.send(Message(order), in: LaneID(1)) {
  case .acknowledged, .written: true
  case .expired, .evicted, .cancelled: false  // never sent: safe to offer again
  case .inDoubt: nil  // sent on a link that died: ask the exchange before you repeat it
  }
}

@Suite("Article: Getting started")
struct GettingStartedTests {
  @Test("an order that the peer acknowledges is placed, one that is taken back is not")
  func places() throws {
    let answers = try VirtualTime.run { loop in
      var world = Internet(seed: 1)
      let (phone, exchange) = (world.addHost("phone"), world.addHost("exchange"))
      let internet = SimulatedInternet(world, on: loop)
      let server = SimulatedServer(
        internet, host: exchange, port: 443, engine: { SimulatedProtocol() }, respond: { _, _ in })
      let connection = try Connection(
        internet.transport(from: phone), policy: Policy(heartbeat: nil), seed: 1)
      connection.connect(to: Endpoint(host: "exchange", port: 443))
      let first = try await place("buy 1", on: connection)
      #expect(server.acceptedCount == 1)
      await connection.close()
      return first
    }
    #expect(answers == true)
  }
}
