import ConnectionFSM

/// Frames of one direction, written behind what is in the output.
struct FrameWriter: Sendable {
  private let role: Role
  private var keys: RandomKeys

  init(_ role: Role, keys: RandomKeys) {
    self.role = role
    self.keys = keys
  }

  mutating func write(
    _ opcode: Opcode, isFinal: Bool = true, isCompressed: Bool = false,
    _ payload: UnsafeRawBufferPointer, into output: inout [UInt8]
  ) {
    let count = payload.count
    output.reserveCapacity(roomFor: 14 + count)
    output.append(opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0))
    let masked: UInt8 = role == .client ? 0x80 : 0
    switch count {
    case ...125: output.append(UInt8(count) | masked)
    case ...0xFFFF:
      output.append(126 | masked)
      output.append(UInt8(truncatingIfNeeded: count >> 8))
      output.append(UInt8(truncatingIfNeeded: count))
    default:
      output.append(127 | masked)
      for shift in stride(from: 56, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: count >> shift))
      }
    }
    guard role == .client else {
      output += payload
      return
    }
    let key = keys.next()
    withUnsafeBytes(of: key) { output += $0 }
    output.append(addingCapacity: count) { room in
      room.withUnsafeMutableBufferPointer { room, initializedCount in
        guard let base = room.baseAddress else { return }
        Masking.copy(payload, to: UnsafeMutableRawPointer(base + initializedCount), key, from: 0)
        initializedCount += count
      }
    }
  }
}

extension [UInt8] {
  /// Room for so many more, growing as appending does: a plain reservation would move all that is
  /// there each time.
  fileprivate mutating func reserveCapacity(roomFor count: Int) {
    let needed = self.count + count
    if needed > capacity { reserveCapacity(Swift.max(needed, 2 * capacity)) }
  }
}
