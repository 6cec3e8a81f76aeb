import CZlib
import ConnectionFSM

/// The bytes of an outbox file: a head, then records in the order in which they were written.
/// Numbers are little-endian.
///
/// Head, 32 bytes: the magic (8), the version (4), the lowest number that new messages may have
/// (8), how many bytes of the file were on disk before it got its name (8), CRC-32 of those (4).
///
/// Record: a head of 28 bytes, then the payload and its CRC-32 if there is a payload. The record's
/// head: length of the payload (4), what the record says (1), kind of the message (1), type number
/// of an unknown kind (1), flags (1), number of the message (8), up to which offset the file was on
/// disk when the record was written (8), CRC-32 of those (4). The head has a checksum of its own,
/// so that a length can be trusted before it is followed.
enum OutboxFormat {
  static let magic = Array("fsmoutbx".utf8)
  static let version: UInt32 = 1
  static let headSize = 32
  static let recordHeadSize = 28

  /// How long a record is, head and all.
  static func recordSize(payload length: Int) -> Int {
    recordHeadSize + (length == 0 ? 0 : length + 4)
  }

  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBufferPointer { bytes in
      UInt32(truncatingIfNeeded: crc32_z(0, bytes.baseAddress, bytes.count))
    }
  }
}

/// What stands at the beginning of an outbox file.
struct OutboxHead: Equatable {
  /// The lowest number that new messages may have: it rises across processes also when nothing is
  /// kept.
  let nextNumber: UInt64
  /// So many bytes were on disk before the file got its name.
  let safe: Int

  init(nextNumber: UInt64, safe: Int) {
    self.nextNumber = nextNumber
    self.safe = safe
  }

  /// Why bytes are not a head.
  enum Failure: Error, Equatable {
    case otherFormat
    case damaged
    case version(UInt32)
  }

  init(_ bytes: ArraySlice<UInt8>) throws(Failure) {
    let start = bytes.startIndex
    let magic = OutboxFormat.magic
    guard bytes.prefix(magic.count).elementsEqual(magic.prefix(bytes.count)) else {
      throw .otherFormat
    }
    // Files are given their name with the whole head in them: no crash leaves less of it.
    guard bytes.count >= OutboxFormat.headSize,
      OutboxFormat.checksum(bytes[start..<(start + 28)]) == bytes.number(at: 28)
    else { throw .damaged }
    let version: UInt32 = bytes.number(at: 8)
    guard version == OutboxFormat.version else { throw .version(version) }
    nextNumber = bytes.number(at: 12)
    safe = Int(clamping: bytes.number(at: 20) as UInt64)
  }

  func append(to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes += OutboxFormat.magic
    bytes.append(number: OutboxFormat.version)
    bytes.append(number: nextNumber)
    bytes.append(number: UInt64(safe))
    bytes.append(number: OutboxFormat.checksum(bytes[start...]))
  }
}

/// The head of a record.
struct OutboxRecord: Equatable {
  enum Statement: UInt8 {
    /// The message of that number is kept; its payload follows.
    case keep = 1
    /// The message of that number has ended.
    case forget = 2
  }

  let statement: Statement
  let number: UInt64
  let kind: Message.Kind
  let isContinued: Bool
  /// How many bytes of payload follow.
  let length: Int
  /// The file was on disk up to this offset when the record was written. So a broken record before
  /// it is damage, and one behind it may be what a power cut has left of a write.
  var safe: Int

  /// A message to keep.
  init(keeping message: Message, as number: UInt64, safe: Int) {
    statement = .keep
    self.number = number
    kind = message.kind
    isContinued = message.isContinued
    length = message.bytes.count
    self.safe = safe
  }

  init(forgetting number: UInt64, safe: Int) {
    statement = .forget
    self.number = number
    kind = .binary
    isContinued = false
    length = 0
    self.safe = safe
  }

  /// Nil when these bytes are not the head of a record.
  init?(_ bytes: ArraySlice<UInt8>) {
    let start = bytes.startIndex
    // What costs least is looked at first: a search for records asks this at every offset.
    guard bytes.count >= OutboxFormat.recordHeadSize,
      let statement = Statement(rawValue: bytes[start + 4]),
      let kind = Message.Kind(code: bytes[start + 5], type: bytes[start + 6]),
      bytes[start + 7] <= 1,
      OutboxFormat.checksum(bytes[start..<(start + 24)]) == bytes.number(at: 24)
    else { return nil }
    self.statement = statement
    self.kind = kind
    isContinued = bytes[start + 7] == 1
    length = Int(bytes.number(at: 0) as UInt32)
    number = bytes.number(at: 8)
    safe = Int(clamping: bytes.number(at: 16) as UInt64)
  }

  var size: Int { OutboxFormat.recordSize(payload: length) }

  func append(to bytes: inout [UInt8], payload: ArraySlice<UInt8>) {
    let start = bytes.count
    let (code, type) = kind.code
    bytes.append(number: UInt32(length))
    bytes += [statement.rawValue, code, type, isContinued ? 1 : 0]
    bytes.append(number: number)
    bytes.append(number: UInt64(safe))
    bytes.append(number: OutboxFormat.checksum(bytes[start...]))
    guard length > 0 else { return }
    bytes += payload
    bytes.append(number: OutboxFormat.checksum(payload))
  }

  /// The message, with that payload.
  func message(_ payload: ArraySlice<UInt8>) -> Message {
    var message = Message(bytes: Array(payload), kind: kind)
    message.isContinued = isContinued
    return message
  }
}

extension Message.Kind {
  fileprivate init?(code: UInt8, type: UInt8) {
    switch code {
    case 0: self = .text
    case 1: self = .binary
    case 2: self = .object
    case 3: self = .unknown(type)
    default: return nil
    }
  }

  fileprivate var code: (code: UInt8, type: UInt8) {
    switch self {
    case .text: (0, 0)
    case .binary: (1, 0)
    case .object: (2, 0)
    case .unknown(let type): (3, type)
    }
  }
}

extension ArraySlice<UInt8> {
  /// A little-endian number, so many bytes behind the beginning.
  func number<Number: FixedWidthInteger>(at offset: Int) -> Number {
    let first = startIndex + offset
    return self[first..<(first + MemoryLayout<Number>.size)].reversed().reduce(0) {
      $0 << 8 | Number(truncatingIfNeeded: $1)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { self += $0 }
  }
}
