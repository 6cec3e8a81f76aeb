/// A key laid over a message's bytes again and again, from its beginning for each message (F30).
///
/// This hides nothing: whoever sees two messages, or guesses a part of one, has the key. It is here
/// because the published framing has it; for secrecy, use TLS.
struct XORKey: Hashable, Sendable {
  private let bytes: [UInt8]

  init(_ text: String) throws(FramingError) {
    guard !text.isEmpty else { throw .emptyKey }
    bytes = Array(text.utf8)
  }

  /// Lays the key over the bytes from an index on; done twice, nothing has changed.
  func apply(to message: inout [UInt8], from start: Int = 0) {
    message.withUnsafeMutableBufferPointer { message in
      bytes.withUnsafeBufferPointer { key in
        var place = 0
        for index in start..<message.count {
          message[index] ^= key[place]
          place += 1
          if place == key.count { place = 0 }
        }
      }
    }
  }
}
