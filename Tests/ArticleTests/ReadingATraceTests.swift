// Blocks of the article “Reading a trace”; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import Foundation
import NetSim
import Testing
import Transports

/// A connection whose steps are printed, one line each.
func watched(_ transport: sending some Transport, policy: Policy) throws -> Connection {
  let text = TraceText(colour: false)
  return try Connection(transport, policy: policy) { step in
    print(text.line(step))
    for moment in step.moments { print("          \(moment)") }
  }
}

/// A connection that is recorded: at most eight files of 4 MiB in this folder, the oldest go.
func recorded(
  _ transport: sending some Transport, policy: Policy, in folder: String
) throws -> (connection: Connection, recorder: TraceRecorder) {
  let recorder = try TraceRecorder(folder: folder, name: "feed") { error in print(error) }
  let connection = try Connection(transport, policy: policy, monitors: [recorder])
  return (connection, recorder)
}

/// Makes a recorded run again, and adds up what happened in it.
func statistics(of lines: [Data]) throws -> Statistics {
  let decoder = JSONDecoder()
  var replay = try Replay(decoder.decode(TraceHeader.self, from: lines[0]))
  var statistics = Statistics()
  for line in lines.dropFirst() {
    statistics.add(try replay.next(decoder.decode(TraceLine.self, from: line)))
  }
  return statistics
}

@Suite("Article: Reading a trace")
struct ReadingATraceTests {
  @Test("what was recorded replays, with the outage in it")
  func replays() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let recorder = try VirtualTime.run { loop in
      var world = Internet(seed: 1)
      let (phone, feed) = (world.addHost("phone"), world.addHost("feed"))
      let internet = SimulatedInternet(world, on: loop)
      let server = SimulatedServer(
        internet, host: feed, port: 443, engine: { SimulatedProtocol() }, respond: { _, _ in })
      let policy = try Policy(
        heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)))
      let (connection, recorder) = try recorded(
        internet.transport(from: phone), policy: policy, in: folder.path)
      let printed = try watched(internet.transport(from: phone), policy: policy)
      for connection in [connection, printed] {
        connection.connect(to: Endpoint(host: "feed", port: 443))
      }
      try await loop.clock.sleep(for: .seconds(5))
      server.closeAll()
      try await loop.clock.sleep(for: .seconds(60))
      await connection.close()
      await printed.close()
      return recorder
    }
    await recorder.flush()
    let lines = try Data(contentsOf: folder.appending(path: "feed-000001.jsonl"))
      .split(separator: UInt8(ascii: "\n"))
    #expect(lines.count > 5)
    let sum = try statistics(of: lines)
    #expect(sum.attempts == 2 && sum.outages.count == 1)
  }
}
