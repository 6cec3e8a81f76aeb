/// A field of an HTTP message: `Origin: https://example.com`.
///
/// No description of one that holds credentials or cookies, and no mirror, shows its value.
public struct HTTPField: Hashable, Sendable {
  /// The name as it was given; its case has no meaning.
  public let name: String
  /// The value, without blanks at its ends.
  public let value: String

  /// Makes a field.
  /// - Parameters:
  ///   - name: A token: letters, digits, hyphens and some other marks (RFC 9110 section 5.6.2).
  ///   - value: Without control characters, tabs excepted. What is beyond ASCII is sent as UTF-8,
  ///     which not every server reads.
  /// - Throws: ``HTTPFieldError``, which never shows the value.
  public init(_ name: String, _ value: String) throws(HTTPFieldError) {
    guard HTTPText.isToken(name.utf8) else { throw HTTPFieldError(name: name, problem: .name) }
    guard value.utf8.allSatisfy(HTTPText.isText) else {
      throw HTTPFieldError(name: name, problem: .value)
    }
    self.init(name: name, checked: value)
  }

  init(name: String, checked value: String) {
    self.name = name
    self.value = HTTPText.trimmed(value[...])
  }

  /// Whether the name is this one.
  func isNamed(_ name: String) -> Bool { self.name.lowercased() == name.lowercased() }

  private static let secrets: Set = [
    "authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie",
  ]

  /// Whether it holds what is for one server alone.
  var isSecret: Bool { Self.secrets.contains(name.lowercased()) }
}

extension HTTPField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { isSecret ? "\(name): (hidden)" : "\(name): \(value)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}

/// A field that would break the message it stands in, with the mend.
public struct HTTPFieldError: Error, Equatable, CustomStringConvertible, Sendable {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// The name is empty or holds what may not stand in a name.
    case name
    /// The value holds a control character.
    case value
  }

  /// The field's name as given.
  public let name: String
  /// What is wrong.
  public let problem: Problem

  public var description: String {
    switch problem {
    case .name:
      "field “\(name)”: is no name; use letters, digits and hyphens, and leave out the colon"
    case .value:
      "field “\(name)”: has a control character in its value, which would end the field on the "
        + "wire; leave out line ends and NUL"
    }
  }
}
