/// What an application sends and receives: bytes, and whether they are text.
public struct Message: Equatable, Sendable {
  /// What the bytes are. Protocols without the difference deliver text.
  public enum Kind: UInt8, Sendable {
    case text
    case binary
  }

  /// What the bytes are.
  public var kind: Kind
  /// The payload.
  public var bytes: [UInt8]

  /// Makes a message from bytes.
  public init(bytes: [UInt8], kind: Kind = .binary) {
    self.kind = kind
    self.bytes = bytes
  }

  /// Makes a text message.
  public init(_ text: String) {
    kind = .text
    bytes = Array(text.utf8)
  }

  /// The payload as text, with anything that is not UTF-8 replaced.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}
