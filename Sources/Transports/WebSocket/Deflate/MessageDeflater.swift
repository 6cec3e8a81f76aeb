import CZlib

/// Deflates the messages of one direction of a link (RFC 7692 section 7.2.1).
///
/// An idle one is small: zlib's memory, 18 KiB to 256 KiB, is taken for the first message.
///
/// Sendable only in that an engine is, which is handed over before its link is open: it has none
/// of these until then, and lives on its loop from then on.
package final class MessageDeflater: @unchecked Sendable {
  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
  // Zlib counts in 32 bits.
  private static let longestSlice = 1 << 30

  private let level: Int32
  private let windowBits: Int32
  private let takesContextOver: Bool
  // Zlib keeps the stream's address: it must not move.
  private var stream: UnsafeMutablePointer<z_stream>?
  /// How many bytes of the message at hand came before.
  private var earlier = 0

  /// - Parameters:
  ///   - level: 0 to 9.
  ///   - windowBits: 9 to 15, as agreed for our side.
  ///   - takesContextOver: Whether a message may point back into those before it.
  package init(level: Int, windowBits: Int, takesContextOver: Bool) {
    precondition(DeflateParameters.deflatableWindowBits.contains(windowBits))
    precondition((0...9).contains(level))
    self.level = Int32(level)
    self.windowBits = Int32(windowBits)
    self.takesContextOver = takesContextOver
  }

  deinit {
    guard let stream else { return }
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Deflates the next part of a message behind what is in the output.
  ///
  /// What comes of a part may come out with a later one. With the last part everything has come
  /// out, but for the four bytes 00 00 FF FF, which the receiver adds.
  package func deflate(_ bytes: RawSpan, isLast: Bool, into output: inout [UInt8]) {
    defer { earlier = isLast ? 0 : earlier + bytes.byteCount }
    if isLast, earlier == 0, bytes.isEmpty {
      // An empty block's first byte (section 7.2.3.6); zlib flushes nothing if there is nothing.
      output.append(0)
      return
    }
    let stream = started()
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      repeat {
        let slice = rest.prefix(Self.longestSlice)
        rest = rest.dropFirst(slice.count)
        let flush = isLast && rest.isEmpty ? Z_SYNC_FLUSH : Z_NO_FLUSH
        run(stream, UnsafeRawBufferPointer(rebasing: slice), flush, into: &output)
      } while !rest.isEmpty
    }
    guard isLast else { return }
    // Parts before the last are not flushed, so the tail comes out with the last one, all of it:
    // nothing that was given away before has to be taken back.
    precondition(output.suffix(Self.tail.count) == Self.tail[...], "zlib has flushed")
    output.removeLast(Self.tail.count)
    if !takesContextOver { deflateReset(stream) }
  }

  private func run(
    _ stream: UnsafeMutablePointer<z_stream>, _ bytes: UnsafeRawBufferPointer, _ flush: Int32,
    into output: inout [UInt8]
  ) {
    stream.pointee.next_in = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(bytes.count)
    // Room for the worst, that of parts before included: zlib would flush once more if it filled
    // the room exactly, and the bytes on the wire would depend on the room. Pages that nothing is
    // written to cost nothing.
    let room = Self.worstCase(of: bytes.count) + Self.worstCase(of: min(earlier, Self.block))
    repeat {
      output.append(addingCapacity: room) { span in
        span.withUnsafeMutableBufferPointer { free, count in
          stream.pointee.next_out = free.baseAddress
          stream.pointee.avail_out = UInt32(free.count)
          _ = CZlib.deflate(stream, flush)
          count = free.count - Int(stream.pointee.avail_out)
        }
      }
    } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
  }

  /// What zlib holds back without a flush comes to at most this many bytes: a block of 16384
  /// symbols of up to 31 bits each, or for level 0 what is in the window.
  private static let block = 64 << 10

  /// At most so many bytes come of so many: 9 bits for each, and headers of blocks.
  private static func worstCase(of count: Int) -> Int { count + count / 8 + count / 64 + 64 }

  /// How large zlib's tables are: its default of 8 for the largest window, less for smaller ones.
  ///
  /// The table of a large level is moved along whenever a small window is full: with 9 bits, level
  /// 5 was two to three times as fast as 8 on JSON and on source text (zlib 1.2.13), in 18 KiB
  /// instead of 130, and its output 2 % larger. Below 5 the blocks get short, and the output 5 to
  /// 20 % larger; 9 gains nothing.
  private var memoryLevel: Int32 { min(8, max(5, windowBits - 7)) }

  private func started() -> UnsafeMutablePointer<z_stream> {
    if let stream { return stream }
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // A negative window asks for deflated data without a container.
    let status = czlib_deflate_init(stream, level, -windowBits, memoryLevel)
    // With these arguments only for want of memory, as an array would.
    precondition(status == Z_OK, "zlib has no memory")
    self.stream = stream
    return stream
  }
}
