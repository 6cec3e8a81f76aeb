import ConnectionFSM
import Foundation

/// Says what is wrong with a file in the words of the file: `step 4 (steps[3].t): …`.
enum DecodingProblem {
  static func describe(_ error: any Error, in bytes: Data) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .typeMismatch(let type, let context):
      return place(context.codingPath) + "must be \(name(of: type))"
    case .valueNotFound(let type, let context):
      return place(context.codingPath) + "must be \(name(of: type)), not null"
    case .keyNotFound(let key, let context):
      return place(context.codingPath) + "the key “\(key.stringValue)” is missing"
    case .dataCorrupted(let context):
      if let problem = syntaxProblem(in: bytes) { return "is no JSON: \(problem)" }
      // What a decoder of ours objects to has words of its own; only a number that does not fit
      // comes without its place.
      guard context.underlyingError == nil, !context.debugDescription.hasPrefix("The given") else {
        return "has a number out of range: seed is 0 to \(UInt64.max), lane 0 to 3, "
          + "bytes 0 to \(UInt32.max)"
      }
      return place(context.codingPath) + context.debugDescription
    @unknown default:
      return "\(error)"
    }
  }

  /// What is wrong with the syntax, and where. The decoder keeps that to itself on Linux; the older
  /// parser tells.
  private static func syntaxProblem(in bytes: Data) -> String? {
    do {
      _ = try JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)
      return nil
    } catch {
      let told = (error as NSError).userInfo["NSDebugDescription"] as? String
      let problem = told ?? error.localizedDescription
      guard let words = problem.firstRange(of: " around character "),
        let offset = Int(problem[words.upperBound...].prefix { $0.isNumber })
      else { return problem }
      let before = bytes.prefix(offset)
      let line = before.count { $0 == UInt8(ascii: "\n") } + 1
      let column = before.count - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
      return "line \(line), column \(column + 1): \(problem[..<words.lowerBound].lowercased())"
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
