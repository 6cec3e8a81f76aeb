import ConnectionFSM
import Foundation
import Testing

@Suite("F56: replay of a recording in parts")
struct PartReplayTests {
  /// A recording from step to step, as whoever writes segments makes it.
  private struct Part {
    let header: TraceHeader
    let lines: [TraceLine]
  }

  /// A random life, cut into parts of so many steps.
  private static func parts(seed: UInt64, length: Int) throws -> ([Part], Recorder) {
    let (recorder, lines) = try ReplayTests.life(seed: seed)
    var replay = try Replay(TraceHeader(policy: ReplayTests.policy(), seed: seed))
    var parts: [Part] = []
    for first in stride(from: 0, to: lines.count, by: length) {
      let header = TraceHeader(
        startingWith: replay.machine, after: UInt64(first), missing: 0)
      let rest = first..<min(first + length, lines.count)
      for line in lines[rest] { _ = try replay.next(line) }
      var causality = Causality()
      let own = recorder.records[rest].map { TraceLine($0, parent: causality.parent(of: $0)) }
      parts.append(Part(header: try header.copied(), lines: own))
    }
    return (parts, recorder)
  }

  @Test("each part of a recording replays alone, and all of them one after the other")
  func parts() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      let (parts, recorder) = try Self.parts(seed: seed, length: 37)
      var whole = try Replay(parts[0].header)
      var statistics = Statistics(of: whole.machine)
      for (place, part) in parts.enumerated() {
        var alone = try Replay(part.header)
        if place > 0 { #expect(try whole.goOn(with: part.header) == 0) }
        for line in part.lines {
          _ = try alone.next(line)
          statistics.add(try whole.next(line))
        }
        #expect(alone.machine == whole.machine)
      }
      #expect(whole.machine == recorder.machine)
      #expect(statistics == recorder.statistics, "seed \(seed)")
    }
  }

  @Test("where parts are missing, it is told how many steps those had")
  func gap() throws {
    let (parts, _) = try Self.parts(seed: 2, length: 50)
    var replay = try Replay(parts[1].header)
    for line in parts[1].lines { _ = try replay.next(line) }
    #expect(try replay.goOn(with: parts[4].header) == 100)
    for line in parts[4].lines { _ = try replay.next(line) }
  }

  @Test("a part that comes twice or too late is refused, and one of another run")
  func disorder() throws {
    let (parts, _) = try Self.parts(seed: 3, length: 50)
    let (others, _) = try Self.parts(seed: 4, length: 50)
    var replay = try Replay(parts[1].header)
    for line in parts[1].lines { _ = try replay.next(line) }
    let order = #expect(throws: ReplayError.self) { try replay.goOn(with: parts[1].header) }
    #expect(order?.description.hasPrefix("begins after step 50, and the part before it") == true)
    let other = #expect(throws: ReplayError.self) { try replay.goOn(with: others[2].header) }
    #expect(other?.description.hasPrefix("begins with another machine than the part") == true)
  }

  @Test("a line that does not follow the start of its part is refused")
  func lineMissing() throws {
    let (parts, _) = try Self.parts(seed: 3, length: 50)
    var replay = try Replay(parts[1].header)
    let error = #expect(throws: ReplayError.self) { try replay.next(parts[1].lines[1]) }
    #expect(error?.description.hasPrefix("is step 52 where step 51 must be") == true)
  }

  @Test("a start that no machine can have is refused with its place")
  func impossible() throws {
    let (parts, _) = try Self.parts(seed: 3, length: 50)
    let header = try parts[1].header.copied { $0.replace(/"now":[0-9]+/, with: "\"now\":-4") }
    let error = #expect(throws: ReplayError.self) { try Replay(header) }
    #expect(error?.description == "start: snapshot: now: must be from 0 to 146 years")
  }

  @Test("statistics of a part count its messages from the ones that live at its beginning")
  func statistics() throws {
    var recorder = Recorder(try .made(), seed: 1)
    recorder.feed(.connect(here))
    recorder.transport(.opened, at: .seconds(1))
    recorder.feed(.offer(LaneID(0), byteCount: 5))
    var statistics = Statistics(of: recorder.machine)
    #expect(statistics.pending == 1 && statistics.phase == .open)
    let written = MessageID(lane: LaneID(0), sequence: 1)
    statistics.add(recorder.transport(.written(through: written), at: .seconds(3)))
    #expect(statistics.ended == [.written: 1] && statistics.pending == 0)
    #expect(statistics.open.total == .seconds(2) && statistics.taken == 0)
  }
}

extension TraceHeader {
  /// The header as it is read back, perhaps changed on the way.
  fileprivate func copied(_ change: (inout String) -> Void = { _ in }) throws -> TraceHeader {
    var text = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    change(&text)
    return try JSONDecoder().decode(TraceHeader.self, from: Data(text.utf8))
  }
}
