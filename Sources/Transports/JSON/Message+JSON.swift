public import ConnectionFSM
import Foundation

extension Message {
  /// Makes a message of kind `object`: the value as JSON, pretty-printed, with sorted keys, so that
  /// equal values make equal messages.
  /// - Throws: ``JSONError``, if the value cannot be encoded or is neither an object nor an array.
  public init(encoding value: some Encodable) throws(JSONError) {
    let encoder = JSONEncoder()
    // Escaped slashes are no option of ours: that is how the published manager's peers write.
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let bytes: [UInt8]
    do { bytes = Array(try encoder.encode(value)) } catch { throw JSONError(error) }
    guard bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[") else {
      throw JSONError("the top level must be an object or an array")
    }
    self.init(bytes: bytes, kind: .object)
  }

  /// The value whose JSON the payload is, whatever the kind: text too can be JSON.
  /// - Throws: ``JSONError``, with the place; a peer's mistake, which says nothing about the link.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws(JSONError) -> Value {
    do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch {
      // What is no JSON at all is told better by the parser that knows the place.
      if case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty {
        try JSONText.check(bytes, allowsAnyTop: true)
      }
      throw JSONError(error)
    }
  }
}
