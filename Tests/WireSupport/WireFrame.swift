/// A frame as it lies on the wire, made and read without the code under test.
package struct WireFrame: Equatable {
  package var first: UInt8
  package var payload: [UInt8]
  package var key: [UInt8]?

  package init(first: UInt8, payload: [UInt8], key: [UInt8]? = nil) {
    self.first = first
    self.payload = payload
    self.key = key
  }

  package static func text(_ text: String) -> WireFrame {
    WireFrame(first: 0x81, payload: [UInt8](text.utf8))
  }
  package static func close(_ code: UInt16, _ reason: String = "") -> WireFrame {
    WireFrame(first: 0x88, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + reason.utf8)
  }
  package static func ping(_ payload: [UInt8]) -> WireFrame {
    WireFrame(first: 0x89, payload: payload)
  }
  package static func pong(_ payload: [UInt8]) -> WireFrame {
    WireFrame(first: 0x8A, payload: payload)
  }

  package var isData: Bool { first & 0x08 == 0 }

  package var bytes: [UInt8] {
    var bytes = [first]
    let mask: UInt8 = key == nil ? 0 : 0x80
    let length = UInt64(payload.count)
    switch length {
    case ..<126: bytes.append(UInt8(length) | mask)
    case ..<65_536:
      bytes.append(126 | mask)
      bytes += (0..<2).map { UInt8(truncatingIfNeeded: length >> (8 - 8 * $0)) }
    default:
      bytes.append(127 | mask)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    }
    guard let key else { return bytes + payload }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
  }

  /// Whole frames, unmasked, with the keys they came with. Nil where bytes are left over.
  package static func read(_ bytes: [UInt8]) -> [WireFrame]? {
    var frames: [WireFrame] = []
    var place = 0
    while place < bytes.count {
      guard place + 2 <= bytes.count else { return nil }
      let first = bytes[place]
      let second = bytes[place + 1]
      let lengthBytes = [126: 2, 127: 8][Int(second & 0x7F)] ?? 0
      place += 2
      guard place + lengthBytes <= bytes.count else { return nil }
      let length =
        lengthBytes == 0
        ? Int(second & 0x7F) : bytes[place..<place + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
      place += lengthBytes
      var key: [UInt8]?
      if second & 0x80 != 0 {
        guard place + 4 <= bytes.count else { return nil }
        key = Array(bytes[place..<place + 4])
        place += 4
      }
      guard place + length <= bytes.count else { return nil }
      let payload = bytes[place..<place + length].enumerated().map { $1 ^ (key?[$0 % 4] ?? 0) }
      frames.append(WireFrame(first: first, payload: payload, key: key))
      place += length
    }
    return frames
  }
}
