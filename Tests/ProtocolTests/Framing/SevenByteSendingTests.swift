import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite("F29: the 7-byte frame, sending and properties")
struct SevenByteSendingTests {
  private typealias Frames = SevenByteFramingTests

  private func problem(_ engine: SevenByteFraming, _ message: Message) -> FramingError? {
    do throws(FramingError) { try engine.validate(message) } catch { return error }
    return nil
  }

  private func object(_ text: String) -> Message { Message(bytes: Array(text.utf8), kind: .object) }

  @Test("B1.5, F32: what is no object is refused before a byte is written")
  func onlyObjects() throws {
    let engine = try Frames.engine()
    let refused = [
      Message("{}"), Message(bytes: Frames.json, kind: .binary),
      Message(bytes: Frames.json, kind: .unknown(2)), object(""), object("5"), object("\"a\""),
      object("null"), object("{"), object("[01]"), object("[\"\\x\"]"), object("{} x"),
      object("[\"a\nb\"]"), object("[\"\u{FFFD}\""),
      Message(bytes: [0x5B, 0x22, 0xFF], kind: .object),
    ]
    for message in refused {
      #expect(problem(engine, message) != nil && !engine.admits(message), "\(message.text)")
      var trial = EngineTrial(engine)
      trial.send(object("[1]"))
      let before = trial.output.bytes
      trial.send(message)
      trial.send(object("[2]"))
      trial.receive(Frames.plain)
      #expect(trial.output.bytes == before)
      #expect(trial.output.events == [.failed(.protocolError)])
      #expect(trial.engine.diagnosis is FramingError)
    }
    for text in ["{}", "[]", "[1e3,-0.5,true,null,\"\\u00fc\",[[]],{\"a\":{}}]", " {\"a\":1}\n"] {
      #expect(engine.admits(object(text)), "\(text)")
    }
    #expect(problem(engine, Message("{}")) == .messageIsNoObject)
    guard case .messageIsNoJSON(let error) = problem(engine, object("{\"a\":[1,{\"b\":01}]}"))
    else {
      Issue.record("accepted")
      return
    }
    #expect(error.path.isEmpty && error.description.hasPrefix("JSON: "))
  }

  @Test("I21, B1.6: JSON nested a hundred thousand deep is a typed error, on either way")
  func depth() throws {
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    #expect(problem(try Frames.engine(), object(deep)) != nil)
    let most = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
    #expect(problem(try Frames.engine(), object(most)) == nil)
    let frame = Frames.frame(Array(deep.utf8))
    let reading = Reading(try Frames.engine(closesOnMalformedJSON: true), [frame[...]])
    #expect(reading.events == [.failed(.protocolError)])
  }

  @Test("F29, F34, B1.1: a legacy peer is sent 65,535 bytes at most, all others the maximum")
  func limits() throws {
    func message(frame length: Int) -> Message {
      object("[\"" + String(repeating: "x", count: length - 7 - 4) + "\"]")
    }
    let legacy = try Frames.engine(legacyPeer: true)
    #expect(problem(legacy, message(frame: 65_535)) == nil)
    #expect(
      problem(legacy, message(frame: 65_536)) == .frameTooLong(count: 65_536, limit: 65_535))
    let engine = try Frames.engine(maximumFrame: 100_000)
    #expect(problem(engine, message(frame: 65_536)) == nil)
    #expect(problem(engine, message(frame: 100_000)) == nil)
    #expect(
      problem(engine, message(frame: 100_001)) == .frameTooLong(count: 100_001, limit: 100_000))
    // What counts is the frame's length: compressed, much more goes into it.
    let gzip = try Frames.engine(key: nil, compression: .gzip, legacyPeer: true)
    #expect(problem(gzip, message(frame: 1_000_000)) == nil)
    #expect(
      problem(gzip, message(frame: 2_000_000))
        == .messageTooLong(count: 1_999_993, limit: 1 << 20))
    var random = SplitMix64(seed: 1)
    let noise = String((0..<100_000).map { _ in "0123456789abcdef".randomElement(&random) })
    guard case .frameTooLong = problem(gzip, object("[\"\(noise + noise)\"]")) else {
      Issue.record("accepted")
      return
    }
  }

  @Test("B1.15, F30: each bad argument is refused by name")
  func configuration() {
    #expect(throws: FramingError.emptyKey) { try SevenByteFraming(encoding: .xor(key: "")) }
    #expect(throws: FramingError.emptyKey) { try SevenByteFraming(decodingKey: "") }
    let most = Int(Int32.max)
    for value in [Int.min, 0, 6, most + 1] {
      let error = FramingError.limitOutOfRange(
        argument: "maximumFrame", value: value, range: 7...most)
      #expect(throws: error) { try SevenByteFraming(maximumFrame: value) }
      #expect(error.description.contains("maximumFrame: is \(value)"))
    }
    #expect(
      throws: FramingError.limitOutOfRange(
        argument: "maximumInflated", value: 0, range: 1...most)
    ) { try SevenByteFraming(maximumInflated: 0) }
    for error in [
      FramingError.emptyKey, .messageIsNoObject, .frameTooLong(count: 2, limit: 1),
      .messageIsNoJSON(JSONErrorSample.error),
    ] { #expect(error.description.contains(":")) }
  }

  @Test("B1.15, F30: the key repeats by its UTF-8 bytes, anew for each message; twice is nothing")
  func key() throws {
    let message = try Message(encoding: ["text": "\(String(repeating: "ü", count: 50))"])
    for key in ["k", "Veeco", "schlüssel", "钥匙", String(repeating: "long", count: 100)] {
      var trial = EngineTrial(try Frames.engine(key: key))
      trial.send(message)
      trial.send(message)
      let half = trial.output.bytes.count / 2
      #expect(trial.output.bytes[..<half] == trial.output.bytes[half...])
      let bytes = Array(key.utf8)
      let expected = message.bytes.enumerated().map { $1 ^ bytes[$0 % bytes.count] }
      #expect(Array(trial.output.bytes[7..<half]) == expected)
      trial.receive(trial.output.bytes)
      #expect(trial.messages == [message, message])
    }
  }

  @Test("I13, F34: every cut of good and of broken streams gives the same events and place")
  func everyCut() throws {
    let good = Frames.plain + Frames.both + Frames.frame(type: 9, [1, 2]) + Frames.xor
    let streams = [
      good, good + [0, 0, 0, 6, 1], good + Frames.frame(encoding: 2, [1]),
      good + Frames.frame(compression: 1, [1, 2, 3]) + good, Array(good.dropLast()),
      good + [0, 0, 1], good + Frames.frame(Array("{".utf8)), good + [0x80],
    ]
    for closes in [false, true] {
      let engine = try Frames.engine(closesOnMalformedJSON: closes)
      for stream in streams {
        let whole = Reading(engine, [stream[...]])
        for cut in stream.cuts { #expect(Reading(engine, cut) == whole) }
      }
    }
  }

  @Test(
    "I13: random bytes in random pieces give the events of the whole, and end in order or typed")
  func randomStreams() throws {
    for seed in UInt64(1)...500 {
      var random = SplitMix64(seed: seed)
      var stream: [UInt8] = []
      while stream.count < 600 {
        let body = (0..<Int(random.next(through: 40))).map { _ in UInt8(random.next(through: 255)) }
        switch random.next(through: 11) {
        case 0: stream += body
        case 1: stream += Frames.frame(compression: 1, body)
        case 2: stream += Frames.frame(compression: 1, Gzip.deflate(body))
        default:
          let encoding = UInt8(random.next(through: 1))
          stream += Frames.frame(type: UInt8(random.next(through: 2)), encoding: encoding, body)
        }
      }
      let engine = try Frames.engine(maximumFrame: 1000, maximumInflated: 1000)
      let whole = Reading(engine, [stream[...]])
      #expect(Reading(engine, stream.pieces(&random, longest: 9)) == whole, "seed \(seed)")
      let isEnd = whole.events.last.map {
        [.closed(nil), .failed(.protocolError), .failed(.truncated)].contains($0)
      }
      #expect(isEnd == true && (whole.events.last == .closed(nil)) == (whole.diagnosis == nil))
    }
  }

  @Test("F34: the end inside a frame is truncation, with its place; between two an orderly end")
  func end() throws {
    for count in 1..<Frames.plain.count {
      let reading = Reading(
        try Frames.engine(), [Frames.plain[...], Frames.plain[..<count]])
      #expect(reading.events.last == .failed(.truncated))
      #expect(reading.problem == .endedInside && reading.diagnosis?.offset == UInt64(29 + count))
    }
    var trial = EngineTrial(try Frames.engine())
    trial.receiveEnd()
    trial.receiveEnd()
    trial.receive(Frames.plain)
    trial.send(object("[]"))
    trial.close()
    #expect(trial.output.events == [.closed(nil)] && trial.output.bytes.isEmpty)
  }

  @Test("a link opens at once; close finishes writing once, and reading goes on")
  func life() throws {
    var trial = EngineTrial(try Frames.engine())
    trial.start()
    trial.send(object("[]"))
    let written = trial.output.bytes
    trial.close()
    trial.close()
    trial.send(object("[]"))
    trial.receive(Frames.plain)
    trial.receiveEnd()
    #expect(trial.output.bytes == written)
    #expect(trial.output.events.prefix(2) == [.opened, .finished])
    #expect(trial.output.events.count == 4 && trial.output.events.last == .closed(nil))
    #expect(!trial.engine.canPing && trial.engine.nextDeadline == nil)
  }

  @Test("I21, B1.7: what headers promise takes no memory, only what arrives does")
  func promises() throws {
    // 400 TiB together: more than a process can address.
    let engine = try SevenByteFraming(maximumFrame: Int(Int32.max))
    var trials: [EngineTrial<SevenByteFraming>] = []
    for _ in 0..<200_000 {
      var trial = EngineTrial(engine)
      trial.receive([0x7F, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0x7B])
      trials.append(trial)
    }
    #expect(trials.allSatisfy { $0.output.events.isEmpty })
  }

  @Test("a body of a mebibyte, byte by byte, takes linear time")
  func linear() throws {
    let body = [UInt8](repeating: 0x20, count: (1 << 20) - 7)
    var trial = EngineTrial(try Frames.engine())
    for byte in Frames.frame(body) { trial.receive(CollectionOfOne(byte)) }
    #expect(trial.messages == [Message(bytes: body, kind: .object)])
  }
}

/// An error to look at; they are made by reading alone.
private enum JSONErrorSample {
  static let error: JSONError = {
    do throws(JSONError) {
      _ = try Message("{}").decoded(as: Int.self)
      fatalError("an object is no number")
    } catch { return error }
  }()
}

extension String {
  fileprivate func randomElement(_ random: inout SplitMix64) -> Character {
    self[index(startIndex, offsetBy: Int(random.next(through: UInt64(count - 1))))]
  }
}
