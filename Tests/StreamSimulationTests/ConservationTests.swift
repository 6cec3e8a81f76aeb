import ConnectionFSM
import Foundation
import NetSim
import Testing
import Transports

@Suite struct ConservationTests {
  /// One digest a line, of the seeds from 0. A release run with `DIGESTS=FILE` in its environment
  /// writes them to the files FILE.0 to FILE.19 instead of comparing, where a change is meant.
  private static let golden: [String] = {
    let url = Bundle.module.url(forResource: "Fixtures/digests", withExtension: "txt")
    let text = url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
    return text.split(separator: "\n").map(String.init)
  }()

  private static let blockSize = 50
  #if DEBUG
    /// A debug build takes a minute for all of them on two cores, and plays the first 250.
    private static let blocks = 0..<5
  #else
    private static let blocks = 0..<20
  #endif

  @Test(
    "F59: a connection in all kinds of weather keeps its promises and is the same as ever",
    arguments: blocks)
  func swarm(_ block: Int) throws {
    var digests: [String] = []
    for seed in block * Self.blockSize..<(block + 1) * Self.blockSize {
      do { digests.append(try Self.digest(ofSeed: UInt64(seed))) } catch {
        Issue.record("seed \(seed): \(error)")
        digests.append("failed")
      }
    }
    let expected = Self.golden.dropFirst(block * Self.blockSize).prefix(Self.blockSize)
    if let file = ProcessInfo.processInfo.environment["DIGESTS"] {
      try digests.joined(separator: "\n").write(
        toFile: "\(file).\(block)", atomically: true, encoding: .utf8)
    } else {
      let different = zip(digests, expected).enumerated().filter { $0.element.0 != $0.element.1 }
        .map { block * Self.blockSize + $0.offset }
      #expect(different == [], "seeds whose trace has changed")
      #expect(digests.count == expected.count)
    }
  }

  @Test("F59: two runs of one seed are equal in every event", arguments: 0..<20)
  func twice(_ seed: UInt64) throws {
    try Determinism.check(seed: seed) { seed, log in
      _ = try Self.simulation(ofSeed: seed).run { event in
        switch event {
        case .step(let record):
          log.record("\(record.input): \(record.disposition), \(record.to)", at: record.instant)
        case .note(let instant, let note): log.record(note, at: instant)
        }
      }
    }
  }

  @Test("A run that nobody watches is the same as one that is watched", arguments: 0..<5)
  func unwatched(_ seed: UInt64) throws {
    let simulation = try Self.simulation(ofSeed: seed)
    let watched = try simulation.run { _ in }
    let unwatched = try simulation.run()
    #expect(watched.steps == unwatched.steps)
    #expect(watched.outcomes == unwatched.outcomes)
    #expect(watched.end == unwatched.end)
  }

  private static func simulation(ofSeed seed: UInt64) throws -> StreamSimulation {
    let framing = try DelimiterFraming(
      delimiter: .lf, acknowledgement: .echo, pingLine: Array("PING".utf8))
    return try StreamSimulation(StreamSwarm.scenario(seed: seed), seed: seed) { framing }
  }

  /// What the trace, the server and the application saw, in one number.
  private static func digest(ofSeed seed: UInt64) throws -> String {
    var digest = Digest()
    let text = TraceText(colour: false)
    _ = try simulation(ofSeed: seed).run { event in
      switch event {
      case .step(let record): digest.add(text.line(record))
      case .note(let instant, let note): digest.add("\(instant) \(note)")
      }
    }
    return String(digest.value, radix: 16)
  }
}
