package import ConnectionFSM

/// What an outbox was given and what it has said, up to the moment at which it was cut off; and so
/// what may be, and what must be, in the next one on its file.
package struct Ledger: Sendable {
  /// Offered and not yet answered, by the number that makes each of them another one.
  private var offered: Set<UInt64> = []
  /// The messages that are said to be kept, and their numbers in the outbox.
  private var kept: [UInt64: UInt64] = [:]
  /// Forgotten, and when: so many were offered by then.
  private var forgotten: [UInt64: UInt64] = [:]
  private var lastOffered: UInt64 = 0
  /// The last of those that were kept.
  private var lastKept: UInt64 = 0

  package init() {}

  /// The message of that number: small ones, and here and there one of many pages. No two are
  /// alike.
  package static func message(_ id: UInt64) -> Message {
    var random = SplitMix64(seed: id)
    let draw = random.next()
    let length = Int((draw >> 8) % (draw % 16 == 0 ? 40_000 : 300))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length + 16)
    withUnsafeBytes(of: id.littleEndian) { bytes += $0 }
    while bytes.count < length {
      withUnsafeBytes(of: random.next().littleEndian) { bytes += $0 }
    }
    return Message(bytes: bytes, kind: [.text, .binary, .object, .unknown(9)][Int(draw % 4)])
  }

  private static func id(of kept: KeptMessage) -> UInt64 {
    kept.message.bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Ids rise, and so does the order in which messages are offered.
  package mutating func offers(_ id: UInt64) {
    offered.insert(id)
    lastOffered = id
  }

  package mutating func hears(_ id: UInt64, keptAs number: UInt64) {
    offered.remove(id)
    kept[id] = number
    lastKept = max(lastKept, id)
  }

  package mutating func hears(refusalOf id: UInt64) {
    offered.remove(id)
  }

  /// Before it is told to.
  package mutating func forgets(_ number: UInt64) { forgotten[number] = lastOffered }

  /// How many messages are kept and not forgotten.
  package var owed: Int { kept.values.count { forgotten[$0] == nil } }

  /// What is wrong with what the next outbox has recovered.
  package func problems(with recovered: [KeptMessage]) -> [String] {
    var problems: [String] = []
    var last = (id: UInt64(0), number: UInt64(0))
    var found: Set<UInt64> = []
    for message in recovered {
      let id = Self.id(of: message)
      guard message.message == Self.message(id), offered.contains(id) || kept[id] != nil else {
        problems.append("\(message.number) was never offered, or not like this, or was refused")
        continue
      }
      if let number = kept[id], number != message.number {
        problems.append("\(id) was kept as \(number), and is \(message.number)")
      }
      if let time = forgotten[message.number], time < lastKept {
        problems.append("\(id) was forgotten before something that is kept")
      }
      if id <= last.id || message.number <= last.number { problems.append("\(id) is out of order") }
      last = (id, message.number)
      found.insert(id)
    }
    for (id, number) in kept.sorted(by: { $0.key < $1.key })
    where forgotten[number] == nil && !found.contains(id) {
      problems.append("\(id), kept as \(number), is lost")
    }
    return problems
  }

  /// Another outbox goes on with these.
  package mutating func restarts(with recovered: [KeptMessage]) {
    let before = lastOffered
    self = Ledger()
    lastOffered = before
    for message in recovered {
      let id = Self.id(of: message)
      kept[id] = message.number
    }
  }

  /// What the next message is called.
  package var nextID: UInt64 { lastOffered + 1 }
}
