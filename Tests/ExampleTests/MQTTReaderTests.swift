import ConnectionFSM
import Testing
import mqtt_example

@Suite("The decoder of the MQTT example")
struct MQTTReaderTests {
  /// One packet of each kind, at each end of what its fields can be.
  static let packets: [MQTTPacket] = {
    var full = MQTTConnect(clientID: "ann", keepAlive: 65_535)
    full.userName = "user"
    full.password = [0, 255]
    let short = MQTTPublicationSample.make("a/b", [])
    let long = MQTTPublicationSample.make("ä", Array(repeating: 7, count: 20_000))
    return [
      .connect(full), .connect(MQTTConnect(clientID: "", keepAlive: 0)),
      .connack(isSessionPresent: true, code: 0), .connack(isSessionPresent: false, code: 5),
      .publish(short, id: nil, isRepeated: false), .publish(long, id: 65_535, isRepeated: true),
      .puback(id: 1),
      .subscribe(
        id: 7,
        [
          MQTTSubscription("a/+", qualityOfService: 1),
          MQTTSubscription("#", qualityOfService: 0),
        ]),
      .suback(id: 7, codes: [1, 0x80]), .pingreq, .pingresp, .disconnect,
    ]
  }()

  /// Reads a stream in pieces.
  private static func read(
    _ stream: [UInt8], by size: Int, limit: Int = 262_144
  ) -> (packets: [MQTTPacket], error: MQTTError?, isInside: Bool) {
    var reader = MQTTReader(limit: limit)
    var packets: [MQTTPacket] = []
    for start in stride(from: 0, to: stream.count, by: size) {
      reader.append(Array(stream[start..<min(start + size, stream.count)]).span.bytes)
      do throws(MQTTError) {
        while let packet = try reader.next() { packets.append(packet) }
      } catch {
        return (packets, error, false)
      }
    }
    return (packets, nil, reader.isInsidePacket)
  }

  @Test("I13: any split of the same bytes gives the same packets")
  func splits() {
    let stream = Self.packets.flatMap(\.bytes)
    for size in [1, 2, 3, 5, 7, 64, 4096, stream.count] {
      let (packets, error, isInside) = Self.read(stream, by: size)
      #expect(packets == Self.packets && error == nil && !isInside, "by \(size)")
    }
  }

  @Test("I13: what is broken gets one typed error that names the packet's place")
  func errors() {
    let cases: [([UInt8], MQTTError.Problem)] = [
      ([0x00, 0], .packetType(0)), ([0x50, 2, 0, 1], .packetType(5)),
      ([0xF0, 0], .packetType(15)), ([0xC1, 0], .flags(1, ofType: 12)),
      ([0x30, 0xFF, 0xFF, 0xFF, 0xFF], .lengthTooLong),
      ([0x30, 0x81, 0x80, 0x10], .packetTooLong(262_149, limit: 262_144)),
      ([0xC0, 1, 9], .leftOver(1)), ([0x40, 1, 0], .endsInField),
      ([0x40, 2, 0, 0], .zeroPacketID), ([0x20, 2, 0, 6], .code(6)),
      ([0x20, 2, 2, 0], .code(2)), ([0x30, 4, 0, 2, 0xC3, 0x28], .text),
      ([0x30, 3, 0, 1, 0], .text), ([0x30, 3, 0, 1, 0x23], .topic("#")),
      ([0x30, 2, 0, 0], .topic("")), ([0x34, 2, 0, 0], .qualityOfService(2)),
      ([0x36, 2, 0, 0], .qualityOfService(3)), ([0x38, 3, 0, 1, 0x61], .flags(8, ofType: 3)),
      ([0x32, 5, 0, 1, 0x61, 0, 0], .zeroPacketID), ([0x32, 3, 0, 1, 0x61], .endsInField),
      ([0x82, 2, 0, 1], .endsInField), ([0x82, 5, 0, 1, 0, 0, 1], .topic("")),
      ([0x82, 6, 0, 1, 0, 1, 0x61, 3], .qualityOfService(3)),
      ([0x90, 2, 0, 1], .endsInField), ([0x90, 3, 0, 1, 3], .code(3)),
      ([0x10, 8, 0, 4, 0x4D, 0x51, 0x54, 0x54, 5, 2], .version("MQTT", level: 5)),
      ([0x10, 8, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 4], .flags(4, ofType: 1)),
      ([0x10, 8, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 0x40], .flags(0x40, ofType: 1)),
    ]
    let before = MQTTPacket.puback(id: 1)
    for (bytes, problem) in cases {
      for size in [1, 3, 100] {
        let (packets, error, _) = Self.read(before.bytes + bytes, by: size)
        #expect(packets == [before])
        #expect(error == MQTTError(problem, at: 4), "\(bytes) by \(size)")
      }
    }
  }

  @Test("I13: random bytes, and packets with a byte turned, give packets or one error")
  func fuzz() {
    var dice = SplitMix64(seed: 1)
    let models = Self.packets.map(\.bytes).filter { $0.count < 100 }
    for round in 0..<20_000 {
      var bytes: [UInt8] =
        round.isMultiple(of: 2)
        ? (0..<40).map { _ in UInt8(dice.next(through: 255)) }
        : models[Int(dice.next(through: UInt64(models.count - 1)))]
      let place = Int(dice.next(through: UInt64(bytes.count - 1)))
      bytes[place] = UInt8(dice.next(through: 255))
      let whole = Self.read(bytes, by: bytes.count)
      let split = Self.read(bytes, by: 1)
      #expect(whole == split, "\(bytes)")
      // What was read is written alike, but for lengths that took more bytes than they need.
      for packet in whole.packets {
        let again = try? MQTTPacket(packet.bytes)
        #expect(again == packet)
      }
    }
  }

  @Test("Topics and filters match as section 4.7 has it")
  func topics() {
    let matching = [
      ("a/b", "a/b"), ("a/b", "a/+"), ("a/b", "#"), ("a/b", "+/b"), ("a", "a/#"), ("a//b", "a/+/b"),
      ("$SYS/load", "$SYS/#"), ("a/", "a/+"),
    ]
    for (topic, filter) in matching {
      #expect(MQTTTopic.matches(topic, filter: filter), "\(topic) \(filter)")
    }
    let others = [
      ("a/b", "a"), ("a", "a/b"), ("a", "a/+"), ("a/b/c", "a/+"), ("$SYS/load", "#"),
      ("$SYS/load", "+/load"), ("A", "a"),
    ]
    for (topic, filter) in others {
      #expect(!MQTTTopic.matches(topic, filter: filter), "\(topic) \(filter)")
    }
  }

  @Test("A publication goes through a message unchanged, and a topic that is none is refused")
  func publications() throws {
    let publication = try MQTTPublication("a/ü", [0, 1, 255], isRetained: true)
    #expect(try MQTTPublication(publication.message) == publication)
    for topic in ["", "a/+", "#", "a\0", String(repeating: "a", count: 65_536)] {
      #expect(throws: MQTTError.self) { try MQTTPublication(topic, "") }
    }
    #expect(throws: MQTTError(.topic(""))) { try MQTTOptions(clientID: "", filters: [""]) }
  }
}

enum MQTTPublicationSample {
  /// A publication whose topic is known to be one.
  static func make(_ topic: String, _ payload: [UInt8]) -> MQTTPublication {
    guard let publication = try? MQTTPublication(topic, payload) else {
      preconditionFailure("“\(topic)” is no topic")
    }
    return publication
  }
}
