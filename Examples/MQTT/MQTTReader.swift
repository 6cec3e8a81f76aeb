/// Cuts a stream into packets. However the stream is split, the packets are the same, and so is the
/// error; no bytes make it trap, wait for ever, or keep more than the longest packet.
package struct MQTTReader: Sendable {
  private let limit: Int
  private var pending: [UInt8] = []
  private var start = 0
  private var offset = 0

  /// Makes a reader for one stream.
  /// - Parameter limit: The most bytes of a packet, header and all.
  package init(limit: Int = 262_144) { self.limit = limit }

  /// Whether the stream is inside a packet.
  package var isInsidePacket: Bool { start < pending.count }

  /// Takes the next bytes of the stream.
  package mutating func append(_ bytes: RawSpan) {
    pending.removeFirst(start)
    start = 0
    bytes.withUnsafeBytes { pending += $0 }
  }

  /// The next packet that is whole; nil if more bytes are needed.
  /// - Throws: ``MQTTError``. What follows cannot be trusted: do not read on.
  package mutating func next() throws(MQTTError) -> MQTTPacket? {
    do throws(MQTTError) {
      guard let header = try header(), pending.count >= header.end else { return nil }
      let packet = try MQTTPacket(
        type: pending[start] >> 4, flags: pending[start] & 15,
        MQTTFields(pending[header.body..<header.end]))
      offset += header.end - start
      start = header.end
      return packet
    } catch {
      throw MQTTError(error.problem, at: offset)
    }
  }

  /// Where the packet's body begins and ends; nil while its length is not there.
  private func header() throws(MQTTError) -> (body: Int, end: Int)? {
    guard isInsidePacket else { return nil }
    let type = pending[start] >> 4
    guard MQTTPacket.isSpoken(type) else { throw MQTTError(.packetType(type)) }
    var length = 0
    for place in 1...4 {
      guard start + place < pending.count else { return nil }
      let byte = pending[start + place]
      length |= Int(byte & 0x7F) << (7 * (place - 1))
      guard byte < 0x80 else { continue }
      let whole = 1 + place + length
      guard whole <= limit else { throw MQTTError(.packetTooLong(whole, limit: limit)) }
      return (start + 1 + place, start + whole)
    }
    throw MQTTError(.lengthTooLong)
  }
}

// MARK: Reading one packet

extension MQTTPacket {
  fileprivate static func isSpoken(_ type: UInt8) -> Bool {
    [1, 2, 3, 4, 8, 9, 12, 13, 14].contains(type)
  }

  /// Reads one packet that is the whole of these bytes.
  /// - Throws: ``MQTTError``.
  package init(_ bytes: [UInt8]) throws(MQTTError) {
    var reader = MQTTReader(limit: .max)
    reader.append(bytes.span.bytes)
    guard let packet = try reader.next() else { throw MQTTError(.endsInField) }
    guard !reader.isInsidePacket else { throw MQTTError(.leftOver(1)) }
    self = packet
  }

  fileprivate init(type: UInt8, flags: UInt8, _ fields: MQTTFields) throws(MQTTError) {
    var fields = fields
    if type != 3 {
      guard flags == (type == 8 ? 2 : 0) else { throw MQTTError(.flags(flags, ofType: type)) }
    }
    switch type {
    case 1: self = .connect(try MQTTConnect(&fields))
    case 2:
      let (acknowledge, code) = (try fields.byte(), try fields.byte())
      guard acknowledge < 2, code < 6 else {
        throw MQTTError(.code(acknowledge < 2 ? code : acknowledge))
      }
      self = .connack(isSessionPresent: acknowledge == 1, code: code)
    case 3: self = try Self.publish(flags, &fields)
    case 4: self = .puback(id: try fields.packetID())
    case 8: self = try Self.subscribe(&fields)
    case 9:
      let id = try fields.packetID()
      let codes = Array(fields.rest())
      guard !codes.isEmpty else { throw MQTTError(.endsInField) }
      if let odd = codes.first(where: { $0 > 2 && $0 != 0x80 }) { throw MQTTError(.code(odd)) }
      self = .suback(id: id, codes: codes)
    case 12: self = .pingreq
    case 13: self = .pingresp
    case 14: self = .disconnect
    default: throw MQTTError(.packetType(type))
    }
    try fields.end()
  }

  private static func publish(
    _ flags: UInt8, _ fields: inout MQTTFields
  ) throws(MQTTError) -> MQTTPacket {
    let quality = flags >> 1 & 3
    guard quality < 2 else { throw MQTTError(.qualityOfService(quality)) }
    // What is sent once at most is never sent again (MQTT-3.3.1-2).
    guard quality == 1 || flags & 8 == 0 else { throw MQTTError(.flags(flags, ofType: 3)) }
    let topic = try fields.text()
    let id = quality == 1 ? try fields.packetID() : nil
    let publication = try MQTTPublication(
      topic, Array(fields.rest()), isRetained: flags & 1 == 1)
    return .publish(publication, id: id, isRepeated: flags & 8 != 0)
  }

  private static func subscribe(_ fields: inout MQTTFields) throws(MQTTError) -> MQTTPacket {
    let id = try fields.packetID()
    var subscriptions: [MQTTSubscription] = []
    repeat {
      let filter = try fields.text()
      guard MQTTTopic.isFilter(filter) else { throw MQTTError(.topic(filter)) }
      let quality = try fields.byte()
      guard quality < 3 else { throw MQTTError(.qualityOfService(quality)) }
      subscriptions.append(MQTTSubscription(filter, qualityOfService: quality))
    } while !fields.isEmpty
    return .subscribe(id: id, subscriptions)
  }
}

extension MQTTConnect {
  fileprivate init(_ fields: inout MQTTFields) throws(MQTTError) {
    let (name, level, flags) = (try fields.text(), try fields.byte(), try fields.byte())
    guard name == "MQTT", level == 4 else { throw MQTTError(.version(name, level: level)) }
    // A will, or a password without a name (MQTT-3.1.2-22), or the reserved bit.
    guard flags & 0x3D == 0, flags & 0xC0 != 0x40 else {
      throw MQTTError(.flags(flags, ofType: 1))
    }
    let keepAlive = try fields.number()
    self.init(clientID: try fields.text(), keepAlive: keepAlive)
    isClean = flags & 2 != 0
    if flags & 0x80 != 0 { userName = try fields.text() }
    if flags & 0x40 != 0 { password = Array(try fields.field()) }
  }
}
