/// What an application sends and receives: bytes, and what they are.
public struct Message: Sendable {
  /// What the bytes are. Protocols without the difference deliver text.
  public enum Kind: Hashable, Sendable {
    case text
    case binary
    /// JSON whose top level is an object or an array, in a protocol that marks it as such.
    case object
    /// Of a type, by its number in the protocol's header, that this side does not know. Not a
    /// failure: the peer may be newer.
    case unknown(UInt8)
  }

  /// What the bytes are.
  public var kind: Kind
  /// The payload.
  public var bytes: [UInt8]
  /// How many bytes it took on the wire, header and all, before decompression; 0 for one that did
  /// not arrive by a wire.
  public var wireLength: Int
  /// More of the same message follows, as the next one from this link: it is delivered in pieces.
  /// Only protocols that were told to do so deliver such; none sends them.
  public var isContinued = false

  /// Makes a message from bytes.
  public init(bytes: [UInt8], kind: Kind = .binary, wireLength: Int = 0) {
    self.kind = kind
    self.bytes = bytes
    self.wireLength = wireLength
  }

  /// Makes a text message.
  public init(_ text: String) { self.init(bytes: Array(text.utf8), kind: .text) }

  /// The payload as text, with anything that is not UTF-8 replaced.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension Message: Equatable {
  /// Whether both say the same; how one travelled is no part of that.
  public static func == (left: Message, right: Message) -> Bool {
    left.kind == right.kind && left.bytes == right.bytes && left.isContinued == right.isContinued
  }
}
