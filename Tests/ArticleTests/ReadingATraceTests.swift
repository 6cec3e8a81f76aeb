// Blocks of the article “Reading a trace”; `BlocksTests` checks that the page shows them.

import ConnectionFSM
import Foundation
import NetSim
import Synchronization
import Testing

/// A connection whose steps are printed, one line each.
func watched(_ transport: sending some Transport, policy: Policy) throws -> Connection {
  let text = TraceText(colour: false)
  return try Connection(transport, policy: policy) { step in
    print(text.line(step))
    for moment in step.moments { print("          \(moment)") }
  }
}

/// A connection whose steps are written down as JSON, so that they replay.
func recorded(
  _ transport: sending some Transport, policy: Policy, seed: UInt64,
  to write: @escaping @Sendable (Data) -> Void
) throws -> Connection {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  write(try encoder.encode(TraceHeader(policy: policy, seed: seed)))
  let causality = Mutex(Causality())
  return try Connection(transport, policy: policy, seed: seed) { step in
    let parent = causality.withLock { $0.parent(of: step) }
    if let line = try? encoder.encode(TraceLine(step, parent: parent)) { write(line) }
  }
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
  @Test("what was written down replays, with the outage in it")
  func replays() throws {
    let lines = Mutex<[Data]>([])
    try VirtualTime.run { loop in
      var world = Internet(seed: 1)
      let (phone, feed) = (world.addHost("phone"), world.addHost("feed"))
      let internet = SimulatedInternet(world, on: loop)
      let server = SimulatedServer(
        internet, host: feed, port: 443, engine: { SimulatedProtocol() }, respond: { _, _ in })
      let policy = try Policy(
        heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)))
      let connection = try recorded(
        internet.transport(from: phone), policy: policy, seed: 7
      ) { line in lines.withLock { $0.append(line) } }
      let printed = try watched(internet.transport(from: phone), policy: policy)
      for connection in [connection, printed] {
        connection.connect(to: Endpoint(host: "feed", port: 443))
      }
      try await loop.clock.sleep(for: .seconds(5))
      server.closeAll()
      try await loop.clock.sleep(for: .seconds(60))
      await connection.close()
      await printed.close()
    }
    let written = lines.withLock { $0 }
    #expect(written.count > 5)
    let sum = try statistics(of: written)
    #expect(sum.attempts == 2 && sum.outages.count == 1)
  }
}
