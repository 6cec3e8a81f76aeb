/// Who joins a chat.
///
/// On the wire it is `iam:NAME`, or `iam:NAME:PASSWORD`. So a name holds no colon; a password may,
/// since it goes on to the line's end. No description shows the password.
public struct ChatLogin: Hashable, Sendable {
  /// The name, which the others see.
  public let name: String
  let password: String?

  /// Makes a login.
  /// - Throws: ``ChatError``, which names the part at fault.
  public init(name: String, password: String? = nil) throws(ChatError) {
    guard !name.isEmpty else { throw .emptyName }
    guard !name.utf8.contains(UInt8(ascii: ":")) else { throw .nameHoldsColon }
    guard !name.utf8.contains(UInt8(ascii: "\n")) else { throw .nameHoldsNewline }
    guard password?.utf8.contains(UInt8(ascii: "\n")) != true else { throw .passwordHoldsNewline }
    self.name = name
    self.password = password
  }

  var line: String { password.map { "iam:\(name):\($0)" } ?? "iam:\(name)" }
}

extension ChatLogin: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { password == nil ? name : "\(name) with a password" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
