import CZlib

/// Compression of whole messages: what zlib does, with a bound and typed errors (F31).
package enum Gzip {
  // zlib's windowBits: 15 is the largest window; 16 more asks for a gzip container (RFC 1952), 32
  // more for either that or zlib's own (RFC 1950), told apart by its header.
  private static let gzipWindow: Int32 = 15 + 16
  private static let eitherWindow: Int32 = 15 + 32
  private static let chunk = 16 << 10
  // Zlib's own default.
  private static let memoryLevel: Int32 = 8

  /// One gzip member, at zlib's usual level. How it looks in detail is up to the zlib at hand.
  package static func deflate(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let started = czlib_deflate_init(&stream, Z_DEFAULT_COMPRESSION, gzipWindow, memoryLevel)
    // With these arguments only for want of memory, as an array would.
    precondition(started == Z_OK, "zlib has no memory")
    defer { deflateEnd(&stream) }
    let (output, status, _) = pump(bytes, through: &stream, limit: .max) { stream, isLast in
      CZlib.deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH)
    }
    precondition(status == Z_STREAM_END, "zlib was given room and all of the input")
    return output
  }

  /// At most so many bytes come out of ``deflate(_:)``: stored blocks cost five for some thousands,
  /// header and trailer 18. Generous, since Apple's zlib is not the reference one.
  package static func worstCase(of count: Int) -> Int { count + count / 64 + 64 }

  /// The content of one gzip member or one zlib stream, which must be all there is.
  /// - Parameter limit: The most bytes that may come out; memory stays within some times of it,
  ///   whatever the bytes promise.
  package static func inflate(_ bytes: [UInt8], limit: Int) throws(GzipError) -> [UInt8] {
    var stream = z_stream()
    let started = czlib_inflate_init(&stream, eitherWindow)
    precondition(started == Z_OK, "zlib has no memory")
    defer { inflateEnd(&stream) }
    let (output, status, taken) = pump(bytes, through: &stream, limit: limit) { stream, _ in
      CZlib.inflate(&stream, Z_NO_FLUSH)
    }
    // A bomb is a bomb, whatever follows.
    guard output.count <= limit else { throw .tooLong(limit: limit) }
    switch status {
    case Z_STREAM_END where taken == bytes.count: return output
    case Z_STREAM_END: throw .trailingBytes(bytes.count - taken)
    // All is read, and it wants more.
    case Z_BUF_ERROR: throw .truncated
    case Z_NEED_DICT: throw .corrupt(offset: taken, reason: "needs a dictionary")
    default:
      let reason = stream.msg.map { String(cString: $0) } ?? "zlib status \(status)"
      let isTrailer = reason == "incorrect data check" || reason == "incorrect length check"
      throw isTrailer ? .checksum : .corrupt(offset: taken, reason: reason)
    }
  }

  /// Shows zlib the bytes, and room for what it makes of them, until a step gives something else
  /// than `Z_OK`, or more has come out than the limit.
  /// - Parameter step: Runs zlib once; it is told whether it sees the last of the bytes.
  private static func pump(
    _ input: [UInt8], through stream: inout z_stream, limit: Int,
    _ step: (inout z_stream, Bool) -> Int32
  ) -> (output: [UInt8], status: Int32, taken: Int) {
    var output: [UInt8] = []
    var status = Z_OK
    var taken = 0
    input.withUnsafeBufferPointer { input in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: chunk) { room in
        while status == Z_OK, output.count <= limit {
          // zlib counts in 32 bits.
          let end = min(input.count, taken + 1 << 30)
          stream.next_in = UnsafeBufferPointer(rebasing: input[taken..<end]).baseAddress
          stream.avail_in = UInt32(end - taken)
          stream.next_out = room.baseAddress
          stream.avail_out = UInt32(room.count)
          status = step(&stream, end == input.count)
          taken = end - Int(stream.avail_in)
          output += room[..<(room.count - Int(stream.avail_out))]
        }
      }
    }
    return (output, status, taken)
  }
}
