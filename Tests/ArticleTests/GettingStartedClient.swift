// A block of the article “Getting started”; `BlocksTests` checks that the page shows it.

import ConnectionFSM
import Transports

/// The latest price of each symbol; a message of the feed is `ACME 12.30`.
actor Prices {
  private let connection: Connection
  private(set) var latest: [Substring: Substring] = [:]

  init(_ transport: sending some Transport) throws {
    let policy = try Policy(
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(30)),
      heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)))
    connection = try Connection(transport, policy: policy)
  }

  /// Follows the feed until the task is cancelled.
  func follow() async throws {
    let messages = connection.messages()
    connection.connect()
    for try await message in messages {
      let words = message.text.split(separator: " ")
      if words.count == 2 { latest[words[0]] = words[1] }
    }
  }

  /// What the connection does, for a status line.
  nonisolated func states() -> AsyncStream<Explanation> { connection.states() }

  func stop() async { await connection.close() }
}

/// Prints what the connection does until the process ends.
func follow(_ address: String) async throws {
  let prices = try Prices(.webSocket(address))
  let following = Task { try await prices.follow() }
  for await state in prices.states() { print(state.phase, "waits for", state.waitsFor) }
  try await following.value
}
