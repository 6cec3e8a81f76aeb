/// The bytes that end a line.
public struct Delimiter: Hashable, Sendable {
  /// The bytes; at least one.
  public let bytes: [UInt8]

  /// Carriage return and line feed. A line feed alone is part of the line then.
  public static let crlf = Delimiter(known: [0x0D, 0x0A])
  /// Line feed. A carriage return before it is part of the line.
  public static let lf = Delimiter(known: [0x0A])
  /// One zero byte.
  public static let nul = Delimiter(known: [0])

  /// Makes a delimiter of one's own.
  /// - Throws: ``FramingError/emptyDelimiter``.
  public init(_ bytes: [UInt8]) throws(FramingError) {
    guard !bytes.isEmpty else { throw .emptyDelimiter }
    self.bytes = bytes
  }

  private init(known bytes: [UInt8]) { self.bytes = bytes }
}

/// Finds a delimiter in a stream of bytes that comes in pieces.
///
/// Looks at each byte once, however the stream is cut and whatever the delimiter repeats within
/// itself: Knuth, Morris and Pratt, "Fast Pattern Matching in Strings", SIAM J. Comput. 6 (1977).
struct DelimiterSearch {
  private let pattern: [UInt8]
  /// For each count of matched bytes, how many of them still match when the next byte does not.
  private let fallback: [Int]
  /// How many bytes at the end of what was seen may be the beginning of a delimiter.
  private(set) var matched = 0

  init(_ delimiter: Delimiter) {
    pattern = delimiter.bytes
    var fallback = [0, 0]
    var length = 0
    for index in pattern.indices.dropFirst() {
      while length > 0, pattern[index] != pattern[length] { length = fallback[length] }
      if pattern[index] == pattern[length] { length += 1 }
      fallback.append(length)
    }
    self.fallback = fallback
  }

  /// A search for the same delimiter in another stream.
  init(repeating other: DelimiterSearch) {
    self = other
    matched = 0
  }

  /// The offset behind the first delimiter that ends in these bytes, which follow those of the last
  /// call; nil if none does. The search begins anew after a delimiter.
  mutating func next(in bytes: UnsafeRawBufferPointer) -> Int? {
    var offset = 0
    while offset < bytes.count {
      if matched == 0 {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        guard let skipped = System.firstOffset(of: pattern[0], in: rest) else { return nil }
        offset += skipped
      }
      let byte = bytes[offset]
      offset += 1
      while matched > 0, byte != pattern[matched] { matched = fallback[matched] }
      if byte == pattern[matched] { matched += 1 }
      if matched == pattern.count {
        matched = 0
        return offset
      }
    }
    return nil
  }
}
