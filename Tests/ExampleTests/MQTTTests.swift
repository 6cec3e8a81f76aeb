import ConnectionFSM
import NetSim
import Synchronization
import Testing
import Transports
import mqtt_example

/// What a listener has heard.
final class Heard: Sendable {
  private let all = Mutex<[MQTTPublication]>([])

  var texts: [String] { all.withLock { $0.map(\.text) } }

  func listen(to client: MQTTClient) async throws {
    for try await publication in client.publications() { all.withLock { $0.append(publication) } }
  }
}

@Suite("The MQTT example")
struct MQTTTests {
  /// Publishes each number once, one a second; gives the outcomes.
  private static func publishNumbers(
    _ numbers: ClosedRange<Int>, by client: MQTTClient, acknowledged: Bool,
    on loop: SimulatedEventLoop
  ) async throws -> [Outcome] {
    try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
      for number in numbers {
        group.addTask {
          let publication = try MQTTPublication("room/\(number % 3)/value", "\(number)")
          return (number, try await client.publish(publication, acknowledged: acknowledged))
        }
        try await loop.clock.sleep(for: .seconds(1))
      }
      var outcomes: [Int: Outcome] = [:]
      for try await (number, outcome) in group { outcomes[number] = outcome }
      return numbers.compactMap { outcomes[$0] }
    }
  }

  /// A listener that keeps its link, and a publisher on a phone.
  private static func talk(
    seed: UInt64, script: (inout Internet, HostID, HostID) -> Void,
    body:
      @escaping (
        SimulatedEventLoop, SimulatedProgram<MQTTBrokerEngine>, MQTTClient, MQTTClient, Heard
      ) async throws -> Void
  ) throws {
    var world = Internet(seed: seed)
    let phone = world.addHost("phone", link: .wptLTE)
    let (desk, house) = (world.addHost("desk"), world.addHost("broker.example"))
    script(&world, phone, desk)
    let start = world
    try VirtualTime.run { loop in
      let internet = SimulatedInternet(start, on: loop)
      let broker = SimulatedProgram(
        MQTTBroker(), on: internet, host: house, port: 1883, engine: { MQTTBrokerEngine() })
      let speaking = try MQTTOptions(clientID: "phone", keepAlive: 30)
      let listening = try MQTTOptions(clientID: "desk", filters: ["room/+/value"], keepAlive: 30)
      let speaker = try MQTTClient(
        internet.transport(from: phone) { MQTTEngine(speaking) }, seed: 1)
      let listener = try MQTTClient(
        internet.transport(from: desk) { MQTTEngine(listening) }, seed: 2)
      let address = Endpoint(host: "broker.example", port: 1883)
      let heard = Heard()
      let hearing = loop.task("listening") { try await heard.listen(to: listener) }
      listener.connection.connect(to: address)
      speaker.connection.connect(to: address)
      try await loop.clock.sleep(for: .seconds(5))
      try await body(loop, broker, speaker, listener, heard)
      await speaker.connection.close()
      await listener.connection.close()
      hearing.cancel()
    }
  }

  @Test("QoS 1 brings each message through an outage, in order, and PUBACK is its end")
  func outage() throws {
    for moment in 0..<20 {
      try Self.talk(seed: UInt64(moment)) { internet, phone, _ in
        let at = Instant.origin + .milliseconds(8000 + 7 * Int64(moment))
        internet.inject(.leaveNetwork(phone, sockets: .failed(.networkDown)), at: at)
        internet.inject(.join(phone, interface: 1, sockets: .kept), at: at + .seconds(30))
      } body: { loop, broker, speaker, _, heard in
        let outcomes = try await Self.publishNumbers(
          1...10, by: speaker, acknowledged: true, on: loop)
        #expect(outcomes == Array(repeating: .acknowledged, count: 10))
        try await loop.clock.sleep(for: .seconds(1))
        // At least once: what was under way when the network went may come twice, all of it again
        // in order.
        var numbers = heard.texts.compactMap { Int($0) }
        let repeated = numbers.count - 10
        #expect((0...2).contains(repeated))
        if let place = numbers.indices.dropLast().first(where: { numbers[$0] >= numbers[$0 + 1] }) {
          numbers.removeSubrange((place + 1)...(place + repeated))
        }
        #expect(numbers == Array(1...10))
        #expect(broker.acceptedCount == 3)
      }
    }
  }

  @Test("QoS 0 is sent once, and what was not sent in its time says so")
  func atMostOnce() throws {
    try Self.talk(seed: 1) { internet, phone, _ in
      internet.inject(
        .leaveNetwork(phone, sockets: .failed(.networkDown)), at: .origin + .milliseconds(8500))
      internet.inject(.join(phone, interface: 1, sockets: .kept), at: .origin + .seconds(60))
    } body: { loop, _, speaker, _, heard in
      let outcomes = try await Self.publishNumbers(
        1...6, by: speaker, acknowledged: false, on: loop)
      #expect(outcomes == [.written, .written, .written, .written, .expired, .expired])
      #expect(heard.texts == ["1", "2", "3", "4"])
    }
  }

  @Test("A listener that lost its link is subscribed again before it counts as open")
  func resubscribed() throws {
    try Self.talk(seed: 2) { internet, _, desk in
      internet.inject(.cut(desk), at: .origin + .seconds(6))
    } body: { loop, _, speaker, listener, heard in
      try await loop.clock.sleep(for: .seconds(10))
      let state = await listener.connection.explain()
      #expect(state?.phase == .open)
      try await speaker.publish(MQTTPublication("room/1/value", "again"), acknowledged: true)
      try await loop.clock.sleep(for: .seconds(1))
      #expect(heard.texts == ["again"])
    }
  }

  @Test("A listener to a busy topic of QoS 0 writes nothing of its own, and is not dropped for it")
  func busyListener() throws {
    try Self.talk(seed: 3) { _, _, _ in
    } body: { loop, broker, speaker, _, heard in
      let outcomes = try await Self.publishNumbers(
        1...300, by: speaker, acknowledged: false, on: loop)
      #expect(outcomes == Array(repeating: .written, count: 300))
      try await loop.clock.sleep(for: .seconds(1))
      #expect(heard.texts.count == 300)
      // 300 s are ten times the keep-alive, and nobody had to dial again.
      #expect(broker.acceptedCount == 2)
    }
  }

  @Test("A broker that falls silent is found out by the ping, and the next link has it all")
  func silentBroker() throws {
    try Self.talk(seed: 4) { internet, phone, _ in
      internet.inject(.sever(phone), at: .origin + .seconds(20))
    } body: { loop, broker, speaker, _, heard in
      try await loop.clock.sleep(for: .seconds(20))
      let publication = try MQTTPublication("room/1/value", "kept")
      let outcome = try await speaker.publish(publication, acknowledged: true)
      #expect(outcome == .acknowledged && loop.now < .origin + .seconds(60))
      try await loop.clock.sleep(for: .seconds(1))
      #expect(heard.texts == ["kept"])
      #expect(broker.acceptedCount == 3)
    }
  }
}
