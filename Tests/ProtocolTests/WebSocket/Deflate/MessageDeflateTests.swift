import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite("F26: messages are deflated")
struct MessageDeflateTests {
  private static let hello = Array("Hello".utf8)

  @Test("F26: zlib makes RFC 7692's examples byte for byte, but for two that nothing obliges it to")
  func examples() {
    let shared = MessageDeflater(level: 6, windowBits: 15, takesContextOver: true)
    // Sections 7.2.3.1 and 7.2.3.2.
    #expect(shared.deflate(Self.hello) == [UInt8](hex: "f2 48 cd c9 c9 07 00"))
    #expect(shared.deflate(Self.hello) == [UInt8](hex: "f2 00 11 00 00"))
    // Section 7.2.3.6.
    #expect(shared.deflate([UInt8]()) == [0])
    let separate = MessageDeflater(level: 6, windowBits: 15, takesContextOver: false)
    #expect(separate.deflate([UInt8]()) == [0])
    for _ in 0..<3 {
      #expect(separate.deflate(Self.hello) == [UInt8](hex: "f2 48 cd c9 c9 07 00"))
    }
    // Section 7.2.3.3. The final block of 7.2.3.4 and the two of 7.2.3.5 are only inflated.
    let stored = MessageDeflater(level: 0, windowBits: 15, takesContextOver: true)
    #expect(stored.deflate(Self.hello) == [UInt8](hex: "00 05 00 fa ff 48 65 6c 6c 6f 00"))
  }

  @Test(
    "F26: what is deflated inflates to itself, at each level and window, with and without takeover",
    arguments: [0, 1, 6, 9], 9...15)
  func roundTrip(level: Int, bits: Int) throws {
    for takes in [true, false] {
      let deflater = MessageDeflater(level: level, windowBits: bits, takesContextOver: takes)
      let inflater = MessageInflater(takesContextOver: takes)
      for message in DeflateSamples.messages {
        let deflated = deflater.deflate(message)
        #expect(deflated.count <= message.count + message.count / 8 + message.count / 64 + 64)
        let inflated = try inflater.inflate(deflated)
        #expect(inflated == message)
      }
    }
  }

  @Test("F26: without takeover a message does not depend on those before it; with it, it gains")
  func takeover() {
    let first = DeflateSamples.feed(1)
    let second = DeflateSamples.feed(2)
    let alone = MessageDeflater(level: 6, windowBits: 15, takesContextOver: false).deflate(second)
    let separate = MessageDeflater(level: 6, windowBits: 15, takesContextOver: false)
    _ = separate.deflate(first)
    #expect(separate.deflate(second) == alone)
    let shared = MessageDeflater(level: 6, windowBits: 15, takesContextOver: true)
    _ = shared.deflate(first)
    #expect(shared.deflate(second).count < alone.count / 2)
  }

  @Test("F26: parts cut at every place make one message, and the tail is left out once")
  func parts() throws {
    let message = DeflateSamples.feed(1) + DeflateSamples.feed(2)
    for level in [0, 6] {
      for takes in [true, false] {
        let deflater = MessageDeflater(level: level, windowBits: 15, takesContextOver: takes)
        let inflater = MessageInflater(takesContextOver: takes)
        for cut in message.cuts + [message.indices.map { message[$0...$0] } + [[]], [[], [], []]] {
          let inflated = try inflater.inflate(deflater.deflate(cut))
          #expect(inflated == Array(cut.joined()))
        }
      }
    }
  }

  @Test("F26: large parts, with what zlib holds back of them, make one message", arguments: 9...15)
  func largeParts(bits: Int) throws {
    for level in [0, 1, 6] {
      let deflater = MessageDeflater(level: level, windowBits: bits, takesContextOver: true)
      let inflater = MessageInflater(takesContextOver: true)
      for alphabet in [UInt64(0), 3, 255] {
        let message = DeflateSamples.random(300_000, alphabet: alphabet, seed: 5)
        for size in [1000, 16_383, 131_072] {
          let parts = stride(from: 0, to: message.count, by: size).map {
            message[$0..<min($0 + size, message.count)]
          }
          let inflated = try inflater.inflate(deflater.deflate(parts + [[]]))
          #expect(inflated == message)
        }
      }
    }
  }

  @Test("F26: what came out with an earlier part may be gone before the next comes")
  func consumedOutput() throws {
    let message = DeflateSamples.random(200_000, alphabet: 15, seed: 9)
    let deflater = MessageDeflater(level: 6, windowBits: 15, takesContextOver: true)
    var whole: [UInt8] = []
    var output = Array("a frame's header".utf8)
    for start in stride(from: 0, to: message.count, by: 7000) {
      let part = message[start..<min(start + 7000, message.count)]
      deflater.deflate(part.span.bytes, isLast: part.endIndex == message.count, into: &output)
      if start == 0 { output.removeFirst("a frame's header".utf8.count) }
      whole += output
      output.removeAll()
    }
    let inflated = try MessageInflater(takesContextOver: true).inflate(whole)
    #expect(inflated == message)
  }

  @Test("F26: the bytes on the wire do not depend on the room in the output")
  func roomIndependence() {
    for count in [100, 3000, 100_000] {
      for message in [UInt64(3), 255].map({
        DeflateSamples.random(count, alphabet: $0, seed: 3)
      }) {
        var outputs: Set<[UInt8]> = []
        for capacity in [0, 1, 17, count / 2, count, 4 * count] {
          var output: [UInt8] = []
          output.reserveCapacity(capacity)
          let deflater = MessageDeflater(level: 6, windowBits: 15, takesContextOver: true)
          deflater.deflate(message.span.bytes, isLast: true, into: &output)
          outputs.insert(output)
        }
        #expect(outputs.count == 1)
      }
    }
  }
}
