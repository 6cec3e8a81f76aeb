import ConnectionFSM
import Transports

/// Puts a whole message through, in one part or in several.
extension MessageDeflater {
  func deflate(_ message: [UInt8]) -> [UInt8] { deflate([message[...]]) }

  func deflate(_ parts: [ArraySlice<UInt8>]) -> [UInt8] {
    var output: [UInt8] = []
    for (index, part) in parts.enumerated() {
      deflate(part.span.bytes, isLast: index == parts.count - 1, into: &output)
    }
    return output
  }
}

extension MessageInflater {
  func inflate(_ message: [UInt8], limit: Int = 1 << 24) throws(InflateError) -> [UInt8] {
    try inflate([message[...]], limit: limit)
  }

  func inflate(
    _ parts: [ArraySlice<UInt8>], limit: Int = 1 << 24
  ) throws(InflateError) -> [UInt8] {
    var output: [UInt8] = []
    for (index, part) in parts.enumerated() {
      try inflate(part.span.bytes, isLast: index == parts.count - 1, limit: limit, into: &output)
    }
    return output
  }
}

/// What came of a message, for comparison.
enum Inflated: Equatable {
  case message([UInt8])
  case failure(InflateError)

  init(_ parts: [ArraySlice<UInt8>], by inflater: MessageInflater, limit: Int = 1 << 24) {
    do throws(InflateError) {
      self = .message(try inflater.inflate(parts, limit: limit))
    } catch {
      self = .failure(error)
    }
  }
}

/// Messages of many lengths: much alike, little alike, and not at all.
enum DeflateSamples {
  static func feed(_ number: Int) -> [UInt8] {
    Array(
      #"{"type":"ticker","sequence":\#(1000 + number),"price":"\#(number * 7919 % 9973).25"}"#.utf8)
  }

  static func random(_ count: Int, alphabet: UInt64, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in UInt8(random.next(through: alphabet)) }
  }

  static let messages: [[UInt8]] =
    (0..<20).map(feed)
    + [[], [0], Array("Hello".utf8), Array("Hello".utf8), [0, 0, 0xFF, 0xFF]]
    + [300, 5000, 40_000, 140_000].enumerated().flatMap { index, count in
      [UInt64(0), 3, 255].map { random(count, alphabet: $0, seed: UInt64(index)) }
    } + [[], feed(3)]
}
