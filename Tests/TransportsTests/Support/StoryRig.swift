import ConnectionFSM
import Synchronization
import Transports

/// A connection over a real socket and the echo server on its other side, each on a loop of its
/// own.
final class StoryRig: Sendable {
  let clientLoop: SocketEventLoop
  let serverLoop: SocketEventLoop
  let connection: Connection
  let journal = Journal()
  private let server = Confined<EchoServer?>(nil)

  init(policy: Policy, seed: UInt64) throws {
    clientLoop = try SocketEventLoop()
    serverLoop = try SocketEventLoop()
    let dialer = TCPDialer(loop: clientLoop)
    let framing = try DelimiterFraming(
      delimiter: .lf, acknowledgement: .echo, pingLine: Array("ping".utf8))
    let journal = journal
    connection = try Connection(
      StreamTransport(dialer) { framing }, policy: policy, seed: seed
    ) { record in
      journal.record(record)
    }
  }

  /// Starts the server; on the given port if it ran there before.
  func startServer(port: UInt16 = 0, fault: ServerFault = .none) async throws -> Endpoint {
    let (server, serverLoop, journal) = (server, serverLoop, journal)
    let bound = await serverLoop.run { () -> Result<UInt16, ListenError> in
      let echo = EchoServer(loop: serverLoop, fault: fault) { event in
        if case .message(_, let line) = event { journal.serverRead(line.text) }
      }
      server.value = echo
      do throws(ListenError) { return .success(try echo.start(port: port)) } catch {
        return .failure(error)
      }
    }
    return Endpoint(host: "127.0.0.1", port: try bound.get())
  }

  func killServer() async {
    let server = server
    await serverLoop.run {
      server.value?.kill()
      server.value = nil
    }
  }

  /// Comes back once the connection is, or has just been, in that phase.
  func reach(_ phase: Phase) async {
    for await state in connection.states() where state.phase == phase { return }
  }

  func send(_ text: String, in lane: UInt8) {
    let journal = journal
    connection.post(Message(text), in: LaneID(lane)) { result in
      journal.ended(text, result)
    }
  }

  /// Comes back once all these messages have ended.
  func settled(_ texts: [String]) async {
    let journal = journal
    await clientLoop.until { texts.allSatisfy { journal.outcome(of: $0) != nil } }
  }

  func stop() async {
    await killServer()
    clientLoop.stop()
    serverLoop.stop()
  }
}

/// What happened, from both loops.
final class Journal: Sendable {
  private struct Entries {
    var phases: [Phase] = [.idle]
    var moments: [Moment] = []
    var dials = 0
    var causes: [Cause] = []
    var read: [String] = []
    var outcomes: [(text: String, outcome: String)] = []
  }

  private let entries = Mutex(Entries())

  func record(_ record: TraceRecord) {
    entries.withLock { entries in
      if record.to != record.from { entries.phases.append(record.to) }
      entries.moments += record.moments
      for effect in record.effects {
        if case .openTransport = effect { entries.dials += 1 }
        if case .ended(_, let cause) = effect { entries.causes.append(cause) }
      }
    }
  }

  func serverRead(_ line: String) { entries.withLock { $0.read.append(line) } }

  func ended(_ text: String, _ result: Result<Outcome, Rejection>) {
    let word: String
    switch result {
    case .success(let outcome): word = "\(outcome)"
    case .failure(let rejection): word = "rejected(\(rejection))"
    }
    entries.withLock { $0.outcomes.append((text, word)) }
  }

  var phases: [Phase] { entries.withLock { $0.phases } }
  var moments: [Moment] { entries.withLock { $0.moments } }
  var dials: Int { entries.withLock { $0.dials } }
  var causes: [Cause] { entries.withLock { $0.causes } }
  var linesRead: [String] { entries.withLock { $0.read } }
  var outcomes: [String] { entries.withLock { $0.outcomes.map { "\($0.text) \($0.outcome)" } } }

  func outcome(of text: String) -> String? {
    entries.withLock { $0.outcomes.first { $0.text == text }?.outcome }
  }
}
