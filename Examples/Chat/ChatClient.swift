package import ConnectionFSM
package import Transports

/// A client of the chat: what a terminal, a screen or a test puts its lines into.
///
/// It knows neither sockets nor simulations: whoever makes it gives it a transport.
package struct ChatClient: Sendable {
  private let connection: Connection

  /// Lines, with a ping that the server answers: of a connection that has died without a word one
  /// hears by that alone.
  package static func framing() throws -> DelimiterFraming {
    try DelimiterFraming(
      delimiter: .lf, pingLine: Array("ping".utf8), pongLine: Array("pong".utf8))
  }

  /// Makes a client at rest.
  /// - Parameters:
  ///   - transport: What carries its lines, in ``framing()``.
  ///   - name: Who joins: one word.
  ///   - run: A number that no other run of the client has.
  ///   - seed: What random waits are drawn from; nil draws one from the system.
  package init(
    _ transport: sending some Transport, name: String, run: UInt64, seed: UInt64? = nil
  ) throws {
    let policy = try Policy(
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(15)),
      heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)),
      sessionDeadline: .seconds(5),
      // What was typed waits for as long as it takes, and is said again until the server has it.
      lanes: [Lane(.atLeastOnce, timeToLive: nil)])
    connection = try Connection(
      transport, policy: policy, seed: seed, session: ChatDialect(name: name, run: run))
  }

  /// Chats until the lines end, or the server turns us away.
  /// - Parameters:
  ///   - lines: What is typed.
  ///   - show: Gets each line for the screen: what is said, and in brackets how things stand.
  package func chat(
    at server: Endpoint, saying lines: AsyncStream<String>,
    show: @escaping @Sendable (String) -> Void
  ) async throws {
    let said = connection.messages(of: ChatDialect.room)
    let states = connection.states()
    connection.connect(to: server)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await line in said { show(line.text) }
      }
      group.addTask {
        for await state in states {
          show(Self.words(for: state))
          if state.phase == .closed { return }
        }
      }
      group.addTask {
        for await line in lines where !line.isEmpty { say(line, show) }
      }
      // Whichever ends first ends the chat; what was typed last is still sent.
      try await group.next()
      await connection.close(draining: true)
      group.cancelAll()
    }
  }

  /// There is nothing to wait for: the connection keeps the line, and its order, until it is said.
  private func say(_ line: String, _ show: @escaping @Sendable (String) -> Void) {
    connection.post(Message(line)) { result in
      switch result {
      case .success(.acknowledged): break
      case .success(let outcome): show("[not said (\(outcome)): \(line)]")
      case .failure(let rejection): show("[not said (\(rejection)): \(line)]")
      }
    }
  }

  private static func words(for state: Explanation) -> String {
    switch state.phase {
    case .open: return "[connected]"
    case .closed: return "[closed" + (state.cause.map { ": \($0)" } ?? "") + "]"
    case let phase:
      return "[\(phase)" + (state.cause.map { ", since \($0)" } ?? "") + "]"
    }
  }
}
