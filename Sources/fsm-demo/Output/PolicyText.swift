import ConnectionFSM
import Foundation

/// A policy as JSON, without the knobs that are at their defaults.
enum PolicyText {
  /// As few lines as go within the width.
  static func lines(of policy: Policy, width: Int) -> [String] {
    // A policy is text, truth and finite numbers: there is nothing here that JSON cannot say.
    guard let knobs = try? knobs(of: policy) else { preconditionFailure("unencodable policy") }
    return knobs.lines(width: width)
  }

  /// What must be said of a policy.
  private static func knobs(of policy: Policy) throws -> Knob {
    let all = try Knob(policy)
    let fewer = all.without(try Knob(Policy()))
    // Where an absent knob is not at its default, nothing may be left out.
    return (try? fewer.policy) == policy ? fewer : all
  }
}

/// JSON that nobody has understood yet.
private enum Knob: Codable, Equatable {
  case null
  case truth(Bool)
  case number(Double)
  case text(String)
  case list([Knob])
  case group([String: Knob])

  init(_ policy: Policy) throws {
    self = try JSONDecoder().decode(Knob.self, from: JSONEncoder().encode(policy))
  }

  var policy: Policy {
    get throws { try JSONDecoder().decode(Policy.self, from: JSONEncoder().encode(self)) }
  }

  /// What differs from other knobs, and what a lane must say.
  func without(_ other: Knob) -> Knob {
    switch (self, other) {
    case (.group(let knobs), .group(let others)):
      var left: [String: Knob] = [:]
      for (key, knob) in knobs where knob != others[key] || key == "delivery" {
        left[key] = others[key].map(knob.without) ?? knob
      }
      return .group(left)
    case (.list(let knobs), .list(let others)):
      guard let plain = others.first else { return self }
      return .list(knobs.map { $0.without(plain) })
    default: return self
    }
  }

  /// As text, in one line if that fits; else what is in it has lines of its own.
  func lines(width: Int) -> [String] {
    if line.count <= width { return [line] }
    var inner: [[String]] = []
    switch self {
    case .null, .truth, .number, .text: return [line]
    case .list(let list): inner = list.map { $0.lines(width: width - 3) }
    case .group(let group):
      inner = group.sorted { $0.key < $1.key }.map { key, knob in
        let start = "\"\(key)\": "
        let lines = knob.lines(width: width - 3 - start.count)
        return [start + lines[0]] + lines.dropFirst()
      }
    }
    for place in inner.indices.dropLast() { inner[place][inner[place].count - 1] += "," }
    let isList = if case .list = self { true } else { false }
    return [isList ? "[" : "{"] + inner.joined().map { "  " + $0 } + [isList ? "]" : "}"]
  }

  private var line: String {
    switch self {
    case .null: return "null"
    case .truth(let truth): return "\(truth)"
    case .number(let number):
      return Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    // The words of a policy are names of its cases.
    case .text(let text): return "\"\(text)\""
    case .list(let list): return "[" + list.map(\.line).joined(separator: ", ") + "]"
    case .group(let group):
      let members = group.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value.line)" }
      return members.isEmpty ? "{}" : "{ " + members.joined(separator: ", ") + " }"
    }
  }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let truth = try? value.decode(Bool.self) {
      self = .truth(truth)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([Knob].self) {
      self = .list(list)
    } else {
      self = .group(try value.decode([String: Knob].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .truth(let truth): try value.encode(truth)
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .group(let group): try value.encode(group)
    }
  }
}
