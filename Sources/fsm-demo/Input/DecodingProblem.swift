import ConnectionFSM
import Foundation

/// Says what is wrong with a file in the words of the file: `step 4 (steps[3].t): …`.
enum DecodingProblem {
  static func describe(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .typeMismatch(let type, let context):
      return place(context.codingPath) + "must be \(name(of: type))"
    case .valueNotFound(let type, let context):
      return place(context.codingPath) + "must be \(name(of: type)), not null"
    case .keyNotFound(let key, let context):
      return place(context.codingPath) + "the key “\(key.stringValue)” is missing"
    case .dataCorrupted(let context):
      guard let underlying = context.underlyingError as NSError? else {
        return place(context.codingPath) + context.debugDescription
      }
      let detail = underlying.userInfo["NSDebugDescription"] as? String
      return "is no valid JSON: \(detail ?? "\(underlying)")"
    @unknown default:
      return "\(error)"
    }
  }

  /// The path in the notation of JSON, and for steps their number, which other messages use.
  private static func place(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "" }
    var text = ""
    for key in path {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    guard path.count > 1, path[0].stringValue == "steps", let index = path[1].intValue else {
      return "\(text): "
    }
    return "step \(index + 1) (\(text)): "
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is Double.Type: "a number"
    case is any FixedWidthInteger.Type: "a whole number"
    case is [Any].Type: "a list"
    default: "an object"
    }
  }
}
