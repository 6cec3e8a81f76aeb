/// What a channel has read from its stream and nobody has taken yet.
struct ArrivedBytes: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0

  /// What an empty buffer may keep for the next bytes.
  private static let keptCapacity = 16 << 10

  var count: Int { bytes.count - start }

  mutating func append(_ more: RawSpan) { more.withUnsafeBytes { bytes += $0 } }

  /// Looks at the bytes of that range, counted from the first that is there.
  func read<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes {
      body(
        UnsafeRawBufferPointer(
          rebasing: $0[(start + range.lowerBound)..<(start + range.upperBound)]))
    }
  }

  /// Takes so many from the front, and gives all but the last few of them.
  mutating func take(_ count: Int, droppingLast dropped: Int = 0) -> [UInt8] {
    if start == 0, count == bytes.count, dropped == 0 {
      defer { bytes = [] }
      return bytes
    }
    let taken = Array(bytes[start..<(start + count - dropped)])
    start += count
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
      start = 0
    } else if start >= Self.keptCapacity, start * 2 >= bytes.count {
      bytes.removeFirst(start)
      start = 0
    }
    return taken
  }

  mutating func removeAll() {
    bytes = []
    start = 0
  }
}
