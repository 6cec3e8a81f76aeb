/// Bytes that are no frames: where in the stream, and what is wrong there (F34).
///
/// A framing never goes on behind such a place: what follows could be anything.
public struct FrameError: Error, Equatable, Sendable {
  /// What is wrong.
  public enum Problem: Equatable, Sendable {
    /// The frame declares a length smaller than the least that there can be.
    case lengthTooSmall(UInt64, least: UInt64)
    /// The frame declares a length above the limit.
    case tooLong(UInt64, limit: UInt64)
    /// The frame is encoded in a way that has no number like this.
    case unknownEncoding(UInt8)
    /// The frame is compressed in a way that has no number like this.
    case unknownCompression(UInt8)
    /// The frame is XORed, and no key was given.
    case keyMissing
    /// The frame's body does not inflate.
    case gzip(GzipError)
    /// The frame's body is marked as JSON and is none.
    case json(JSONError)
    /// The peer ended inside the frame.
    case endedInside
  }

  /// Which byte of what arrived over the link is at fault, counted from 0: a field of the header,
  /// the first of the body, or the one that never came.
  public let offset: UInt64
  /// What is wrong there.
  public let problem: Problem
}

extension FrameError: CustomStringConvertible {
  public var description: String { "byte \(offset) of the stream: \(words)" }

  private var words: String {
    switch problem {
    case .lengthTooSmall(let length, let least):
      "a frame declares \(length) bytes, fewer than \(least), its least"
    case .tooLong(let length, let limit):
      "a frame declares \(length) bytes, more than \(limit); raise the limit if that is right"
    case .unknownEncoding(let number): "encoding \(number) is unknown; 0 is none, 1 is XOR"
    case .unknownCompression(let number): "compression \(number) is unknown; 0 is none, 1 is gzip"
    case .keyMissing: "a frame is XORed and no key was given; give the peer's as decodingKey"
    case .gzip(let error): "\(error)"
    case .json(let error): "\(error)"
    case .endedInside: "the peer ended inside a frame"
    }
  }
}
