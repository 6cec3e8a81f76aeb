/// The masking of RFC 6455 section 5.3: each byte XOR one of the key's four, in turn.
enum Masking {
  /// Masks or unmasks bytes where they lie.
  /// - Parameters:
  ///   - key: As its bytes lie in memory.
  ///   - position: How many bytes of the payload come before these.
  ///   - start: Where these begin in the array.
  static func apply(
    _ key: UInt32, from position: Int, to bytes: inout [UInt8], startingAt start: Int
  ) {
    bytes.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      let part = UnsafeRawBufferPointer(rebasing: bytes[start...])
      copy(part, to: base + start, key, from: position)
    }
  }

  /// Masks bytes on their way to another place, or to the same: one pass over the memory.
  static func copy(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer, _ key: UInt32,
    from position: Int
  ) {
    // The key as it applies to the first of these bytes, and so to each fourth behind it.
    let shift = UInt32(position & 3) * 8
    let little = UInt32(littleEndian: key)
    var turned = shift == 0 ? little : little >> shift | little << (32 - shift)
    let word = turned.littleEndian
    let wide = SIMD16<UInt32>(repeating: word)
    let size = MemoryLayout<SIMD16<UInt32>>.size
    var place = 0
    while place + size <= source.count {
      let masked = source.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt32>.self) ^ wide
      target.storeBytes(of: masked, toByteOffset: place, as: SIMD16<UInt32>.self)
      place += size
    }
    while place + 4 <= source.count {
      let masked = source.loadUnaligned(fromByteOffset: place, as: UInt32.self) ^ word
      target.storeBytes(of: masked, toByteOffset: place, as: UInt32.self)
      place += 4
    }
    while place < source.count {
      let masked = source[place] ^ UInt8(truncatingIfNeeded: turned)
      target.storeBytes(of: masked, toByteOffset: place, as: UInt8.self)
      turned >>= 8
      place += 1
    }
  }
}
