#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// An address of the internet as its bytes, in the network's order.
struct NumericAddress: Equatable, Sendable {
  /// 4 bytes, or 16.
  let bytes: [UInt8]

  var isVersion6: Bool { bytes.count == 16 }

  /// Reads the dotted form of version 4 and the forms of version 6 (RFC 4291 section 2.2), without
  /// a zone; nil for everything else.
  init?(_ text: some StringProtocol) {
    let family = text.contains(":") ? AF_INET6 : AF_INET
    var bytes = [UInt8](repeating: 0, count: family == AF_INET6 ? 16 : 4)
    guard inet_pton(family, String(text), &bytes) == 1 else { return nil }
    self.bytes = bytes
  }

  /// Whether the first so many bits are those of another address of the family.
  func hasPrefix(_ length: Int, of other: NumericAddress) -> Bool {
    guard bytes.count == other.bytes.count else { return false }
    for (place, (mine, theirs)) in zip(bytes, other.bytes).enumerated() {
      let bits = min(8, max(0, length - 8 * place))
      let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
      if (mine ^ theirs) & mask != 0 { return false }
    }
    return true
  }
}
