public import ConnectionFSM

/// A TLS handshake as it looks from outside: one flight each way, of the usual sizes, in clear.
///
/// Nothing is encrypted and nothing is verified: the server's flight says how the handshake ends.
/// That is enough for what a connection manager sees of TLS: a round trip more, bytes that can be
/// cut anywhere, and a failure.
public struct PlayedTLS: Sendable {
  /// A client's first flight: 517 bytes, the size that padding gives it (RFC 7685).
  public static let hello = [UInt8](repeating: 0x16, count: 517)
  // A certificate chain of two or three: our own figure.
  private static let flightSize = 3000

  /// A server's flight.
  /// - Parameter failure: What the client finds wrong with it; nil is nothing.
  public static func flight(_ failure: TLSFailure? = nil) -> [UInt8] {
    var bytes = [UInt8](repeating: 0x16, count: flightSize)
    bytes[1] = failure.map { $0.rawValue + 1 } ?? 0
    return bytes
  }

  enum Step {
    case waits
    case isDone
    case fails(Cause)
  }

  private var sent = 0
  private var received: [UInt8] = []

  mutating func advance(
    read: (inout MutableRawSpan) -> ReadResult, write: (RawSpan) -> WriteResult
  ) -> Step {
    while sent < Self.hello.count {
      switch write(Self.hello.span.bytes.extracting(droppingFirst: sent)) {
      case .wrote(let count): sent += count
      case .wouldBlock: return .waits
      case .failed: return .fails(.tls(.reset))
      }
    }
    while received.count < Self.flightSize {
      var buffer = [UInt8](repeating: 0, count: Self.flightSize - received.count)
      var span = buffer.mutableSpan
      var bytes = span.mutableBytes
      switch read(&bytes) {
      case .bytes(let count): received += buffer[..<count]
      case .wouldBlock: return .waits
      case .end: return .fails(.tls(.closed))
      case .failed: return .fails(.tls(.reset))
      }
      // Not TLS: a portal or a misconfigured port speaks plainly.
      if received[0] != 0x16 { return .fails(.protocolError) }
    }
    guard received[1] > 0 else { return .isDone }
    return .fails(.tls(TLSFailure(rawValue: received[1] - 1) ?? .internalError))
  }
}
