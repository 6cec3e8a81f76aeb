import ConnectionFSM

/// The bytes of a simulated host as a capture that Wireshark and tshark read: pcapng
/// (draft-ietf-opsawg-pcapng), with the segments as TCP over raw IP (link type 101).
///
/// Time is in nanoseconds since the simulation's origin, which stands at 1970. Each way out of the
/// host is an interface of its own. A note is a comment of the next packet.
public struct PacketCapture: Sendable {
  /// The bytes of the file so far.
  public private(set) var bytes: [UInt8] = []
  /// By the place of the host's interface: the number of its description in the file.
  private var interfaces: [Int: UInt32] = [:]
  private var notes: [String] = []
  private var identification: UInt16 = 0

  /// Makes a capture without packets.
  /// - Parameter title: What was captured, as the file's comment.
  public init(title: String) {
    // Section header: the order of bytes, version 1.0, and no length said.
    var body: [UInt8] = []
    body.append(number: UInt32(0x1A2B_3C4D))
    body.append(number: UInt16(1))
    body.append(number: UInt16(0))
    body.append(number: UInt64.max)
    body.append(option: 1, "\(title), simulated".utf8)
    body.append(option: 4, "connection-fsm \(packageVersion)".utf8)
    body.endOptions()
    append(block: 0x0A0D_0D0A, body)
  }

  /// Takes the next segment.
  public mutating func add(_ segment: Segment) {
    let interface = number(of: segment.flow)
    // Real segments are as long as fits a packet; what the simulator moves at once may be longer.
    let size = ChannelState.segmentSize
    var start = 0
    repeat {
      let end = min(start + size, segment.payload.count)
      append(
        packet: packet(segment, from: start, to: end), at: segment.instant, interface: interface)
      start = end
    } while start < segment.payload.count
  }

  /// Takes something that is no segment: what the network or the device did.
  public mutating func note(_ text: String) { notes.append(text) }
}

// MARK: Blocks

extension PacketCapture {
  /// Describes an interface when it is first used.
  private mutating func number(of flow: Segment.Flow) -> UInt32 {
    if let number = interfaces[flow.interfacePlace] { return number }
    let number = UInt32(interfaces.count)
    interfaces[flow.interfacePlace] = number
    var body: [UInt8] = []
    // Raw IP of either version, no limit of length, and nanoseconds (10⁻⁹ s).
    body.append(number: UInt16(101))
    body.append(number: UInt16(0))
    body.append(number: UInt32(0))
    body.append(option: 2, flow.interface.utf8)
    body.append(option: 9, [9])
    body.endOptions()
    append(block: 1, body)
    return number
  }

  private mutating func append(packet: [UInt8], at instant: Instant, interface: UInt32) {
    let time = UInt64(max(0, instant.nanoseconds))
    var body: [UInt8] = []
    body.append(number: interface)
    body.append(number: UInt32(time >> 32))
    body.append(number: UInt32(truncatingIfNeeded: time))
    body.append(number: UInt32(packet.count))
    body.append(number: UInt32(packet.count))
    body += packet
    body.pad()
    for note in notes { body.append(option: 1, note.utf8) }
    if !notes.isEmpty { body.endOptions() }
    notes = []
    append(block: 6, body)
  }

  private mutating func append(block type: UInt32, _ body: [UInt8]) {
    let length = UInt32(body.count + 12)
    bytes.append(number: type)
    bytes.append(number: length)
    bytes += body
    bytes.append(number: length)
  }
}

// The order of bytes of a section is its writer's: little-endian here.
extension [UInt8] {
  fileprivate mutating func append(number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(option code: UInt16, _ value: some Sequence<UInt8>) {
    // No longer than its length can say.
    let value = Array(value.prefix(Int(UInt16.max)))
    append(number: code)
    append(number: UInt16(value.count))
    self += value
    pad()
  }

  fileprivate mutating func endOptions() { append(number: UInt32(0)) }

  fileprivate mutating func pad() { while count % 4 != 0 { append(0) } }
}

// MARK: Packets

extension PacketCapture {
  private mutating func packet(_ segment: Segment, from start: Int, to end: Int) -> [UInt8] {
    let payload = segment.payload[start..<end]
    var flags = segment.flags
    if end < segment.payload.count { flags.subtract([.fin, .psh]) }
    let (source, target) =
      segment.isOutgoing
      ? (segment.flow.local, segment.flow.remote) : (segment.flow.remote, segment.flow.local)
    let from = Self.address(source)
    let to = Self.address(target)
    var tcp = Self.header(segment, flags, sequence: segment.sequence + start)
    tcp += payload
    var pseudo = from + to
    pseudo.appendNetwork(UInt32(tcp.count))
    pseudo.appendNetwork(UInt32(6))
    let sum = Self.checksum(pseudo + tcp)
    tcp[16] = UInt8(sum >> 8)
    tcp[17] = UInt8(sum & 255)
    return ip(from: from, to: to, length: tcp.count) + tcp
  }

  private static func header(
    _ segment: Segment, _ flags: Segment.Flags, sequence: Int
  ) -> [UInt8] {
    let (near, far) = initial(segment.flow)
    let (own, other) = segment.isOutgoing ? (near, far) : (far, near)
    let ports = (segment.flow.localPort, segment.flow.remotePort)
    let isSyn = flags.contains(.syn)
    var tcp: [UInt8] = []
    tcp.appendNetwork(segment.isOutgoing ? ports.0 : ports.1)
    tcp.appendNetwork(segment.isOutgoing ? ports.1 : ports.0)
    tcp.appendNetwork(own &+ UInt32(truncatingIfNeeded: sequence))
    tcp.appendNetwork(
      flags.contains(.ack) ? other &+ UInt32(truncatingIfNeeded: segment.acknowledgement) : 0)
    tcp.append(isSyn ? 7 << 4 : 5 << 4)
    tcp.append(flags.rawValue)
    // The window of a SYN is not scaled (RFC 7323 section 2.2).
    let window = isSyn ? segment.window : segment.window >> windowScale
    tcp.appendNetwork(UInt16(clamping: window))
    tcp.appendNetwork(UInt32(0))
    if isSyn {
      // Maximum segment size; no operation, window scale.
      tcp += [2, 4]
      tcp.appendNetwork(UInt16(ChannelState.segmentSize))
      tcp += [1, 3, 3, UInt8(windowScale)]
    }
    return tcp
  }

  // Buffers of up to 256 KiB can be told in steps of 4 bytes.
  private static var windowScale: Int { 2 }

  /// Where the two ends begin to count: any numbers, the same in every run.
  private static func initial(_ flow: Segment.Flow) -> (UInt32, UInt32) {
    let number = (flow.number &+ 1) &* 0x9E37_79B1
    return (number, number ^ 0x5555_5555)
  }

  private mutating func ip(from: [UInt8], to: [UInt8], length: Int) -> [UInt8] {
    var header: [UInt8] = []
    guard from.count == 4 else {
      header.appendNetwork(UInt32(6 << 28))
      header.appendNetwork(UInt16(length))
      header += [6, 64]
      return header + from + to
    }
    identification &+= 1
    header += [4 << 4 | 5, 0]
    header.appendNetwork(UInt16(20 + length))
    header.appendNetwork(identification)
    // Do not fragment; 64 hops; TCP.
    header += [0x40, 0, 64, 6, 0, 0]
    header += from + to
    let sum = Self.checksum(header)
    header[10] = UInt8(sum >> 8)
    header[11] = UInt8(sum & 255)
    return header
  }

  /// The bytes of `10.0.0.1` or `fd00::1`, which are the shapes that there are.
  private static func address(_ text: String) -> [UInt8] {
    guard text.contains(":") else { return text.split(separator: ".").map { UInt8($0) ?? 0 } }
    let last = text.split(separator: ":").last.flatMap { UInt32($0, radix: 16) } ?? 0
    var bytes: [UInt8] = [0xFD] + [UInt8](repeating: 0, count: 11)
    bytes.appendNetwork(last)
    return bytes
  }

  /// The Internet checksum (RFC 1071).
  static func checksum(_ bytes: [UInt8]) -> UInt16 {
    var sum: UInt32 = 0
    for (place, byte) in bytes.enumerated() {
      sum += place % 2 == 0 ? UInt32(byte) << 8 : UInt32(byte)
      if sum > 0xFFFF { sum = (sum & 0xFFFF) + 1 }
    }
    return ~UInt16(truncatingIfNeeded: sum)
  }
}

extension [UInt8] {
  fileprivate mutating func appendNetwork(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
