import ConnectionFSM
import Testing
import mqtt_example

/// An engine without a stream, and what it has said.
private struct Trial {
  var engine: MQTTEngine
  var output = EngineOutput()
  var now = Instant.origin

  init(filters: [String] = [], keepAlive: UInt16 = 60, userName: String? = nil) throws {
    engine = MQTTEngine(
      try MQTTOptions(
        clientID: "c", filters: filters, keepAlive: keepAlive, userName: userName))
  }

  /// Takes what was written since the last time.
  mutating func written() throws -> [MQTTPacket] {
    var reader = MQTTReader()
    reader.append(output.bytes.span.bytes)
    output.bytes = []
    var packets: [MQTTPacket] = []
    while let packet = try reader.next() { packets.append(packet) }
    return packets
  }

  mutating func events() -> [EngineEvent] {
    defer { output.events = [] }
    return output.events
  }

  mutating func start() { engine.start(at: now, into: &output) }

  mutating func receive(_ packets: MQTTPacket...) {
    let bytes = packets.flatMap(\.bytes)
    engine.receive(bytes.span.bytes, at: now, into: &output)
  }

  /// Lets time pass, with every deadline on the way.
  mutating func pass(_ span: TimeSpan) {
    let end = now + span
    while let deadline = engine.nextDeadline, deadline <= end {
      now = deadline
      engine.deadlineReached(at: now, into: &output)
    }
    now = end
  }

  /// Opens, and forgets what was said for it.
  mutating func open() {
    start()
    receive(.connack(isSessionPresent: false, code: 0))
    if case .subscribe(let id, let wanted)? = try? written().last {
      receive(.suback(id: id, codes: wanted.map { _ in 1 }))
    }
    output = EngineOutput()
  }
}

@Suite("The engine of the MQTT example")
struct MQTTEngineTests {
  private static let welcome = MQTTPacket.connack(isSessionPresent: false, code: 0)

  @Test("CONNECT, CONNACK, SUBSCRIBE and SUBACK come before the link is open")
  func handshake() throws {
    var trial = try Trial(filters: ["a/#", "b"], userName: "ann")
    trial.engine.authenticate(with: Credentials("secret"))
    trial.start()
    var connect = MQTTConnect(clientID: "c", keepAlive: 60)
    connect.userName = "ann"
    connect.password = Array("secret".utf8)
    #expect(try trial.written() == [.connect(connect)])
    trial.receive(Self.welcome)
    #expect(trial.events() == [])
    let wanted = ["a/#", "b"].map { MQTTSubscription($0, qualityOfService: 1) }
    #expect(try trial.written() == [.subscribe(id: 1, wanted)])
    // What the broker has kept may come first.
    let kept = MQTTPublicationSample.make("a/x", [1])
    trial.receive(.publish(kept, id: 9, isRepeated: false), .suback(id: 1, codes: [1, 0]))
    #expect(trial.events() == [.message(kept.message), .opened])
    #expect(try trial.written() == [.puback(id: 9)])
  }

  @Test(
    "A refusal ends the link with its cause and its diagnosis",
    arguments: [
      (1, Refusal.denied), (2, .denied), (3, .unavailable), (4, .credentials), (5, .credentials),
    ] as [(UInt8, Refusal)])
  func refused(code: UInt8, refusal: Refusal) throws {
    var trial = try Trial()
    trial.start()
    trial.receive(.connack(isSessionPresent: false, code: code))
    #expect(trial.events() == [.failed(.sessionRefused(refusal))])
    #expect(trial.engine.diagnosis as? MQTTError == MQTTError(.refused(code: code)))
    #expect(trial.engine.nextDeadline == nil)
  }

  @Test("A subscription that is refused ends the link and names the filter")
  func subscriptionRefused() throws {
    var trial = try Trial(filters: ["a", "b"])
    trial.start()
    trial.receive(Self.welcome, .suback(id: 1, codes: [0, 0x80]))
    #expect(trial.events() == [.failed(.sessionRefused(.denied))])
    #expect(trial.engine.diagnosis as? MQTTError == MQTTError(.subscriptionRefused("b")))
  }

  @Test("The lane says the QoS, and PUBACK acknowledges in order whatever its order")
  func acknowledgements() throws {
    var trial = try Trial()
    trial.open()
    let publication = MQTTPublicationSample.make("a", [1])
    let ids = (1...3).map { MessageID(lane: MQTTEngine.qualityOne, sequence: $0) }
    for id in ids { trial.engine.send(publication.message, id: id, into: &trial.output) }
    trial.engine.send(
      publication.message, id: MessageID(lane: LaneID(0), sequence: 1), into: &trial.output)
    #expect(
      try trial.written()
        == [1, 2, 3, nil].map { .publish(publication, id: $0, isRepeated: false) })
    trial.receive(.puback(id: 2))
    #expect(trial.events() == [])
    trial.receive(.puback(id: 1), .puback(id: 3))
    #expect(trial.events() == [.acknowledged(through: ids[1]), .acknowledged(through: ids[2])])
    trial.receive(.puback(id: 3))
    #expect(trial.events() == [.failed(.protocolError)])
    #expect(
      (trial.engine.diagnosis as? MQTTError)?.problem == .unknownPacketID(3))
  }

  @Test("The broker hears something in its time, however much it says itself")
  func keepAlive() throws {
    var trial = try Trial(keepAlive: 10)
    trial.open()
    let publication = MQTTPublicationSample.make("a", [1])
    // QoS 0 is not answered, so that nothing of this is written.
    for _ in 0..<30 {
      trial.pass(.seconds(1))
      trial.receive(.publish(publication, id: nil, isRepeated: false))
      if try trial.written() == [.pingreq] { trial.receive(.pingresp) }
    }
    _ = trial.events()
    // Busy as it is, it need not ask.
    for _ in 0..<30 {
      trial.pass(.seconds(1))
      trial.engine.send(publication.message, id: nil, into: &trial.output)
      #expect(try !trial.written().contains(.pingreq))
    }
  }

  @Test("No silence of ours is longer than the keep-alive")
  func silence() throws {
    var trial = try Trial(keepAlive: 10)
    trial.open()
    var last = trial.now
    for step in 0..<600 {
      trial.pass(.milliseconds(500))
      if step % 37 == 0 { trial.engine.ping(UInt32(step), into: &trial.output) }
      guard try !trial.written().isEmpty else { continue }
      #expect(trial.now - last <= .seconds(10))
      last = trial.now
    }
    #expect(trial.now - last <= .seconds(10))
  }

  @Test("Pings of the machine and of the keep-alive are told apart by their order")
  func pings() throws {
    var trial = try Trial(keepAlive: 10)
    trial.open()
    trial.engine.ping(7, into: &trial.output)
    trial.pass(.seconds(10))
    trial.engine.ping(8, into: &trial.output)
    #expect(try trial.written() == [.pingreq, .pingreq, .pingreq])
    trial.receive(.pingresp)
    #expect(trial.events() == [.pong(7)])
    trial.receive(.pingresp)
    #expect(trial.events() == [])
    trial.receive(.pingresp)
    #expect(trial.events() == [.pong(8)])
    trial.receive(.pingresp)
    #expect(trial.events() == [.failed(.protocolError)])
  }

  @Test("A close says DISCONNECT and nothing after it; acknowledgements on the way still count")
  func close() throws {
    var trial = try Trial()
    trial.open()
    let publication = MQTTPublicationSample.make("a", [1])
    let id = MessageID(lane: MQTTEngine.qualityOne, sequence: 1)
    trial.engine.send(publication.message, id: id, into: &trial.output)
    trial.engine.close(at: trial.now, into: &trial.output)
    #expect(try trial.written().last == .disconnect)
    #expect(trial.events() == [.finished])
    trial.receive(.publish(publication, id: 5, isRepeated: false), .puback(id: 1))
    #expect(trial.events() == [.acknowledged(through: id)])
    #expect(try trial.written() == [])
    trial.engine.receiveEnd(at: trial.now, into: &trial.output)
    #expect(trial.events() == [.closed(nil)])
  }

  @Test("What a broker may not say ends the link, and an end inside a packet is truncated")
  func unexpected() throws {
    for packet in [
      .connect(MQTTConnect(clientID: "x", keepAlive: 1)), Self.welcome, .pingresp, .pingreq,
      .suback(id: 1, codes: [0]), .subscribe(id: 1, [MQTTSubscription("a", qualityOfService: 0)]),
      .disconnect,
    ] as [MQTTPacket] {
      var trial = try Trial()
      trial.open()
      trial.receive(packet)
      #expect(trial.events() == [.failed(.protocolError)])
      #expect((trial.engine.diagnosis as? MQTTError)?.problem == .unexpected(packet.name))
    }
    var trial = try Trial()
    trial.open()
    trial.engine.receive(([0x30, 5, 0] as [UInt8]).span.bytes, at: trial.now, into: &trial.output)
    trial.engine.receiveEnd(at: trial.now, into: &trial.output)
    #expect(trial.events() == [.failed(.truncated)])
  }
}
