import ConnectionFSM
import NetSim
import Testing

/// The clients that a transport has made, oldest first. Confined to a simulation's thread.
private final class Made<Client>: @unchecked Sendable {
  var clients: [Client] = []

  func add(_ client: Client) -> Client {
    clients.append(client)
    return client
  }
}

private let endpoint = Endpoint(scheme: "ws", host: "feed.example", port: 80)

private func policy(heartbeat: Heartbeat?) throws -> Policy {
  try Policy(
    backoff: Backoff(first: .seconds(2), base: .seconds(2), cap: .seconds(2), jitter: .none),
    minimumDialSpacing: .seconds(1), heartbeat: heartbeat)
}

@Suite("Article: Writing a transport")
struct WritingATransportTests {
  @Test("over the plain client, messages pass and a link that ends is followed by another")
  func plain() throws {
    try VirtualTime.run { loop in
      let transport = PlainTransport(on: loop)
      let connection = try Connection(transport, policy: policy(heartbeat: nil), seed: 1)
      let messages = connection.messages()
      connection.connect(to: endpoint)
      try await loop.clock.sleep(for: .milliseconds(1))
      let client = try #require(transport.links.values.first?.client)
      #expect(client.address == "ws://feed.example:80")
      client.tell(.opened)
      client.tell(.text("hello"))
      var heard = messages.makeAsyncIterator()
      #expect(try await heard.next()?.text == "hello")
      #expect(try await connection.send(Message("hi")) == .written)
      #expect(client.calls == ["hi"])
      client.tell(.ended)
      try await loop.clock.sleep(for: .seconds(3))
      // What the old client says now is nobody's.
      client.tell(.text("late"))
      let next = try #require(transport.links.values.first?.client)
      #expect(next !== client)
      next.tell(.opened)
      next.tell(.text("again"))
      #expect(try await heard.next()?.text == "again")
      let closing = loop.task("closing") { await connection.close() }
      try await loop.clock.sleep(for: .seconds(1))
      next.tell(.ended)
      await closing.value
    }
  }

  @Test("over a client with a closure, a ping without an answer ends the link")
  func closure() throws {
    try VirtualTime.run { loop in
      let made = Made<StandInSocket>()
      let transport = ClosureTransport(on: loop) { made.add(StandInSocket("\($0)")) }
      let heartbeat = Heartbeat(interval: .seconds(20), timeout: .seconds(5))
      let connection = try Connection(transport, policy: policy(heartbeat: heartbeat), seed: 1)
      connection.connect(to: endpoint)
      try await loop.clock.sleep(for: .milliseconds(1))
      made.clients[0].onEvent?(.connected)
      #expect(try await connection.send(Message("hi")) == .written)
      try await loop.clock.sleep(for: .seconds(21))
      made.clients[0].onEvent?(.pong)
      try await loop.clock.sleep(for: .seconds(21))
      #expect(made.clients[0].calls == ["connect", "hi", "ping", "ping"])
      try await loop.clock.sleep(for: .seconds(7))
      #expect(made.clients[0].calls.last == "forceDisconnect" && made.clients.count == 2)
      made.clients[0].onEvent?(.connected)
      #expect(await connection.explain()?.phase == .connecting)
      made.clients[1].onEvent?(.connected)
      made.clients[1].onEvent?(.disconnected(code: 1001))
      made.clients[1].onEvent?(.cancelled)
      try await loop.clock.sleep(for: .milliseconds(1))
      #expect(await connection.explain()?.cause == .closedByPeer(CloseCode(1001)))
      await connection.close()
    }
  }

  @Test("over a client with a delegate, each client has an ear of its own")
  func delegate() throws {
    try VirtualTime.run { loop in
      let made = Made<StandInRocket>()
      let transport = DelegateTransport(on: loop) { made.add(StandInRocket("\($0)")) }
      let heartbeat = Heartbeat(interval: .seconds(20), timeout: .seconds(5))
      let connection = try Connection(transport, policy: policy(heartbeat: heartbeat), seed: 1)
      connection.connect(to: endpoint)
      try await loop.clock.sleep(for: .milliseconds(1))
      let first = made.clients[0]
      first.delegate?.webSocketDidOpen(first)
      #expect(try await connection.send(Message(bytes: [1, 2])) == .written)
      try await loop.clock.sleep(for: .seconds(21))
      first.delegate?.webSocketDidReceivePong(first)
      first.delegate?.webSocketDidFail(first)
      try await loop.clock.sleep(for: .seconds(3))
      #expect(first.calls == ["open", "[1, 2]", "ping"] && made.clients.count == 2)
      #expect(first.delegate == nil)
      let second = made.clients[1]
      second.delegate?.webSocketDidOpen(second)
      second.delegate?.webSocket(second, didCloseWithCode: 1000)
      try await loop.clock.sleep(for: .milliseconds(1))
      #expect(await connection.explain()?.cause == .closedByPeer(CloseCode(1000)))
      await connection.close()
    }
  }
}
