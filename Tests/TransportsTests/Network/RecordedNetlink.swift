import ConnectionFSM
import Foundation
import Testing
import Transports

/// What Linux 6.18 answered to the three questions of a first look, numbered 1, 2 and 3, or
/// announced: datagrams of rtnetlink, in the byte order of x86-64 and ARM.
struct RecordedNetlink: Sendable, CustomTestStringConvertible {
  let name: String
  var datagrams: [[UInt8]]

  var testDescription: String { name }

  static let names = [
    "loopback-alone", "default-v4", "default-both", "two-hops", "first-hop-down",
  ]

  static var looks: [RecordedNetlink] {
    get throws { try names.map { try RecordedNetlink($0) } }
  }

  init(_ name: String) throws {
    self.name = name
    let url = try #require(
      Bundle.module.url(forResource: name, withExtension: "txt", subdirectory: "Fixtures/netlink"))
    let text = try String(contentsOf: url, encoding: .utf8)
    datagrams = text.split(separator: "\n\n").map { block in
      let digits = block.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
      }
    }
  }

  /// The same answers to the questions of a later look.
  func renumbered(by offset: UInt32) -> RecordedNetlink {
    changed { message in
      let number = UInt32(message[8]) + offset
      for place in 0..<4 { message[8 + place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
    }
  }

  /// The same, put together while things changed (NLM_F_DUMP_INTR).
  var interrupted: RecordedNetlink { changed { $0[6] |= 0x10 } }

  private func changed(_ change: (inout ArraySlice<UInt8>) -> Void) -> RecordedNetlink {
    var copy = self
    copy.datagrams = datagrams.map { datagram in
      var changed: [UInt8] = []
      var rest = datagram[...]
      while rest.count >= 16 {
        let length = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
        var message = ArraySlice(Array(rest.prefix((length + 3) & ~3)))
        change(&message)
        changed += message
        rest = rest.dropFirst(message.count)
      }
      return changed
    }
    return copy
  }
}

extension RouteWatch {
  /// Takes a datagram; gives what it led to.
  mutating func receive(_ datagram: some Collection<UInt8>, at now: Instant = .origin) -> [Effect] {
    var effects: [Effect] = []
    receive(Array(datagram).span.bytes, at: now, into: &effects)
    return effects
  }

  mutating func receive(_ recorded: RecordedNetlink, at now: Instant = .origin) -> [Effect] {
    recorded.datagrams.flatMap { receive($0, at: now) }
  }

  mutating func started(at now: Instant = .origin) -> [Effect] {
    var effects: [Effect] = []
    start(at: now, into: &effects)
    return effects
  }

  mutating func overrun(at now: Instant) -> [Effect] {
    var effects: [Effect] = []
    overrun(at: now, into: &effects)
    return effects
  }

  mutating func reached(_ now: Instant) -> [Effect] {
    var effects: [Effect] = []
    deadlineReached(at: now, into: &effects)
    return effects
  }

  /// One that has looked once, at the origin.
  static func after(_ recorded: RecordedNetlink) -> RouteWatch {
    var watch = RouteWatch()
    _ = watch.started()
    _ = watch.receive(recorded)
    return watch
  }
}
