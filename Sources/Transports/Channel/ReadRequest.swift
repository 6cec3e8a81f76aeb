/// What a read asks for.
public enum ReadRequest: Equatable, Sendable {
  /// Whatever is there, at least one byte and at most so many.
  case any(atMost: Int)
  /// So many bytes. None at all is met at once, in order.
  case exactly(Int)
  /// All bytes through the first terminator.
  ///
  /// `maximum` bounds them, the terminator counted: one that ends exactly there is found.
  case until(Delimiter, maximum: Int, keepsTerminator: Bool = false)

  /// What is wrong with it; nil if it can be met.
  var problem: ChannelError? {
    switch self {
    case .any(let limit): limit < 1 ? .invalidCount(limit) : nil
    case .exactly(let count): count < 0 ? .invalidCount(count) : nil
    case .until(let terminator, let maximum, _):
      maximum < terminator.bytes.count
        ? .maximumTooSmall(maximum, terminator: terminator.bytes.count) : nil
    }
  }

  /// The most bytes that it may have to wait for.
  var reach: Int {
    switch self {
    case .any: 1
    case .exactly(let count): count
    case .until(_, let maximum, _): maximum
    }
  }
}

/// Names a request of a ``ByteChannel``, to take it back.
public struct RequestID: Hashable, Sendable {
  let rawValue: UInt64

  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
