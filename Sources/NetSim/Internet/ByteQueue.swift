/// Bytes in a row, named by their place since the beginning: added at one end, given up at the
/// other, read anywhere between.
struct ByteQueue: Sendable {
  private var storage: [UInt8] = []
  private var head = 0
  /// The place of the first byte that is still there.
  private(set) var start = 0

  /// The place behind the last byte.
  var end: Int { start + storage.count - head }

  mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { storage.append(contentsOf: $0) }
  }

  /// Gives up the bytes before that place.
  mutating func drop(before place: Int) {
    guard place > start else { return }
    head += place - start
    start = place
    // Each byte is moved at most once on the average.
    if head == storage.count {
      storage.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 4096, head * 2 >= storage.count {
      storage.removeFirst(head)
      head = 0
    }
  }

  /// Copies bytes from that place on.
  func copy(from place: Int, count: Int, into buffer: inout MutableRawSpan) {
    let first = head + place - start
    buffer.withUnsafeMutableBytes { target in
      storage.withUnsafeBytes { source in
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[first..<first + count]))
      }
    }
  }

  /// The bytes of a range of places.
  func bytes(from place: Int, count: Int) -> [UInt8] {
    let first = head + place - start
    return Array(storage[first..<first + count])
  }

  /// Turns a bit of the byte at that place around.
  mutating func flip(bit: UInt8, at place: Int) { storage[head + place - start] ^= 1 << bit }
}
