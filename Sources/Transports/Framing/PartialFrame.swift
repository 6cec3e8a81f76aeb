/// What has arrived of a frame: a header of a fixed length, then a body of the length it tells.
///
/// Memory follows what has arrived, never what a header promises.
struct PartialFrame: Sendable {
  private let headerLength: Int
  private(set) var header: [UInt8] = []
  private var body: [UInt8] = []
  /// Where in the stream the frame begins.
  private(set) var start: UInt64 = 0

  init(headerLength: Int) { self.headerLength = headerLength }

  /// Nothing has arrived of it.
  var isEmpty: Bool { header.isEmpty }
  var hasHeader: Bool { header.count == headerLength }
  /// Where the next byte will lie.
  var end: UInt64 { start + UInt64(header.count + body.count) }

  /// Takes what is missing of the header, as far as it is there.
  mutating func takeHeader(_ bytes: inout UnsafeRawBufferPointer) {
    header += Self.split(&bytes, headerLength - header.count)
  }

  /// Takes what is missing of a body of this length, as far as it is there.
  /// - Returns: The body once it is whole; the next frame begins then.
  mutating func takeBody(_ length: Int, _ bytes: inout UnsafeRawBufferPointer) -> [UInt8]? {
    body += Self.split(&bytes, length - body.count)
    guard body.count == length else { return nil }
    let whole = body
    start = end
    body = []
    header.removeAll(keepingCapacity: true)
    return whole
  }

  /// Forgets the frame: nothing more will be read.
  mutating func letGo() {
    start = end
    header = []
    body = []
  }

  private static func split(
    _ bytes: inout UnsafeRawBufferPointer, _ count: Int
  ) -> UnsafeRawBufferPointer {
    let count = min(count, bytes.count)
    defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[count...]) }
    return UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }
}
