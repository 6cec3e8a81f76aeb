// Blocks of the article “Sessions and topics”; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import NetSim
import Testing

/// The words of a feed, parted by spaces.
struct FeedDialect: SessionDialect {
  func login(resuming token: ResumeToken?, with credentials: Credentials?) -> Message? {
    Message(token.map { "login \($0.text)" } ?? "login")
  }

  func subscribe(to topics: [String]) -> Message {
    Message("subscribe " + topics.joined(separator: ","))
  }

  func unsubscribe(from topics: [String]) -> Message {
    Message("unsubscribe " + topics.joined(separator: ","))
  }

  func request(_ message: Message, id: UInt64) -> Message { Message("ask \(id) \(message.text)") }

  func read(_ message: Message) -> SessionMessage {
    let words = message.text.split(separator: " ", maxSplits: 3).map(String.init)
    switch (words[0], words.count) {
    case ("accepted", 2): return .accepted(ResumeToken(words[1]))
    case ("resumed", 2): return .resumed(ResumeToken(words[1]))
    case ("expired", 1): return .resumeRefused
    case ("refused", 1): return .refused(.denied)
    case ("subscribed", 2):
      return .subscribed(words[1].split(separator: ",").map(String.init))
    case ("tick", 4):  // tick ACME 17 12.30
      return .published(topic: words[1], sequence: UInt64(words[2]), Message(words[3]))
    case ("answer", 3):
      return UInt64(words[1]).map { .response(id: $0, Message(words[2])) } ?? .nothing
    default: return .application(message)
    }
  }
}

/// A connection to such a feed, which takes at most five messages a second.
func sessionConnection(_ transport: sending some Transport) throws -> Connection {
  let policy = try Policy(
    heartbeat: nil, sessionDeadline: .seconds(5), resumeWindow: .seconds(120))
  return try Connection(
    transport, policy: policy, session: FeedDialect(),
    sessionSettings: SessionSettings(topicsPerMessage: 100, messagesPerSecond: 5))
}

/// The next prices of a topic, the latest only where they come faster than they are taken.
func prices(_ count: Int, of topic: String, on connection: Connection) async throws -> [String] {
  var prices: [String] = []
  for try await tick in connection.messages(
    of: topic, bufferingUpTo: 64, whenFull: .conflate { _ in topic })
  {
    prices.append(tick.text)
    if prices.count == count { break }
  }
  return prices
}

func balance(on connection: Connection) async -> String {
  do throws(RequestError) {
    return try await connection.request(Message("balance"), timeout: .seconds(3)).text
  } catch {
    switch error {
    case .timedOut, .linkLost, .cancelled: return "unknown: it may have been answered"
    case .noSession, .tooMany, .rejected, .notSent: return "not asked"
    }
  }
}

/// A feed that gives two ticks to whoever subscribes, and answers.
private func answer(_ message: Message, _ client: SimulatedServer<SimulatedProtocol>.Client) {
  let words = message.text.split(separator: " ").map(String.init)
  switch words[0] {
  case "login": client.send(Message(words.count > 1 ? "expired" : "accepted t\(client.number)"))
  case "subscribe":
    client.send(Message("subscribed \(words[1])"))
    client.send(Message("tick \(words[1]) 1 12.30"))
    client.send(Message("tick \(words[1]) 2 12.40"))
  case "ask": client.send(Message("answer \(words[1]) 100"))
  default: break
  }
}

@Suite("Article: Sessions and topics")
struct SessionsTests {
  @Test("a topic's prices and a request's answer come, also on the link after the first")
  func session() throws {
    let heard = try VirtualTime.run { loop in
      var world = Internet(seed: 1)
      let (phone, feed) = (world.addHost("phone"), world.addHost("feed"))
      let internet = SimulatedInternet(world, on: loop)
      let server = SimulatedServer(
        internet, host: feed, port: 443, engine: { SimulatedProtocol() }, respond: answer)
      let connection = try sessionConnection(internet.transport(from: phone))
      connection.connect(to: Endpoint(host: "feed", port: 443))
      var heard = try await prices(2, of: "ACME", on: connection)
      server.closeAll()
      try await loop.clock.sleep(for: .seconds(30))
      heard += try await prices(1, of: "ACME", on: connection)
      heard.append(await balance(on: connection))
      #expect(server.acceptedCount == 2)
      await connection.close()
      return heard
    }
    #expect(heard == ["12.30", "12.40", "12.30", "100"])
  }
}
