import ConnectionFSM
import NetSim
import Testing

@Suite("Packet capture")
struct PacketCaptureTests {
  /// A client that dials, speaks and closes when the test says so.
  private struct Talk {
    var internet = Internet(seed: 1)
    let client: HostID
    let server: HostID
    var socket: SocketID?
    var capture = PacketCapture(title: "test")

    init(_ service: Service, link: LinkProfile = .perfect, captures: Bool = true) {
      client = internet.addHost("client", link: link)
      server = internet.addHost("server", hasVersion6: true)
      internet.listen(server, port: 80, service)
      if captures { internet.capture(on: client) }
    }

    mutating func dial(version6: Bool = false, port: UInt16 = 80) {
      let address = internet.addresses(of: server)[version6 ? 0 : 1]
      socket = internet.dial(from: client, to: address, port: port, at: internet.now)
    }

    mutating func write(_ bytes: [UInt8]) {
      if let socket { _ = internet.write(bytes.span.bytes, to: socket, at: internet.now) }
    }

    mutating func close() {
      if let socket { internet.close(socket, at: internet.now) }
    }

    /// Lets time pass; whatever arrives is read.
    mutating func run(_ span: TimeSpan) {
      let end = internet.now + span
      while let occurrence = internet.next(through: end) {
        if case .readable(let socket) = occurrence, socket == self.socket { read(socket) }
      }
    }

    private mutating func read(_ socket: SocketID) {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      var span = buffer.mutableSpan
      var bytes = span.mutableBytes
      while case .bytes = internet.read(socket, into: &bytes, at: internet.now) {}
    }

    mutating func file() throws -> CaptureFile {
      for segment in internet.takeSegments() { capture.add(segment) }
      return try CaptureFile(capture.bytes)
    }
  }

  private static let echo = Service(script: [.echo, .close])

  /// All that one end said, put together by the numbers as a receiver does.
  private static func stream(_ file: CaptureFile, from port: UInt16) throws -> [UInt8] {
    let packets = file.packets.filter { $0.sourcePort == port }
    let syn = try #require(packets.first { $0.flags & 2 != 0 })
    var bytes: [UInt8] = []
    for packet in packets where !packet.payload.isEmpty {
      let place = Int(packet.sequence &- syn.sequence) - 1
      #expect(place <= bytes.count, "no gap")
      bytes = bytes.prefix(place) + packet.payload
    }
    return bytes
  }

  @Test("a conversation is a handshake, bytes in segments, and an end in order; every sum is right")
  func conversation() throws {
    var talk = Talk(Self.echo, link: .wptCable)
    let words = (0..<5000).map { UInt8($0 % 251) }
    talk.dial()
    talk.run(.seconds(1))
    talk.write(words)
    talk.run(.seconds(1))
    talk.close()
    talk.run(.seconds(1))
    let file = try talk.file()
    #expect(file.comment == "test, simulated")
    #expect(file.interfaces == ["primary"])
    #expect(file.packets.prefix(3).map(\.letters) == ["S", "SA", "A"])
    #expect(file.packets.allSatisfy { $0.version == 4 && $0.payload.count <= 1448 })
    #expect(file.packets[0].options == [2, 4, 5, 168, 1, 3, 3, 2])
    #expect(file.packets[0].source == [10, 0, 0, 1] && file.packets[0].target == [10, 0, 0, 2])
    let port = file.packets[0].sourcePort
    #expect(try Self.stream(file, from: port) == words)
    #expect(try Self.stream(file, from: 80) == words)
    let ends = file.packets.filter { $0.letters.contains("F") }
    #expect(ends.map(\.sourcePort) == [port, 80])
    #expect(file.packets.last?.letters == "A")
    #expect(!file.packets.contains { $0.letters.contains("R") })
    let times = file.packets.map(\.nanoseconds)
    #expect(times == times.sorted())
  }

  @Test("no acknowledgement is of what was not seen before it, and none goes back")
  func acknowledgements() throws {
    var talk = Talk(Self.echo, link: .wptLTE)
    talk.dial()
    for _ in 0..<5 {
      talk.run(.seconds(3))
      talk.write([UInt8](repeating: 7, count: 3000))
    }
    talk.run(.seconds(3))
    talk.close()
    talk.run(.seconds(3))
    var sent: [UInt16: UInt32] = [:]
    var acknowledged: [UInt16: UInt32] = [:]
    for packet in try talk.file().packets {
      let length =
        UInt32(packet.payload.count) + UInt32(packet.flags & 1) + UInt32(packet.flags >> 1 & 1)
      sent[packet.sourcePort] = max(sent[packet.sourcePort] ?? 0, packet.sequence &+ length)
      guard packet.letters.contains("A") else { continue }
      #expect(packet.acknowledgement <= sent[packet.targetPort] ?? 0)
      #expect(packet.acknowledgement >= acknowledged[packet.sourcePort] ?? 0)
      acknowledged[packet.sourcePort] = packet.acknowledgement
    }
    #expect(acknowledged.count == 2)
  }

  @Test("an address of version 6 gives packets of version 6")
  func version6() throws {
    var talk = Talk(Self.echo)
    talk.dial(version6: true)
    talk.run(.seconds(1))
    talk.write(Array("six".utf8))
    talk.run(.seconds(1))
    let file = try talk.file()
    #expect(file.packets.allSatisfy { $0.version == 6 })
    #expect(file.packets[0].target == [0xFD] + [UInt8](repeating: 0, count: 14) + [2])
    #expect(file.packets.filter { $0.text == "six" }.count == 2)
  }

  @Test("a refused dial is a SYN and a reset that acknowledges it")
  func refused() throws {
    var talk = Talk(Self.echo)
    talk.dial(port: 81)
    talk.run(.seconds(1))
    let packets = try talk.file().packets
    #expect(packets.map(\.letters) == ["S", "RA"])
    #expect(packets[1].acknowledgement == packets[0].sequence &+ 1)
  }

  @Test("a server's reset is where its next byte would be")
  func reset() throws {
    var talk = Talk(Service(script: [.send(Array("bye".utf8)), .wait(.seconds(1)), .reset]))
    talk.dial()
    talk.run(.seconds(3))
    let packets = try talk.file().packets
    let reset = try #require(packets.last)
    #expect(reset.letters == "RA" && reset.sourcePort == 80)
    #expect(reset.sequence == packets[1].sequence &+ 4)
  }

  @Test("what gets no answer is sent again under the same numbers, and a SYN too")
  func retransmission() throws {
    var talk = Talk(Self.echo)
    talk.dial()
    talk.run(.seconds(1))
    talk.internet.inject(.block(from: talk.client, to: nil, .drop), at: talk.internet.now)
    talk.run(.milliseconds(1))
    talk.write(Array("hear me".utf8))
    talk.run(.seconds(2))
    talk.dial()
    talk.run(.seconds(4))
    let packets = try talk.file().packets
    let words = packets.filter { $0.text == "hear me" }
    #expect(words.count > 3 && Set(words.map(\.sequence)).count == 1)
    let dials = packets.filter { $0.letters == "S" && $0.sourcePort == packets[0].sourcePort + 1 }
    #expect(dials.count == 3 && Set(dials.map(\.sequence)).count == 1)
  }

  @Test("nothing leaves a device that sleeps, and each way out is an interface of its own")
  func interfaces() throws {
    var talk = Talk(Self.echo)
    talk.internet.addInterface("cellular", to: talk.client, link: .wptLTE)
    talk.dial()
    talk.run(.seconds(1))
    talk.internet.inject(.join(talk.client, interface: 2, sockets: .kept), at: talk.internet.now)
    talk.run(.seconds(1))
    talk.dial()
    talk.run(.seconds(1))
    talk.internet.inject(.sleep(talk.client), at: talk.internet.now)
    talk.run(.seconds(1))
    let before = try talk.file()
    #expect(before.interfaces == ["primary", "cellular"])
    #expect(before.packets.map(\.interface) == [0, 0, 0, 1, 1, 1])
    talk.write(Array("not sent".utf8))
    talk.run(.seconds(60))
    let after = try talk.file()
    #expect(after.packets.count == 6)
  }

  @Test("a note is a comment of the next packet")
  func notes() throws {
    var talk = Talk(Self.echo)
    talk.capture.note("first")
    talk.capture.note("second, longer")
    talk.dial()
    talk.run(.seconds(1))
    let packets = try talk.file().packets
    #expect(packets.map(\.comments) == [["first", "second, longer"], [], []])
  }

  @Test(
    "a capture changes nothing: the same happens at the same instants, and none is taken without")
  func silence() {
    func run(captures: Bool) -> [Instant] {
      var talk = Talk(Self.echo, link: .wptLTE, captures: captures)
      var instants: [Instant] = []
      talk.dial()
      for _ in 0..<4 {
        while talk.internet.next(through: talk.internet.now + .seconds(1)) != nil {
          instants.append(talk.internet.now)
        }
        talk.write([UInt8](repeating: 1, count: 9000))
      }
      #expect(talk.internet.takeSegments().isEmpty != captures)
      return instants
    }
    #expect(run(captures: true) == run(captures: false))
  }

  @Test("a capture of the shipped connection is the same in every run")
  func deterministic() throws {
    func run() throws -> [UInt8] {
      try VirtualTime.run(limit: .seconds(100)) { loop in
        let condition = try #require(Condition.named("cable") ?? Condition.named("wifi-good"))
        let stage = condition.stage(seed: 3)
        let internet = SimulatedInternet(stage.internet, on: loop)
        let server = SimulatedServer(
          internet, host: stage.server, port: stage.port, service: stage.service,
          engine: { SimulatedProtocol() }, respond: { message, client in client.send(message) })
        var capture = PacketCapture(title: "echo")
        internet.observeSegments(of: stage.client) { capture.add($0) }
        let connection = try Connection(
          internet.transport(from: stage.client), policy: Policy(), seed: 3)
        connection.connect(to: Endpoint(host: "server", port: stage.port))
        connection.post(Message("hello"), in: LaneID(1))
        try await loop.clock.sleep(until: .origin + .seconds(40))
        await connection.close()
        withExtendedLifetime(server) {}
        return capture.bytes
      }
    }
    let bytes = try run()
    let again = try run()
    #expect(again == bytes)
    let file = try CaptureFile(bytes)
    #expect(file.packets.contains { $0.text.hasSuffix("hello") && $0.targetPort == 443 })
    #expect(file.packets.contains { $0.text.hasSuffix("hello") && $0.sourcePort == 443 })
    #expect(file.packets.contains { $0.letters.contains("F") && $0.targetPort == 443 })
  }
}
