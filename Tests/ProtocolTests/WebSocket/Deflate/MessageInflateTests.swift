import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite("F26: messages are inflated")
struct MessageInflateTests {
  private static let hello = Array("Hello".utf8)

  @Test("F26: the examples of RFC 7692 section 7.2.3 inflate, cut at every place")
  func examples() throws {
    for text in [
      "f2 48 cd c9 c9 07 00", "00 05 00 fa ff 48 65 6c 6c 6f 00", "f3 48 cd c9 c9 07 00 00",
      "f2 48 05 00 00 00 ff ff ca c9 c9 07 00",
    ] {
      let bytes = [UInt8](hex: text)
      for takes in [true, false] {
        // The same inflater for all: each message must leave it fit for the next.
        let inflater = MessageInflater(takesContextOver: takes)
        for cut in bytes.cuts {
          let inflated = Inflated(cut, by: inflater)
          #expect(inflated == .message(Self.hello), "\(text)")
        }
      }
    }
    let inflater = MessageInflater(takesContextOver: true)
    for text in ["f2 48 cd c9 c9 07 00", "f2 00 11 00 00"] {
      let inflated = try inflater.inflate([UInt8](hex: text))
      #expect(inflated == Self.hello)
    }
    let empty = try inflater.inflate([0])
    #expect(empty.isEmpty)
  }

  @Test("F26: without takeover nothing of the messages before can be pointed to")
  func noTakeover() throws {
    let inflater = MessageInflater(takesContextOver: false)
    _ = try inflater.inflate([UInt8](hex: "f2 48 cd c9 c9 07 00"))
    let second = Inflated([[UInt8](hex: "f2 00 11 00 00")[...]], by: inflater)
    #expect(second == .failure(.corrupt(reason: "invalid distance too far back")))
  }

  @Test("F26: final blocks stand anywhere in a message, with or without what the RFC puts behind")
  func finalBlocks() throws {
    let final = "f3 48 cd c9 c9 07 00"
    let open = "f2 48 cd c9 c9 07 00"
    for takes in [true, false] {
      let inflater = MessageInflater(takesContextOver: takes)
      for (text, times) in [
        (final, 1), (final + "00", 1), (final + final, 2), (final + final + "00", 2),
        (final + open, 2), (open + "00 00 ff ff" + final, 2),
        (open + "00 00 ff ff" + final + "00", 2), (final + final + open, 3),
      ] {
        let bytes = [UInt8](hex: text)
        for cut in bytes.cuts {
          let inflated = Inflated(cut, by: inflater)
          let expected = Array([[UInt8]](repeating: Self.hello, count: times).joined())
          #expect(inflated == .message(expected), "\(text)")
        }
      }
      // What a final block leaves behind is not part of the next message.
      _ = try inflater.inflate([UInt8](hex: final))
      let nothing = Inflated([[]], by: inflater)
      #expect(nothing == .failure(.truncated))
    }
  }

  @Test("F26: a message that ends inside a block is truncated, wherever it is cut off")
  func truncation() {
    let deflater = MessageDeflater(level: 6, windowBits: 15, takesContextOver: false)
    for message in [DeflateSamples.feed(1), DeflateSamples.random(500, alphabet: 3, seed: 1)] {
      let whole = deflater.deflate(message)
      for count in 0..<whole.count {
        let inflated = Inflated([whole[..<count]], by: MessageInflater(takesContextOver: true))
        switch inflated {
        case .failure(.truncated), .failure(.corrupt): break
        default: Issue.record("\(count) of \(whole.count) bytes give \(inflated)")
        }
      }
    }
    for nothing: [ArraySlice<UInt8>] in [[[]], [[], []]] {
      let inflated = Inflated(nothing, by: MessageInflater(takesContextOver: true))
      #expect(inflated == .failure(.truncated))
    }
  }

  @Test("F26: a tail that was not left out, and bytes that are nothing, are told")
  func garbage() {
    for text in ["f2 48 cd c9 c9 07 00 00 00 ff ff", "f2 48 cd c9 c9 07 00 07", "ff", "05 e0 81"] {
      let bytes = [UInt8](hex: text)
      var results: Set<String> = []
      for cut in bytes.cuts {
        let inflated = Inflated(cut, by: MessageInflater(takesContextOver: true))
        guard case .failure(let error) = inflated else {
          Issue.record("\(text) gives \(inflated)")
          continue
        }
        results.insert("\(error)")
      }
      #expect(results.count == 1)
    }
  }

  @Test("I13: random bytes and turned bits give the same however they are cut, and never trap")
  func randomBytes() {
    var random = SplitMix64(seed: 26)
    let deflater = MessageDeflater(level: 6, windowBits: 15, takesContextOver: false)
    let whole = deflater.deflate(DeflateSamples.random(400, alphabet: 7, seed: 2))
    for round in 0..<2000 {
      var bytes = whole
      if round % 2 == 0 {
        bytes = (0..<random.next(through: 300)).map { _ in UInt8(random.next(through: 255)) }
      } else {
        bytes[Int(random.next(through: UInt64(whole.count - 1)))] ^= 1 << random.next(through: 7)
      }
      let limit = 1 + Int(random.next(through: 600))
      let once = Inflated([bytes[...]], by: MessageInflater(takesContextOver: true), limit: limit)
      let cut = bytes.pieces(&random, longest: 40) + [[]]
      let inCuts = Inflated(cut, by: MessageInflater(takesContextOver: true), limit: limit)
      #expect(once == inCuts)
    }
  }

  @Test("I13: a peer that reaches beyond the window it agreed to is understood however it is cut")
  func breachOfWindow() throws {
    let block = DeflateSamples.random(5000, alphabet: 255, seed: 4)
    let deflater = MessageDeflater(level: 9, windowBits: 15, takesContextOver: true)
    let first = deflater.deflate(block)
    let second = deflater.deflate(block)
    #expect(second.count < 300)
    for size in [UInt64(1), 7, 100_000] {
      var random = SplitMix64(seed: size)
      let inflater = MessageInflater(takesContextOver: true)
      for message in [first, second] {
        let inflated = try inflater.inflate(message.pieces(&random, longest: size) + [[]])
        #expect(inflated == block)
      }
    }
  }

  @Test("I21, F27: exactly the limit inflates, one byte more is too long, by every cut")
  func limit() {
    let deflater = MessageDeflater(level: 6, windowBits: 15, takesContextOver: false)
    for message in [
      [7], DeflateSamples.feed(1), [UInt8](repeating: 7, count: 1000),
      DeflateSamples.random(1000, alphabet: 255, seed: 8),
    ] {
      let count = message.count
      let deflated = deflater.deflate(message)
      for cut in [[deflated[...]], deflated.indices.map { deflated[$0...$0] }] {
        for (limit, expected) in [
          (count, Inflated.message(message)), (count + 1, .message(message)),
          (.max, .message(message)), (count - 1, .failure(.tooLong(limit: count - 1))),
          (0, .failure(.tooLong(limit: 0))),
        ] {
          let inflated = Inflated(cut, by: MessageInflater(takesContextOver: true), limit: limit)
          #expect(inflated == expected)
        }
      }
    }
    let empty = Inflated([[0]], by: MessageInflater(takesContextOver: true), limit: 0)
    #expect(empty == .message([]))
  }

  @Test("I21, F27: the limit counts what the output has already")
  func limitOfParts() {
    let deflated = MessageDeflater(level: 6, windowBits: 15, takesContextOver: true)
      .deflate(Self.hello)
    var output = Array("He said: ".utf8)
    let inflater = MessageInflater(takesContextOver: true)
    let error = #expect(throws: InflateError.self) {
      try inflater.inflate(deflated.span.bytes, isLast: true, limit: 13, into: &output)
    }
    #expect(error == .tooLong(limit: 13))
    #expect(output.count <= 13)
  }

  @Test("I21, B1.7: a bomb of a thousand to one is told, and memory stays at the limit")
  func bomb() {
    let bomb = MessageDeflater(level: 9, windowBits: 15, takesContextOver: true)
      .deflate([UInt8](repeating: 0, count: 64 << 20))
    #expect(bomb.count < 70 << 10)
    for limit in [1 << 20, 1_000_001, 100] {
      for cut in [[bomb[...]], [bomb[..<100], bomb[100...]]] {
        let inflater = MessageInflater(takesContextOver: true)
        var output: [UInt8] = []
        var problem: InflateError?
        for part in cut where problem == nil {
          do throws(InflateError) {
            try inflater.inflate(part.span.bytes, isLast: false, limit: limit, into: &output)
          } catch {
            problem = error
          }
        }
        #expect(problem == .tooLong(limit: limit))
        #expect(output.count <= limit)
        // The system rounds what it is asked for up to some pages.
        #expect(output.capacity <= limit + 1 + 8192)
      }
    }
  }

  @Test("F26: an error is described with its place and its mend")
  func descriptions() {
    #expect(
      "\(InflateError.tooLong(limit: 5))"
        == "compressed message: inflates to more than 5 bytes; raise the limit if that is right")
    #expect(
      "\(InflateError.truncated)"
        == "compressed message: ends inside a block; mend the peer, or offer no compression")
    #expect(
      "\(InflateError.corrupt(reason: "invalid block type"))"
        == "compressed message: is no deflated data (invalid block type); mend the peer, "
        + "or offer no compression")
  }
}
