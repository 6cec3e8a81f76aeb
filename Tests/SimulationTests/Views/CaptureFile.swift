import Testing

/// A pcapng file, read block by block.
struct CaptureFile {
  /// A packet, taken apart.
  struct Packet {
    let interface: Int
    let nanoseconds: UInt64
    let comments: [String]
    let version: UInt8
    let source: [UInt8]
    let target: [UInt8]
    let sourcePort: UInt16
    let targetPort: UInt16
    let sequence: UInt32
    let acknowledgement: UInt32
    let flags: UInt8
    let window: UInt16
    let options: [UInt8]
    let payload: [UInt8]

    /// As `SA` for a SYN with an ACK.
    var letters: String {
      zip("FSRPA", 0...).filter { flags >> $0.1 & 1 == 1 }.map { String($0.0) }.joined()
    }

    var text: String { String(decoding: payload, as: UTF8.self) }
  }

  private(set) var comment = ""
  private(set) var interfaces: [String] = []
  private(set) var packets: [Packet] = []

  /// Reads a file.
  init(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    var isFirst = true
    while !rest.isEmpty {
      try #require(rest.count >= 12)
      let type = Self.little(rest.prefix(4))
      let length = Int(Self.little(rest.dropFirst(4).prefix(4)))
      try #require(length % 4 == 0 && length >= 12 && length <= rest.count)
      let block = rest.prefix(length)
      #expect(Int(Self.little(block.suffix(4))) == length)
      try #require(isFirst == (type == 0x0A0D_0D0A))
      isFirst = false
      let body = Array(block.dropFirst(8).dropLast(4))
      switch type {
      case 0x0A0D_0D0A:
        #expect(Self.little(body[0..<4]) == 0x1A2B_3C4D)
        #expect(Array(body[4..<8]) == [1, 0, 0, 0])
        comment = try Self.options(body[16...])[1]?.first ?? ""
      case 1:
        #expect(Self.little(body[0..<2]) == 101)
        let options = try Self.options(body[8...])
        #expect(options[9] == ["\t"], "if_tsresol: 10⁻⁹ s")
        interfaces.append(options[2]?.first ?? "")
      case 6: packets.append(try Self.packet(body, interfaces.count))
      default: Issue.record("a block of type \(type)")
      }
      rest = rest.dropFirst(length)
    }
  }

  private static func packet(_ body: [UInt8], _ interfaces: Int) throws -> Packet {
    let interface = Int(little(body[0..<4]))
    #expect(interface < interfaces, "an interface is described before it is used")
    let length = Int(little(body[12..<16]))
    #expect(Int(little(body[16..<20])) == length)
    let bytes = Array(body[20..<20 + length])
    let comments = try options(body[(20 + (length + 3) / 4 * 4)...])[1] ?? []
    let isVersion4 = bytes[0] >> 4 == 4
    if isVersion4 {
      #expect(bytes[0] == 0x45 && sum(Array(bytes[..<20])) == 0xFFFF, "the header's checksum")
      #expect(Int(big(bytes[2..<4])) == length && bytes[9] == 6)
    } else {
      #expect(bytes[0] == 0x60 && Int(big(bytes[4..<6])) == length - 40 && bytes[6] == 6)
    }
    let source = Array(isVersion4 ? bytes[12..<16] : bytes[8..<24])
    let target = Array(isVersion4 ? bytes[16..<20] : bytes[24..<40])
    let tcp = Array(bytes[(isVersion4 ? 20 : 40)...])
    let pseudo =
      source + target + [0, 0, UInt8(tcp.count >> 8), UInt8(tcp.count & 255), 0, 0, 0, 6]
    #expect(sum(pseudo + tcp) == 0xFFFF, "the checksum of TCP")
    let start = Int(tcp[12] >> 4) * 4
    return Packet(
      interface: interface,
      nanoseconds: UInt64(little(body[4..<8])) << 32 | UInt64(little(body[8..<12])),
      comments: comments, version: bytes[0] >> 4, source: source, target: target,
      sourcePort: UInt16(big(tcp[0..<2])), targetPort: UInt16(big(tcp[2..<4])),
      sequence: big(tcp[4..<8]), acknowledgement: big(tcp[8..<12]), flags: tcp[13],
      window: UInt16(big(tcp[14..<16])), options: Array(tcp[20..<start]),
      payload: Array(tcp[start...]))
  }

  private static func options(_ bytes: ArraySlice<UInt8>) throws -> [Int: [String]] {
    var options: [Int: [String]] = [:]
    var rest = bytes
    while !rest.isEmpty {
      try #require(rest.count >= 4)
      let code = Int(little(rest.prefix(2)))
      let length = Int(little(rest.dropFirst(2).prefix(2)))
      rest = rest.dropFirst(4)
      guard code != 0 else {
        #expect(length == 0 && rest.isEmpty, "nothing is behind the end of the options")
        break
      }
      options[code, default: []].append(String(decoding: rest.prefix(length), as: UTF8.self))
      rest = rest.dropFirst((length + 3) / 4 * 4)
    }
    return options
  }

  private static func little(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func big(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// All 16-bit words in one's complement: all ones where the checksum among them is right.
  private static func sum(_ bytes: [UInt8]) -> UInt32 {
    var sum: UInt32 = 0
    for place in stride(from: 0, to: bytes.count, by: 2) {
      sum += UInt32(bytes[place]) << 8 | (place + 1 < bytes.count ? UInt32(bytes[place + 1]) : 0)
    }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    return sum
  }
}
