import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#else
  import CEventLoop
#endif

/// Where handshake and masking keys come from.
///
/// They must not be guessed from those before (RFC 6455 section 10.3): whoever can choose what is
/// sent could otherwise write what he likes on the wire, for a proxy between to misread. The system
/// is asked for many at a time, since a call into it costs more than to mask a short message.
struct RandomKeys: Sendable {
  private var keys: [UInt32] = []
  private var generator: SplitMix64?

  private static let batch = 64

  init(_ random: WebSocketRandom) {
    switch random {
    case .system: break
    case .seeded(let seed): generator = SplitMix64(seed: seed)
    }
  }

  mutating func next() -> UInt32 {
    if keys.isEmpty { refill() }
    return keys.removeLast()
  }

  /// The 16 bytes of a handshake's key (section 4.1).
  mutating func nonce() -> [UInt8] {
    (0..<4).flatMap { _ in withUnsafeBytes(of: next()) { Array($0) } }
  }

  private mutating func refill() {
    if generator != nil {
      keys.append(UInt32(truncatingIfNeeded: generator?.next() ?? 0))
      return
    }
    keys.append(contentsOf: repeatElement(0, count: Self.batch))
    keys.withUnsafeMutableBytes { Self.fill($0) }
  }

  private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
    #if canImport(Darwin)
      arc4random_buf(bytes.baseAddress, bytes.count)
    #else
      // Up to 256 bytes come whole and uninterrupted (getrandom(2)).
      let count = getrandom(bytes.baseAddress, bytes.count, 0)
      precondition(count == bytes.count, "the system has random bytes once it is up")
    #endif
  }
}
