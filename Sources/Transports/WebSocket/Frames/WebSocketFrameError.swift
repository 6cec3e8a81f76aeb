import ConnectionFSM

/// What a peer sent that is against the rules of WebSocket, or against our limits: where in the
/// stream, and what is wrong there.
public struct WebSocketFrameError: Error, Equatable, Sendable {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// Reserved bits are set that no extension gives a meaning (RFC 6455 section 5.2); which, as
    /// they stand in the frame's first byte.
    case reservedBits(UInt8)
    /// There is no such opcode.
    case reservedOpcode(UInt8)
    /// A control frame came in fragments (section 5.5).
    case fragmentedControl
    /// A control frame has more than 125 bytes.
    case controlTooLong
    /// A frame continues a message, and none was begun (section 5.4).
    case nothingToContinue
    /// A message begins inside another.
    case messageInsideMessage
    /// A server masked a frame, or a client did not (section 5.1).
    case wrongMasking
    /// A length of 64 bits has its first bit set.
    case lengthOverflow
    /// A frame declares more bytes than the limit.
    case frameTooLong(UInt64, limit: Int)
    /// A message has more bytes than the limit.
    case messageTooLong(limit: Int)
    /// Text, or the reason of a close, is not UTF-8 (section 8.1).
    case invalidUTF8
    /// A close has a body of one byte, where a code has two.
    case halfCloseCode
    /// A close has a code that may not travel (section 7.4).
    case invalidCloseCode(UInt16)
    /// A compressed message does not inflate.
    case compression(InflateError)
    /// The stream ended inside a frame or a message.
    case endedInside
  }

  /// Which byte of what arrived over the link behind the handshake, counted from 0, or the one that
  /// never came. Of what is wrong inside a payload, the payload's first byte.
  public let offset: UInt64
  /// What is wrong there.
  public let problem: Problem

  /// What the peer is told (section 7.4.1).
  var closeCode: CloseCode {
    switch problem {
    case .invalidUTF8: .invalidPayload
    case .frameTooLong, .messageTooLong: .messageTooBig
    case .reservedBits, .reservedOpcode, .fragmentedControl, .controlTooLong, .nothingToContinue,
      .messageInsideMessage, .wrongMasking, .lengthOverflow, .halfCloseCode, .invalidCloseCode,
      .compression, .endedInside:
      .protocolError
    }
  }
}

extension WebSocketFrameError: CustomStringConvertible {
  public var description: String { "byte \(offset) behind the handshake: \(words)" }

  private var words: String {
    switch problem {
    case .reservedBits(let bits):
      "reserved bits 0x\(String(bits, radix: 16)) are set, and no extension was agreed that uses "
        + "them"
    case .reservedOpcode(let opcode): "opcode \(opcode) is reserved"
    case .fragmentedControl: "a control frame is fragmented"
    case .controlTooLong: "a control frame has more than 125 bytes"
    case .nothingToContinue: "a frame continues a message that was never begun"
    case .messageInsideMessage: "a message begins before the last one has ended"
    case .wrongMasking: "the frame is masked by a server, or not masked by a client"
    case .lengthOverflow: "a length has its first bit set"
    case .frameTooLong(let length, let limit):
      "a frame declares \(length) bytes, more than \(limit); raise maximumFrameLength if that is "
        + "right"
    case .messageTooLong(let limit):
      "a message has more than \(limit) bytes; raise maximumMessageLength if that is right"
    case .invalidUTF8: "text is not UTF-8"
    case .halfCloseCode: "a close has one byte, half of a code"
    case .invalidCloseCode(let code): "close code \(code) may not travel"
    case .compression(let error): "\(error)"
    case .endedInside: "the stream ended inside a message"
    }
  }
}

extension CloseCode {
  // RFC 6455 section 7.4.1.
  static let protocolError = CloseCode(1002)
  static let noStatus = CloseCode(1005)
  static let abnormal = CloseCode(1006)
  static let invalidPayload = CloseCode(1007)
  static let messageTooBig = CloseCode(1009)

  /// Whether it may stand in a close frame: the codes of RFC 6455 section 7.4 and of IANA's
  /// registry, libraries' and applications' own.
  var mayTravel: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
