/// The fields of a packet, read from its front.
struct MQTTFields {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var isEmpty: Bool { bytes.isEmpty }

  mutating func byte() throws(MQTTError) -> UInt8 {
    guard let byte = bytes.popFirst() else { throw MQTTError(.endsInField) }
    return byte
  }

  mutating func number() throws(MQTTError) -> UInt16 {
    UInt16(try byte()) << 8 | UInt16(try byte())
  }

  mutating func packetID() throws(MQTTError) -> UInt16 {
    let id = try number()
    guard id != 0 else { throw MQTTError(.zeroPacketID) }
    return id
  }

  mutating func text() throws(MQTTError) -> String {
    let field = try self.field()
    guard let text = String(validating: field, as: UTF8.self), !field.contains(0) else {
      throw MQTTError(.text)
    }
    return text
  }

  /// Bytes behind their count.
  mutating func field() throws(MQTTError) -> ArraySlice<UInt8> {
    let count = Int(try number())
    guard bytes.count >= count else { throw MQTTError(.endsInField) }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count)
  }

  mutating func rest() -> ArraySlice<UInt8> {
    defer { bytes = [] }
    return bytes
  }

  /// Nothing may follow.
  func end() throws(MQTTError) {
    guard bytes.isEmpty else { throw MQTTError(.leftOver(bytes.count)) }
  }
}

extension [UInt8] {
  mutating func append(_ number: UInt16) {
    append(UInt8(number >> 8))
    append(UInt8(truncatingIfNeeded: number))
  }

  /// Appends bytes behind their count, at most 65,535 of them.
  mutating func appendField(_ bytes: some Collection<UInt8>) {
    append(UInt16(clamping: bytes.count))
    append(contentsOf: bytes.prefix(Int(UInt16.max)))
  }
}
