import CZlib

/// Inflates the messages of one direction of a link (RFC 7692 section 7.2.2).
///
/// An idle one is small: zlib's 40 KiB are taken for the first message.
///
/// Sendable only in that an engine is, which is handed over before its link is open: it has none
/// of these until then, and lives on its loop from then on.
package final class MessageInflater: @unchecked Sendable {
  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
  // Zlib counts in 32 bits.
  private static let longestSlice = 1 << 30

  private let takesContextOver: Bool
  // Zlib keeps the stream's address: it must not move.
  private var stream: UnsafeMutablePointer<z_stream>?
  private var position = Position.inside

  private enum Position {
    /// Inside a block, or of its header.
    case inside
    /// Behind a block, and at a byte's beginning.
    case behindBlock
    /// Behind a block that says it is the last one.
    case behindFinalBlock
  }

  /// - Parameter takesContextOver: Whether a message may point back into those before it.
  package init(takesContextOver: Bool) {
    self.takesContextOver = takesContextOver
  }

  deinit {
    guard let stream else { return }
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Inflates the next part of a message behind what is in the output.
  ///
  /// After an error the inflater is of no more use.
  /// - Parameters:
  ///   - isLast: Whether the message ends with it: the tail 00 00 FF FF is added.
  ///   - limit: The most bytes that the output may have, with those that are in it already. Its
  ///     capacity grows to at most one more.
  /// - Throws: ``InflateError``.
  package func inflate(
    _ bytes: RawSpan, isLast: Bool, limit: Int, into output: inout [UInt8]
  ) throws(InflateError) {
    let stream = started()
    try run(stream, bytes, limit, into: &output)
    guard isLast else { return }
    // Behind a final block the message is whole. The RFC has senders put an empty block's first
    // byte there (section 7.2.3.4), which the tail completes; who does not is understood, too.
    if position != .behindFinalBlock {
      try run(stream, Self.tail.span.bytes, limit, into: &output)
      guard position == .behindBlock else { throw .truncated }
    }
    if position == .behindFinalBlock || !takesContextOver { inflateReset(stream) }
    position = .inside
  }

  private func run(
    _ stream: UnsafeMutablePointer<z_stream>, _ bytes: RawSpan, _ limit: Int,
    into output: inout [UInt8]
  ) throws(InflateError) {
    try bytes.withUnsafeBytes { (bytes) throws(InflateError) in
      var rest = bytes[...]
      while !rest.isEmpty {
        let slice = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.longestSlice))
        rest = rest.dropFirst(slice.count)
        try runSlice(stream, slice, limit, into: &output)
      }
    }
  }

  private func runSlice(
    _ stream: UnsafeMutablePointer<z_stream>, _ bytes: UnsafeRawBufferPointer, _ limit: Int,
    into output: inout [UInt8]
  ) throws(InflateError) {
    stream.pointee.next_in = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(bytes.count)
    repeat {
      if position == .behindFinalBlock {
        guard stream.pointee.avail_in > 0 else { return }
        // What follows is padded to a byte, and goes on like a new stream.
        inflateReset(stream)
        position = .inside
      }
      let before = output.count
      let room = Self.makeRoom(in: &output, for: Int(stream.pointee.avail_in), limit: limit)
      var status = Z_OK
      output.append(addingCapacity: room) { span in
        span.withUnsafeMutableBufferPointer { free, count in
          stream.pointee.next_out = free.baseAddress
          stream.pointee.avail_out = UInt32(free.count)
          status = CZlib.inflate(stream, Z_SYNC_FLUSH)
          count = free.count - Int(stream.pointee.avail_out)
        }
      }
      guard output.count <= limit else {
        output.removeLast(output.count - max(limit, before))
        throw .tooLong(limit: limit)
      }
      switch status {
      case Z_OK:
        // 128 says that a block has just ended, the low bits how many of a byte are left.
        let isBehindBlock = stream.pointee.data_type & (128 | 63) == 128
        position = isBehindBlock ? .behindBlock : .inside
      case Z_STREAM_END: position = .behindFinalBlock
      // It was full exactly, and there is no more.
      case Z_BUF_ERROR: return
      default:
        let reason = stream.pointee.msg.map { String(cString: $0) } ?? "zlib status \(status)"
        throw .corrupt(reason: reason)
      }
    } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
  }

  /// Makes room behind the output: at least one byte, and no more than one beyond the limit, which
  /// is where one learns that it does not do.
  private static func makeRoom(in output: inout [UInt8], for count: Int, limit: Int) -> Int {
    let most = limit < .max ? limit + 1 : limit
    let wanted = min(max(count, 1), 64)
    if output.capacity - output.count < wanted {
      // Text deflates to a quarter or less.
      let grown = max(2 * output.capacity, output.count + 4 * count + 64)
      output.reserveCapacity(min(grown, max(most, output.count + 1)))
    }
    let free = min(output.capacity, max(most, output.count + 1)) - output.count
    return min(free, longestSlice)
  }

  private func started() -> UnsafeMutablePointer<z_stream> {
    if let stream { return stream }
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // The largest window, whatever was agreed. Of a smaller one zlib would see a peer's breach only
    // where its output is cut: the same bytes would give a message or an error (I13). A negative
    // window asks for deflated data without a container.
    let status = czlib_inflate_init(stream, -15)
    // With these arguments only for want of memory, as an array would.
    precondition(status == Z_OK, "zlib has no memory")
    self.stream = stream
    return stream
  }
}
