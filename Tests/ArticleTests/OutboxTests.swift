// Blocks of the article “Messages that outlive the process”; `BlocksTests` checks that the page
// shows them.

import ConnectionFSM
import Foundation
import Testing
import Transports

/// A connection whose lane 1 is kept in a file: what it had not delivered when the process ended is
/// sent first when it is made again.
func durable(
  _ transport: sending some Transport, keptAt path: String
) throws -> (connection: Connection, outbox: FileOutbox) {
  let outbox = try FileOutbox(path: path, countLimit: 1000, byteLimit: 8 << 20)
  let policy = try Policy(
    heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)),
    lanes: [Lane(.atMostOnce), Lane(.atLeastOnce, timeToLive: nil)])
  let connection = try Connection(
    transport, policy: policy, outbox: (outbox, lane: LaneID(1)))
  return (connection, outbox)
}

/// Opens the file of an outbox, or moves a damaged one out of the way.
func openOrStartAnew(_ path: String) throws -> FileOutbox {
  do throws(FileOutboxError) {
    let outbox = try FileOutbox(path: path)
    if let torn = outbox.tornTail { print("cut off \(torn.bytes) unfinished bytes") }
    return outbox
  } catch {
    guard case .damaged = error else { throw error }
    print(error)
    try FileManager.default.moveItem(atPath: path, toPath: path + ".damaged")
    return try FileOutbox(path: path)
  }
}

@Suite("Article: Messages that outlive the process")
struct OutboxTests {
  private static func inFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  @Test("what was kept and not delivered is there again")
  func again() async throws {
    try await Self.inFolder { folder in
      let path = folder.appending(path: "outbox").path
      let first = try openOrStartAnew(path)
      let number = await withCheckedContinuation { continuation in
        first.keep(Message("order 7")) { continuation.resume(returning: try? $0.get()) }
      }
      #expect(number != nil)
      await first.close()
      let (connection, outbox) = try durable(
        .webSocket("ws://127.0.0.1:1"), keptAt: path)
      #expect(outbox.recovered.map(\.message.text) == ["order 7"])
      #expect(await connection.explain()?.phase == .idle)
      await connection.close()
      await outbox.close()
    }
  }

  @Test("a damaged file is moved out of the way, and stays")
  func damaged() async throws {
    try await Self.inFolder { folder in
      let path = folder.appending(path: "outbox").path
      let first = try openOrStartAnew(path)
      await withCheckedContinuation { continuation in
        first.keep(Message("order 7")) { _ in continuation.resume() }
      }
      await first.close()
      var bytes = try Data(contentsOf: URL(filePath: path))
      bytes[9] ^= 1
      try bytes.write(to: URL(filePath: path))
      do {
        let second = try openOrStartAnew(path)
        #expect(second.recovered.isEmpty)
        await second.close()
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
      } catch let error as FileOutboxError {
        // The byte of the version is no damage.
        #expect("\(error)".contains("version"))
      }
    }
  }
}
