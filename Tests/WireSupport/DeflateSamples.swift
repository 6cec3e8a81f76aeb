import ConnectionFSM

/// Messages of many lengths: much alike, little alike, and not at all.
package enum DeflateSamples {
  package static func feed(_ number: Int) -> [UInt8] {
    Array(
      #"{"type":"ticker","sequence":\#(1000 + number),"price":"\#(number * 7919 % 9973).25"}"#.utf8)
  }

  package static func random(_ count: Int, alphabet: UInt64, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in UInt8(random.next(through: alphabet)) }
  }

  package static let messages: [[UInt8]] =
    (0..<20).map(feed)
    + [[], [0], Array("Hello".utf8), Array("Hello".utf8), [0, 0, 0xFF, 0xFF]]
    + [300, 5000, 40_000, 140_000].enumerated().flatMap { index, count in
      [UInt64(0), 3, 255].map { random(count, alphabet: $0, seed: UInt64(index)) }
    } + [[], feed(3)]
}
