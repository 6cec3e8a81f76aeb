/// Tells whether bytes that come in pieces are UTF-8 (RFC 3629), at the first byte that is not.
///
/// Well-formed is what Unicode's table 3-7 lists: nothing overlong, no surrogates, nothing above
/// U+10FFFF. A scalar may be cut at every place.
package struct UTF8Validator: Sendable {
  /// One of the automaton's states, in the lowest six bits; the others are of no meaning.
  private var state = State.boundary.rawValue

  package init() {}

  /// Takes the next bytes.
  /// - Returns: False as soon as there was a byte after which nothing can make the text valid, and
  ///   from then on until ``reset()``.
  package mutating func take(_ bytes: RawSpan) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var place = 0
      while place < bytes.count {
        if isAtBoundary {
          place = Self.asciiEnd(of: bytes, from: place)
          if place == bytes.count { return true }
        }
        let end = min(place + Self.stride, bytes.count)
        advance(over: UnsafeRawBufferPointer(rebasing: bytes[place..<end]))
        place = end
        if state & 63 == State.failed.rawValue { return false }
      }
      return state & 63 != State.failed.rawValue
    }
  }

  /// Whether no scalar is unfinished: where a text may end.
  package var isAtBoundary: Bool { state & 63 == State.boundary.rawValue }

  /// Forgets everything, for the next text.
  package mutating func reset() { state = State.boundary.rawValue }

  // MARK: ASCII

  /// How many bytes are looked at before it is asked what they were.
  private static let stride = 64

  /// Where the first stride begins that is not all ASCII, or a last one that is shorter.
  private static func asciiEnd(of bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var place = start
    let high = SIMD4<UInt64>(repeating: 0x8080_8080_8080_8080)
    while bytes.count - place >= stride {
      let first = bytes.loadUnaligned(fromByteOffset: place, as: SIMD4<UInt64>.self)
      let second = bytes.loadUnaligned(fromByteOffset: place + 32, as: SIMD4<UInt64>.self)
      guard (first | second) & high == .zero else { return place }
      place += stride
    }
    while bytes.count - place >= 8 {
      let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      guard word & high[0] == 0 else { return place }
      place += 8
    }
    return place
  }

  // MARK: The automaton

  /// What may follow. A raw value is where the state's successor stands in a row of the table.
  private enum State: UInt64 {
    /// Nothing any more. It is 0, so that rows need name only what is allowed.
    case failed = 0
    /// The first byte of a scalar.
    case boundary = 6
    /// So many bytes of 80…BF.
    case one = 12
    case two = 18
    case three = 24
    /// After E0, A0…BF and one more: less would be overlong.
    case afterE0 = 30
    /// After ED, 80…9F and one more: more would be a surrogate.
    case afterED = 36
    /// After F0, 90…BF and two more: less would be overlong.
    case afterF0 = 42
    /// After F4, 80…8F and two more: more would be above U+10FFFF.
    case afterF4 = 48
  }

  /// A row for each byte: the successor of each state, six bits each, at the state's own place.
  ///
  /// One shift a byte, without a branch that text could make the processor guess wrong.
  private static let rows: [UInt64] = {
    var rows = [UInt64](repeating: 0, count: 256)
    func allow(_ bytes: ClosedRange<UInt8>, _ state: State, _ next: State) {
      for byte in bytes { rows[Int(byte)] |= next.rawValue << state.rawValue }
    }
    allow(0x00...0x7F, .boundary, .boundary)
    allow(0xC2...0xDF, .boundary, .one)
    allow(0xE0...0xE0, .boundary, .afterE0)
    allow(0xE1...0xEC, .boundary, .two)
    allow(0xED...0xED, .boundary, .afterED)
    allow(0xEE...0xEF, .boundary, .two)
    allow(0xF0...0xF0, .boundary, .afterF0)
    allow(0xF1...0xF3, .boundary, .three)
    allow(0xF4...0xF4, .boundary, .afterF4)
    allow(0x80...0xBF, .one, .boundary)
    allow(0x80...0xBF, .two, .one)
    allow(0x80...0xBF, .three, .two)
    allow(0xA0...0xBF, .afterE0, .one)
    allow(0x80...0x9F, .afterED, .one)
    allow(0x90...0xBF, .afterF0, .two)
    allow(0x80...0x8F, .afterF4, .two)
    return rows
  }()

  private mutating func advance(over bytes: UnsafeRawBufferPointer) {
    var state = state
    Self.rows.withUnsafeBufferPointer { rows in
      // The shift looks at the lowest six bits alone.
      for byte in bytes { state = rows[Int(byte)] &>> state }
    }
    self.state = state
  }
}
