import ConnectionFSM
import Foundation
import Transports

/// A connection over a real socket, with standard input as its messages.
struct ConnectCommand: Command {
  static let name = "connect"
  static let summary = "Connect to an echo server, send standard input by lines, show the trace"
  static let help = Help.connect

  private enum Lane: String, CaseIterable {
    case atMostOnce = "at-most-once"
    case atLeastOnce = "at-least-once"

    var id: LaneID { LaneID(self == .atMostOnce ? 0 : 1) }
  }

  /// How long the end of the input waits for messages without an end.
  private static let patience = Duration.seconds(5)

  private let endpoint: Endpoint
  private let format: TraceFormat
  private let lane: Lane
  private let seed: UInt64

  init(_ arguments: inout ArgumentList) throws(Failure) {
    format = try arguments.choice(of: "--format") ?? .text
    // Two clients of one server must not draw the same waits; the trace of a run names its seed.
    seed = try arguments.number(of: "--seed", in: 0...UInt64.max) ?? .random(in: 0 ... .max)
    lane = try arguments.choice(of: "--lane") ?? .atLeastOnce
    endpoint = try arguments.endpoint(try arguments.endpointWord())
  }

  func run() async throws(Failure) {
    let loop: SocketEventLoop
    do throws(LoopError) { loop = try SocketEventLoop() } catch {
      throw Failure(.unavailable, "\(error)")
    }
    let session = ConnectSession(loop: loop, format: format)
    let policy: Policy
    let connection: Connection
    do {
      policy = try Self.policy()
      let framing = try DelimiterFraming(
        delimiter: .lf, maximumLength: ConnectSession.lineLengthLimit, acknowledgement: .echo,
        pingLine: Array("ping".utf8))
      connection = try Connection(
        StreamTransport(TCPDialer(loop: loop)) { framing }, policy: policy, seed: seed
      ) { session.step($0) }
    } catch {
      throw Failure(.failed, "connect: \(error)")
    }
    if format == .text, isatty(STDIN_FILENO) == 1 {
      Console.print("Type lines for \(endpoint); Ctrl-D closes politely, Ctrl-C too.\n")
    }
    TraceWriter(format).begin(policy: policy, seed: seed)
    let signals = session.catchInterrupts()
    let arrivals = show(connection.messages(bufferingUpTo: 1 << 16), on: loop, session)
    connection.connect(to: endpoint)
    session.readInput(into: connection, lane: lane.id)
    let cause = await closing(connection, session)
    // Whatever was under way on the loop is said before the last word.
    await withTaskExecutorPreference(loop) {}
    arrivals.cancel()
    loop.stop()
    withExtendedLifetime(signals) {}
    try conclude(session, cause)
  }

  private static func policy() throws(PolicyError) -> Policy {
    try Policy(
      connectDeadline: .seconds(5), closeDeadline: .seconds(3),
      backoff: Backoff(
        first: .seconds(1), base: .seconds(1), cap: .seconds(10), stability: .seconds(5)),
      minimumDialSpacing: .milliseconds(500),
      heartbeat: Heartbeat(interval: .seconds(15), timeout: .seconds(5)),
      lanes: [
        ConnectionFSM.Lane(.atMostOnce, timeToLive: nil),
        ConnectionFSM.Lane(.atLeastOnce, timeToLive: nil),
      ])
  }

  private func show(
    _ messages: AsyncThrowingStream<Message, any Error>, on loop: SocketEventLoop,
    _ session: ConnectSession
  ) -> Task<Void, Never> {
    Task(executorPreference: loop) {
      do {
        for try await message in messages { session.note("← \(message.text.printable)") }
      } catch {
        Console.complain("more arrives than can be shown: \(error)")
      }
    }
  }

  /// Waits for the end of the connection, and begins it when it is time.
  private func closing(_ connection: Connection, _ session: ConnectSession) async -> Cause? {
    var isClosing = false
    for await event in session.events {
      switch event {
      case .closed(let cause): return cause
      case .interrupted where isClosing: exit(ExitStatus.interrupted.rawValue)
      case .inputEnded:
        Task {
          try await Task.sleep(for: Self.patience)
          session.tell(.patienceOver)
        }
      case .everyMessageEnded, .interrupted, .patienceOver:
        guard !isClosing else { continue }
        isClosing = true
        Task { await connection.close() }
      }
    }
    return nil
  }

  private func conclude(_ session: ConnectSession, _ cause: Cause?) throws(Failure) {
    let statistics = session.statistics
    if format == .text {
      Console.print("\nClosed after \(statistics.figures), with seed \(seed).")
      if let messages = statistics.messagesInWords { Console.print("Messages: \(messages).") }
    }
    if let cause { throw Failure(.failed, "\(endpoint) is closed for good: \(cause)") }
    let failed = session.failedMessages
    if failed > 0 {
      throw Failure(
        .failed, "\(failed) message\(failed == 1 ? "" : "s") did not arrive for certain")
    }
  }
}
