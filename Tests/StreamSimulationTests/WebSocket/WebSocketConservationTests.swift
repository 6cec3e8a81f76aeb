import ConnectionFSM
import Foundation
import NetSim
import Testing
import fsm_demo

@Suite("WebSocket: a connection in all kinds of weather")
struct WebSocketConservationTests {
  /// One digest a line, of the seeds from 0; none of the stories that compress, where zlib's
  /// version has its say. A release run with `DIGESTS=FILE` in its environment writes them to the
  /// files FILE.0 to FILE.19 instead of comparing, where a change is meant.
  private static let golden: [String] = {
    let url = Bundle.module.url(forResource: "Fixtures/websocket-digests", withExtension: "txt")
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
    "F59: a connection over a WebSocket keeps its promises and is the same as ever",
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
      #expect(digests == Array(expected), "the traces of seeds have changed")
    }
  }

  @Test("F59: two runs of one seed over a WebSocket are equal in every event", arguments: 0..<6)
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

  private static func simulation(ofSeed seed: UInt64) throws -> StreamSimulation {
    var scenario = StreamSwarm.scenario(seed: seed)
    scenario.over = .webSocket
    return try WebSocketTalk(seed: seed).simulation(of: scenario, seed: seed)
  }

  /// What the trace, the server and the application saw, in one number.
  private static func digest(ofSeed seed: UInt64) throws -> String {
    var digest = Digest()
    let text = TraceText(colour: false)
    _ = try Self.simulation(ofSeed: seed).run { event in
      switch event {
      case .step(let record): digest.add(text.line(record))
      case .note(let instant, let note): digest.add("\(instant) \(note)")
      }
    }
    return WebSocketTalk.compresses(seed) ? "compressed" : String(digest.value, radix: 16)
  }
}
