package import Transports

/// Puts a whole message through, in one part or in several.
extension MessageDeflater {
  package func deflate(_ message: [UInt8]) -> [UInt8] { deflate([message[...]]) }

  package func deflate(_ parts: [ArraySlice<UInt8>]) -> [UInt8] {
    var output: [UInt8] = []
    for (index, part) in parts.enumerated() {
      deflate(part.span.bytes, isLast: index == parts.count - 1, into: &output)
    }
    return output
  }
}

extension MessageInflater {
  package func inflate(_ message: [UInt8], limit: Int = 1 << 24) throws(InflateError) -> [UInt8] {
    try inflate([message[...]], limit: limit)
  }

  package func inflate(
    _ parts: [ArraySlice<UInt8>], limit: Int = 1 << 24
  ) throws(InflateError) -> [UInt8] {
    var output: [UInt8] = []
    for (index, part) in parts.enumerated() {
      try inflate(part.span.bytes, isLast: index == parts.count - 1, limit: limit, into: &output)
    }
    return output
  }
}

/// What came of a message, for comparison.
package enum Inflated: Equatable {
  case message([UInt8])
  case failure(InflateError)

  package init(_ parts: [ArraySlice<UInt8>], by inflater: MessageInflater, limit: Int = 1 << 24) {
    do throws(InflateError) {
      self = .message(try inflater.inflate(parts, limit: limit))
    } catch {
      self = .failure(error)
    }
  }
}
