import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite("Framing by length")
struct LengthFramingTests {
  private struct Shape: CustomStringConvertible {
    let width: LengthFraming.Width
    let order: LengthFraming.ByteOrder
    let includesPrefix: Bool

    var description: String { "\(width) \(order) \(includesPrefix)" }

    func engine(_ maximumLength: Int = 100_000) throws -> LengthFraming {
      try LengthFraming(
        width: width, byteOrder: order, includesPrefix: includesPrefix,
        maximumLength: maximumLength)
    }

    func prefix(_ payload: UInt64) -> [UInt8] {
      let length = payload &+ (includesPrefix ? UInt64(width.rawValue) : 0)
      let bytes = withUnsafeBytes(of: length.bigEndian) { Array($0.suffix(width.rawValue)) }
      return order == .bigEndian ? bytes : bytes.reversed()
    }

    static let all = LengthFraming.Width.allCases.flatMap { width in
      LengthFraming.ByteOrder.allCases.flatMap { order in
        [false, true].map { Shape(width: width, order: order, includesPrefix: $0) }
      }
    }
  }

  private func error(_ engine: LengthFraming, _ message: Message) -> FramingError? {
    do throws(FramingError) { try engine.validate(message) } catch { return error }
    return nil
  }

  @Test("I13: what is sent arrives, in every width and order, however the stream is cut")
  func roundTrip() throws {
    for shape in Shape.all {
      let engine = try shape.engine()
      let payloads: [[UInt8]] = [[], [1], [1, 2, 3], [UInt8](repeating: 7, count: 200)]
      var trial = EngineTrial(engine)
      trial.start()
      var expected: [UInt8] = []
      for payload in payloads {
        trial.send(Message(bytes: payload, kind: .text))
        expected += shape.prefix(UInt64(payload.count)) + payload
      }
      trial.close()
      trial.send(Message(bytes: [9]))
      #expect(trial.output.bytes == expected, "\(shape)")
      #expect(trial.output.events == [.opened, .finished])
      let events = payloads.map { EngineEvent.message(Message(bytes: $0, kind: .binary)) }
      for cut in expected.cuts {
        let reading = Reading(engine, cut)
        #expect(reading.events == events + [.closed(nil)], "\(shape)")
        #expect(reading.wireLengths == payloads.map { $0.count + shape.width.rawValue })
      }
    }
  }

  @Test("I21: the longest payload arrives, one byte more is an error with its place, both ways")
  func limits() throws {
    for shape in Shape.all {
      let prefix = UInt64(shape.width.rawValue)
      let surplus = shape.includesPrefix ? prefix : 0
      let most = shape.width == .one ? 255 - Int(surplus) : 300
      let engine = try shape.engine(300)
      #expect(error(engine, Message(bytes: [UInt8](repeating: 0, count: most))) == nil)
      #expect(
        error(engine, Message(bytes: [UInt8](repeating: 0, count: most + 1)))
          == .messageTooLong(count: most + 1, limit: most))
      let good = shape.prefix(1) + [5]
      let longest = shape.prefix(UInt64(most)) + [UInt8](repeating: 1, count: most)
      #expect(Reading(engine, [good[...], longest[...]]).events.last == .closed(nil))
      guard shape.width != .one else { continue }
      let reading = Reading(engine, [good[...], shape.prefix(301)[...]], ends: false)
      #expect(reading.events.last == .failed(.protocolError))
      #expect(reading.problem == .tooLong(301 + surplus, limit: 300 + surplus), "\(shape)")
      #expect(reading.diagnosis?.offset == prefix + 1)
    }
  }

  @Test("I13, I21: the largest number of each width is refused, and never trusted with memory")
  func largest() throws {
    for shape in Shape.all where shape.width != .one {
      let bytes = [UInt8](repeating: 0xFF, count: shape.width.rawValue)
      let reading = Reading(try shape.engine(), [bytes[...]], ends: false)
      let number = UInt64.max >> UInt64(64 - 8 * shape.width.rawValue)
      if shape.width == .two {
        #expect(reading.events.isEmpty)
      } else {
        guard case .tooLong(number, _) = reading.problem else {
          Issue.record("\(shape)")
          return
        }
      }
    }
  }

  @Test("I13: a length that does not count itself where it must is an error with its place")
  func tooSmall() throws {
    for shape in Shape.all where shape.includesPrefix {
      let least = UInt64(shape.width.rawValue)
      for length in 0..<least {
        let reading = Reading(try shape.engine(), [shape.prefix(length &- least)[...]])
        #expect(reading.problem == .lengthTooSmall(length, least: least), "\(shape)")
        #expect(reading.events == [.failed(.protocolError)])
      }
    }
  }

  @Test("I13: random bytes in random pieces give the events of the whole")
  func randomStreams() throws {
    for seed in UInt64(1)...300 {
      var random = SplitMix64(seed: seed)
      let shape = Shape.all[Int(random.next(through: UInt64(Shape.all.count - 1)))]
      let stream = (0..<300).map { _ in
        UInt8(random.next(through: 3) == 0 ? random.next(through: 9) : 0)
      }
      let engine = try shape.engine(20)
      let whole = Reading(engine, [stream[...]])
      #expect(Reading(engine, stream.pieces(&random, longest: 7)) == whole, "seed \(seed)")
      #expect((whole.events.last == .closed(nil)) == (whole.diagnosis == nil))
    }
  }

  @Test("the end inside a frame is truncation, and nothing is done after it")
  func end() throws {
    for shape in Shape.all {
      let frame = shape.prefix(2) + [1, 2]
      for count in 1..<frame.count {
        var trial = EngineTrial(try shape.engine())
        trial.receive(frame[..<count])
        trial.receiveEnd()
        trial.receiveEnd()
        trial.receive(frame)
        trial.send(Message(bytes: [1]))
        trial.close()
        #expect(trial.output.events == [.failed(.truncated)])
        #expect(trial.output.bytes.isEmpty && trial.frameError?.offset == UInt64(count))
      }
    }
  }

  @Test("a message too long that is sent all the same ends the link before a byte is written")
  func tooLongSent() throws {
    var trial = EngineTrial(try LengthFraming(maximumLength: 2))
    trial.send(Message(bytes: [1, 2, 3]))
    trial.send(Message(bytes: [1]))
    #expect(trial.output.bytes.isEmpty && trial.output.events == [.failed(.protocolError)])
    #expect(!trial.engine.canPing && trial.engine.nextDeadline == nil)
  }

  @Test("a bad maximum is refused by name")
  func configuration() {
    let most = Int(Int32.max)
    for value in [-1, 0, most + 1] {
      #expect(
        throws: FramingError.limitOutOfRange(
          argument: "maximumLength", value: value, range: 1...most)
      ) { try LengthFraming(maximumLength: value) }
    }
  }
}
