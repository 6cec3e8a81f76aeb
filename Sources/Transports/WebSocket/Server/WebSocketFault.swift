package import ConnectionFSM

/// How a WebSocket server of tests and demonstrations misbehaves. What is no matter of the protocol
/// (refusing, resetting, falling silent) a ``ServerFault`` does.
package enum WebSocketFault: Equatable, Sendable {
  /// Not at all.
  case none

  // MARK: The handshake

  /// Answers every request with this status, and ends the link.
  case status(UInt16)
  /// The answer comes byte by byte, so far apart.
  case slowAnswer(TimeSpan)
  /// The head of the answer never ends.
  case endlessAnswer

  // MARK: The open link

  /// Sends these bytes, as they are, instead of its message of this number, and no message after
  /// that. Messages are counted from 1; 0 is right after the handshake.
  case speech([UInt8], atMessage: Int)
  /// Sends the first bytes right after the handshake, then the others again and again, as fast as
  /// they are taken.
  case flood([UInt8], again: [UInt8])
  /// Closes with a code, whether it may travel or not, and a reason of at most 123 bytes, at the
  /// same places as a speech.
  case close(UInt16, reason: String, atMessage: Int)

  // MARK: The client's close

  /// Never answers it, and keeps the stream open.
  case silentAtClose
  /// Answers it, and keeps the stream open.
  case openAfterClose
  /// Sends a message behind the answer to it.
  case talkAfterClose
}

/// Bytes of a server that break the protocol, and some that are legal and hard to bear.
package enum ServerBytes {
  /// A frame with any first byte, its length in the shortest form, without a mask.
  package static func frame(_ first: UInt8, _ payload: some Collection<UInt8>) -> [UInt8] {
    switch payload.count {
    case ...125: [first, UInt8(payload.count)] + payload
    case ...0xFFFF:
      [first, 126, UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)] + payload
    default: header(first, declaring: UInt64(payload.count)) + payload
    }
  }

  /// The header of a frame that declares a length in 64 bits.
  package static func header(_ first: UInt8 = 0x82, declaring length: UInt64) -> [UInt8] {
    [first, 127] + withUnsafeBytes(of: length.bigEndian) { Array($0) }
  }

  /// A close with any code.
  package static func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
    frame(0x88, [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + reason.utf8)
  }

  /// “hi” in a masked frame, as only a client may send it (RFC 6455 section 5.1).
  package static let masked: [UInt8] = [0x81, 0x82, 1, 2, 3, 4, 0x68 ^ 1, 0x69 ^ 2]
  /// “hi” with two reserved bits that no extension uses.
  package static let reservedBits = frame(0xB1, "hi".utf8)
  /// A data frame with an opcode that has no meaning.
  package static let reservedOpcode = frame(0x83, "hi".utf8)
  /// The first half of a ping.
  package static let fragmentedPing = frame(0x09, [])
  /// A ping of 126 bytes, one more than it may have.
  package static let longPing = frame(0x89, [UInt8](repeating: 0, count: 126))
  /// The end of a message that was never begun.
  package static let orphan = frame(0x80, "hi".utf8)
  /// A message begun inside another.
  package static let interleaved = frame(0x01, "a".utf8) + frame(0x81, "b".utf8)
  /// Text that is no UTF-8: é as Latin-1 has it, and a space.
  package static let invalidText = frame(0x81, [0xE9, 0x20])
  /// Text that ends inside a character.
  package static let cutText = frame(0x81, [0xF0, 0x9F, 0x98])
  /// “😀” in two fragments, cut inside the character, which is legal.
  package static let splitScalar = frame(0x01, [0xF0, 0x9F]) + frame(0x80, [0x98, 0x80])
  /// A close with half a code.
  package static let halfCode = frame(0x88, [0x03])
  /// A ping.
  package static let ping = frame(0x89, "flood".utf8)
  /// The beginning of a message of 64 KiB fragments …
  package static let fragment = frame(0x01, letters)
  /// … and its next fragment, which is not the last.
  package static let nextFragment = frame(0x00, letters)

  private static let letters = [UInt8](repeating: 0x61, count: 64 << 10)

  /// A compressed message that inflates to so many MiB of zeros, a thousand times its own length.
  /// Legal only on a link that has agreed on compression.
  package static func bomb(megabytes: Int) -> [UInt8] {
    let deflater = MessageDeflater(level: 9, windowBits: 15, takesContextOver: false)
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    var payload: [UInt8] = []
    for place in 1...megabytes {
      deflater.deflate(zeros.span.bytes, isLast: place == megabytes, into: &payload)
    }
    return frame(0xC2, payload)
  }
}
