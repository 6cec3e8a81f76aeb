/// Why a payload is not the JSON that was asked for, or a value cannot become JSON: where, and what
/// is wrong there.
public struct JSONError: Error, Equatable, Sendable {
  /// The place, as `user.names[2]`; empty for the whole.
  public let path: String
  /// What is wrong, and the mend.
  public let problem: String

  init(path: [any CodingKey] = [], _ problem: String) {
    var text = ""
    for key in path {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    self.path = text
    self.problem = problem
  }

  init(_ error: any Error) {
    switch error {
    case let error as JSONError: self = error
    case DecodingError.typeMismatch(let type, let context):
      self.init(path: context.codingPath, "must be \(Self.name(of: type)), and is something else")
    case DecodingError.valueNotFound(let type, let context):
      self.init(path: context.codingPath, "must be \(Self.name(of: type)), and is null or missing")
    case DecodingError.keyNotFound(let key, let context):
      self.init(
        path: context.codingPath + [key], "is missing: send it, or make the property optional")
    case DecodingError.dataCorrupted(let context):
      self.init(path: context.codingPath, context.debugDescription)
    case EncodingError.invalidValue(_, let context):
      self.init(path: context.codingPath, context.debugDescription)
    default: self.init("\(error)")
    }
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "an integer"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [Any].Type: "an array"
    case is [String: Any].Type: "an object"
    default: "of type \(type)"
    }
  }
}

extension JSONError: CustomStringConvertible {
  public var description: String { path.isEmpty ? "JSON: \(problem)" : "JSON: \(path): \(problem)" }
}
