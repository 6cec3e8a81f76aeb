import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite("F29: the 7-byte frame")
struct SevenByteFramingTests {
  static let json = Array("{\n  \"name\" : \"Veeco\"\n}".utf8)
  static let plain = [UInt8](
    hex: "0000001d 01 00 00 7b0a2020226e616d6522203a2022566565636f220a7d")
  static let xor = [UInt8](
    hex: "0000001d 01 01 00 2d6f45434d380408064d765f4541393300060c4d5c18")
  static let gzip = [UInt8](
    hex: "00000031 01 00 01 1f8b0800000000000003abe6525050ca4bcc4d5552b052500a4b4d4dce57e2aa0500"
      + "eb5c79d716000000")
  static let both = [UInt8](
    hex: "00000031 01 01 01 1f8b0800000000000003d3cd7775f6b560e160f32d8b7775b4346660e3f18d910000"
      + "d79187a816000000")

  static func engine(
    key: String? = "Veeco", compression: SevenByteFraming.Compression = .none,
    maximumFrame: Int = 1 << 20, maximumInflated: Int = 1 << 20, legacyPeer: Bool = false,
    closesOnMalformedJSON: Bool = false
  ) throws -> SevenByteFraming {
    try SevenByteFraming(
      encoding: key.map { .xor(key: $0) } ?? .plain, compression: compression,
      maximumFrame: maximumFrame, maximumInflated: maximumInflated, legacyPeer: legacyPeer,
      closesOnMalformedJSON: closesOnMalformedJSON)
  }

  /// A frame, put together by hand.
  static func frame(
    type: UInt8 = 1, encoding: UInt8 = 0, compression: UInt8 = 0, _ body: [UInt8]
  ) -> [UInt8] {
    let length = UInt32(7 + body.count)
    return (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) }
      + [type, encoding, compression] + body
  }

  private func sent(_ engine: SevenByteFraming, _ message: Message) -> [UInt8] {
    var trial = EngineTrial(engine)
    trial.send(message)
    return trial.output.bytes
  }

  // MARK: Vectors

  @Test(
    "F29, F30, F31, F32: each golden frame arrives as its object, with its length on the wire",
    arguments: [(plain, 29), (xor, 29), (gzip, 49), (both, 49)])
  func goldenReceived(frame: [UInt8], length: Int) throws {
    let reading = Reading(try Self.engine(), [frame[...]])
    let message = Message(bytes: Self.json, kind: .object)
    #expect(reading.events == [.message(message), .closed(nil)])
    #expect(reading.wireLengths == [length])
  }

  @Test("F29, F30, F31, F32: a value is sent as the golden frames, compressed ones by content")
  func goldenSent() throws {
    let message = try Message(encoding: ["name": "Veeco"])
    #expect(message.bytes == Self.json)
    #expect(sent(try Self.engine(key: nil), message) == Self.plain)
    #expect(sent(try Self.engine(), message) == Self.xor)
    let gzip = sent(try Self.engine(key: nil, compression: .gzip), message)
    #expect(gzip.prefix(7) == Self.frame(compression: 1, Array(gzip.dropFirst(7))).prefix(7))
    #expect(try Gzip.inflate(Array(gzip.dropFirst(7)), limit: 100) == Self.json)
    let both = sent(try Self.engine(compression: .gzip), message)
    #expect(
      both.prefix(7)
        == Self.frame(encoding: 1, compression: 1, Array(both.dropFirst(7))).prefix(7))
    #expect(
      try Gzip.inflate(Array(both.dropFirst(7)), limit: 100) == Array(Self.xor.dropFirst(7)))
  }

  @Test("F29: what arrives is read by its own header, whatever is sent")
  func headerDecides() throws {
    let frames = Self.plain + Self.xor + Self.gzip + Self.both
    let message = Message(bytes: Self.json, kind: .object)
    let engines = try [
      SevenByteFraming(encoding: .plain, decodingKey: "Veeco", maximumFrame: 1 << 20),
      Self.engine(), Self.engine(compression: .gzip),
    ]
    for engine in engines {
      #expect(
        Reading(engine, [frames[...]]).events
          == Array(repeating: .message(message), count: 4) + [.closed(nil)])
    }
  }

  @Test("F29: an object arrives at an engine of the same kind as it was sent, all four ways")
  func bothEnds() throws {
    let message = try Message(encoding: ["text": ["a/b", "ü", ""], "more": []])
    for key in [nil, "Veeco", "schlüssel"] {
      for compression in [SevenByteFraming.Compression.none, .gzip] {
        let engine = try Self.engine(key: key, compression: compression)
        let bytes = sent(engine, message)
        let reading = Reading(engine, [bytes[...]])
        #expect(reading.events == [.message(message), .closed(nil)])
        #expect(reading.wireLengths == [bytes.count])
      }
    }
  }

  // MARK: The header

  @Test("F29, F32: each type but 1 arrives under its number, decoded all the same")
  func types() throws {
    let engine = try Self.engine()
    for type in UInt8.min...UInt8.max {
      let kind: Message.Kind = type == 1 ? .object : .unknown(type)
      for frame in [Self.plain, Self.xor, Self.gzip, Self.both] {
        var frame = frame
        frame[4] = type
        #expect(
          Reading(engine, [frame[...]]).events
            == [.message(Message(bytes: Self.json, kind: kind)), .closed(nil)])
      }
    }
  }

  @Test("F29, F34: each unknown encoding and compression is an error with its place")
  func unknownNumbers() throws {
    let engine = try Self.engine()
    for number in UInt8(2)...UInt8.max {
      let frames = Self.plain + Self.frame(encoding: number, Self.json) + Self.plain
      for cut in [[frames[...]], [frames[..<35], frames[35...]]] {
        let reading = Reading(engine, cut)
        #expect(reading.events.count == 2)
        #expect(reading.events.last == .failed(.protocolError))
        #expect(reading.diagnosis?.offset == 29 + 5)
        #expect(reading.problem == .unknownEncoding(number))
      }
      let reading = Reading(engine, [Self.frame(compression: number, Self.json)[...]])
      #expect(reading.events == [.failed(.protocolError)])
      #expect(reading.diagnosis?.offset == 6)
      #expect(reading.problem == .unknownCompression(number))
    }
  }

  @Test("F34, B1.2: a length of 0 to 6 ends the link at once, with its place")
  func poison() throws {
    for length in UInt8(0)...6 {
      let reading = Reading(
        try Self.engine(), [(Self.plain + [0, 0, 0, length])[...]], ends: false)
      #expect(reading.events.last == .failed(.protocolError))
      #expect(reading.diagnosis?.offset == 29)
      #expect(reading.problem == .lengthTooSmall(UInt64(length), least: 7))
      #expect(reading.diagnosis?.description.contains("byte 29") == true)
    }
  }

  @Test("B1.2, B1.5: a frame of its header alone is an empty message, and the next one is read")
  func headerAlone() throws {
    for (encoding, compression) in [(0, 0), (1, 0), (0, 1), (1, 1)] as [(UInt8, UInt8)] {
      let empty = Self.frame(encoding: encoding, compression: compression, [])
      for cut in (empty + Self.plain).cuts {
        let reading = Reading(try Self.engine(closesOnMalformedJSON: true), cut)
        #expect(
          reading.events == [
            .message(Message(bytes: [], kind: .object)),
            .message(Message(bytes: Self.json, kind: .object)), .closed(nil),
          ])
        #expect(reading.wireLengths == [7, 29])
      }
    }
  }

  @Test("F29, B1.1, B1.7: every length is read rightly, and refused above the limit")
  func lengths() throws {
    // An engine for empty frames alone tells each other length that it read.
    let engine = try Self.engine(maximumFrame: 7)
    let lengths = Array(UInt32(8)...70_000) + [0x7FFF_FFFF, 0x8000_0000, .max]
    for length in lengths {
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) }
      let problem = Reading(engine, [bytes[...]], ends: false).problem
      if problem != .tooLong(UInt64(length), limit: 7) { Issue.record("\(length): \(problem!)") }
    }
    let most = try SevenByteFraming(maximumFrame: Int(Int32.max))
    let topBit = Reading(most, [[0x80, 0, 0, 0]], ends: false)
    #expect(topBit.problem == .tooLong(1 << 31, limit: UInt64(Int32.max)))
    #expect(Reading(most, [[0x7F, 0xFF, 0xFF, 0xFF]], ends: false).events.isEmpty)
  }

  @Test("B1.1, F29: bodies around 64 KiB and of a megabyte arrive whole, and the next frame, too")
  func longBodies() throws {
    for length in [65_535, 65_536, 70_000, 1_000_000, 1 << 20] {
      let text = String(repeating: "x", count: length - 7 - 2 - 2)
      let message = Message(bytes: Array("[\"\(text)\"]".utf8), kind: .object)
      let engine = try Self.engine(key: "Veeco", maximumFrame: 1 << 20)
      let bytes = sent(engine, message)
      #expect(bytes.count == length)
      var random = SplitMix64(seed: UInt64(length))
      let pieces = (bytes + Self.plain).pieces(&random, longest: 3000)
      #expect(
        Reading(engine, pieces).events == [
          .message(message), .message(Message(bytes: Self.json, kind: .object)), .closed(nil),
        ])
    }
  }

  @Test("F34: an XORed frame without a key is an error with its place")
  func keyMissing() throws {
    let reading = Reading(try Self.engine(key: nil), [Self.xor[...]])
    #expect(reading.problem == .keyMissing && reading.diagnosis?.offset == 5)
  }

  // MARK: Bodies

  @Test("F31, F34, B1.6: a body that does not inflate ends the link, with the reason")
  func brokenBodies() throws {
    let engine = try Self.engine()
    let deflated = Array(Self.gzip.dropFirst(7))
    var checksum = deflated
    checksum[checksum.count - 5] ^= 1
    let cases: [([UInt8], GzipError)] = [
      (Array("garbage".utf8), .corrupt(offset: 2, reason: "incorrect header check")),
      (Array(deflated.dropLast()), .truncated),
      (deflated + [0], .trailingBytes(1)), (checksum, .checksum),
    ]
    for (body, error) in cases {
      let reading = Reading(engine, [Self.plain[...], Self.frame(compression: 1, body)[...]])
      #expect(reading.events.last == .failed(.protocolError))
      #expect(reading.problem == .gzip(error))
      #expect(reading.diagnosis?.offset == 29 + 7)
    }
  }

  @Test("I21, B1.7: a bomb is refused, and as much as is allowed is not")
  func bombs() throws {
    let zeros = [UInt8](repeating: 0, count: 50_000_000)
    let bomb = Self.frame(compression: 1, Gzip.deflate(zeros))
    #expect(bomb.count < 1 << 20)
    let reading = Reading(try Self.engine(maximumInflated: 1 << 20), [bomb[...]])
    #expect(reading.events == [.failed(.protocolError)])
    #expect(reading.problem == .gzip(.tooLong(limit: 1 << 20)))
    let exact = Self.frame(compression: 1, Gzip.deflate(Array(zeros.prefix(1 << 20))))
    #expect(Reading(try Self.engine(maximumInflated: 1 << 20), [exact[...]]).problem == nil)
    #expect(Reading(try Self.engine(maximumInflated: (1 << 20) - 1), [exact[...]]).problem != nil)
  }

  @Test("F32: malformed JSON is delivered, and decoding it throws; as an option it ends the link")
  func malformedJSON() throws {
    let frames = Self.frame(Array("{\"name\":".utf8)) + Self.plain
    let kept = Reading(try Self.engine(), [frames[...]])
    #expect(kept.events.count == 3 && kept.problem == nil)
    guard case .message(let message) = kept.events[0] else {
      Issue.record("no message")
      return
    }
    #expect(throws: JSONError.self) { try message.decoded(as: [String: String].self) }
    let closed = Reading(try Self.engine(closesOnMalformedJSON: true), [frames[...]])
    #expect(closed.events == [.failed(.protocolError)])
    #expect(closed.diagnosis?.offset == 7)
    guard case .json = closed.problem else {
      Issue.record("\(closed.events)")
      return
    }
    let other = Self.frame(type: 2, Array("no JSON".utf8))
    #expect(Reading(try Self.engine(closesOnMalformedJSON: true), [other[...]]).problem == nil)
  }
}
