import NetSim
import Testing

@Suite("Digest")
struct DigestTests {
  private func digest(_ add: (inout Digest) -> Void) -> UInt64 {
    var digest = Digest()
    add(&digest)
    return digest.value
  }

  @Test("digests are golden")
  func golden() {
    #expect(Digest().value == 16_852_473_371_444_490_038)
    #expect(digest { $0.add(UInt64(1)) } == 6_665_282_349_936_808_957)
    #expect(digest { $0.add(Int64(-1)) } == 5_181_498_572_158_267_886)
    #expect(digest { $0.add("dial #1") } == 11_473_415_128_646_901_587)
    #expect(digest { $0.add(bytes: 0...255) } == 6_399_539_136_292_380_656)
  }

  @Test("order counts, and so do the borders between texts")
  func order() {
    let all = [
      digest { _ in },
      digest { $0.add("") },
      digest { $0.add(UInt64(0)) },
      digest { $0.add("ab") },
      digest { $0.add("ba") },
      digest {
        $0.add("a")
        $0.add("b")
      },
      digest {
        $0.add("b")
        $0.add("a")
      },
      digest { $0.add(bytes: [0x61, 0x62, 0]) },
      digest { $0.add(bytes: Array("abcdefgh".utf8)) },
      digest { $0.add(bytes: Array("abcdefgh\0".utf8)) },
    ]
    #expect(Set(all).count == all.count)
  }

  @Test("one bit of one number changes about half of the digest, wherever it stands")
  func avalanche() {
    var (flips, trials) = (0, 0)
    for place in 0..<8 {
      for bit in 0..<64 {
        let plain = digest { digest in for word in 0..<8 { digest.add(UInt64(word)) } }
        let changed = digest { digest in
          for word in 0..<8 { digest.add(UInt64(word) ^ (word == place ? 1 << UInt64(bit) : 0)) }
        }
        let count = (plain ^ changed).nonzeroBitCount
        #expect((8...56).contains(count), "word \(place), bit \(bit)")
        flips += count
        trials += 1
      }
    }
    // The mean of 512 such counts has a standard error of 4 / √512.
    #expect(abs(Double(flips) / Double(trials) - 32) < 1)
  }

  @Test("a million short series have a million digests")
  func collisions() {
    var seen: Set<UInt64> = []
    for high in 0..<UInt64(1000) {
      for low in 0..<UInt64(1000) {
        seen.insert(
          digest {
            $0.add(high)
            $0.add(low)
          })
      }
    }
    #expect(seen.count == 1_000_000)
  }
}
