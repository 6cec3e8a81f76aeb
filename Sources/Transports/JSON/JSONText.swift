#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Whether bytes are JSON whose top level is an object or an array.
///
/// Foundation's decoder finds the structure at once, and what is wrong inside a text or a number
/// only when that is asked for: so all of it is asked for, without recursion, since the peer decides
/// how deep it goes. Foundation's other parser takes as long and is part of a larger library.
enum JSONText {
  static let wrongTop = "the top level must be an object or an array"

  static func check(_ bytes: [UInt8]) throws(JSONError) {
    guard !bytes.isEmpty else { throw JSONError("is empty: \(wrongTop)") }
    do {
      _ = try JSONDecoder().decode(Document.self, from: Data(bytes))
    } catch DecodingError.typeMismatch(_, let context) {
      let problem = context.codingPath.isEmpty ? wrongTop : "is no text and no number that JSON has"
      throw JSONError(path: context.codingPath, problem)
    } catch {
      throw JSONError(error)
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// An array or an object, and how far it has been visited.
  private enum Level {
    case array(any UnkeyedDecodingContainer)
    case object(KeyedDecodingContainer<Key>, ArraySlice<Key>)

    init(_ object: KeyedDecodingContainer<Key>) { self = .object(object, object.allKeys[...]) }
  }

  private struct Document: Decodable {
    init(from decoder: any Decoder) throws {
      var open: [Level] = []
      if let object = try? decoder.container(keyedBy: Key.self) {
        open.append(Level(object))
      } else {
        open.append(.array(try decoder.unkeyedContainer()))
      }
      while let level = open.popLast() {
        switch level {
        case .array(var array):
          guard !array.isAtEnd else { continue }
          let child = try Self.visitNext(of: &array)
          open.append(.array(array))
          if let child { open.append(child) }
        case .object(let object, var keys):
          guard let key = keys.popFirst() else { continue }
          open.append(.object(object, keys))
          if let child = try Self.visit(key, of: object) { open.append(child) }
        }
      }
    }

    /// - Returns: The element, if it has elements itself.
    private static func visitNext(of array: inout any UnkeyedDecodingContainer) throws -> Level? {
      if (try? array.decode(String.self)) != nil { return nil }
      if (try? array.decode(Double.self)) != nil { return nil }
      if try array.decodeNil() || (try? array.decode(Bool.self)) != nil { return nil }
      if let object = try? array.nestedContainer(keyedBy: Key.self) { return Level(object) }
      // The last that it can be: this error is the error.
      return .array(try array.nestedUnkeyedContainer())
    }

    private static func visit(
      _ key: Key, of object: KeyedDecodingContainer<Key>
    ) throws -> Level? {
      if (try? object.decode(String.self, forKey: key)) != nil { return nil }
      if (try? object.decode(Double.self, forKey: key)) != nil { return nil }
      if try object.decodeNil(forKey: key) { return nil }
      if (try? object.decode(Bool.self, forKey: key)) != nil { return nil }
      if let child = try? object.nestedContainer(keyedBy: Key.self, forKey: key) {
        return Level(child)
      }
      return .array(try object.nestedUnkeyedContainer(forKey: key))
    }
  }
}
