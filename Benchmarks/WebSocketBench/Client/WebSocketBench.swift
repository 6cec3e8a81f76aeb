import ConnectionFSM
import Dispatch
import Transports

/// Messages to an echo server and back, so many in flight, over the transport or over a connection
/// on top of it. Prints what the clients of others in `peers` print.
@main
struct WebSocketBench {
  static func main() throws {
    guard let trial = Trial(CommandLine.arguments.dropFirst()) else {
      return print("usage: websocket-bench PORT SIZE INFLIGHT COUNT [transport|connection]")
    }
    let url = try WebSocketURL("ws://127.0.0.1:\(trial.port)/")
    let options = try WebSocketOptions(
      url, limits: WebSocketLimits(maximumMessageLength: 64 << 20, maximumOutgoingLength: 64 << 20))
    let loop = try SocketEventLoop()
    let stopwatch: Stopwatch
    switch trial.mode {
    case .transport: stopwatch = overTransport(options, loop, trial)
    case .connection: stopwatch = try overConnection(options, loop, trial)
    }
    loop.stop()
    print(trial.line(stopwatch))
  }

  private static func overTransport(
    _ options: WebSocketOptions, _ loop: SocketEventLoop, _ trial: Trial
  ) -> Stopwatch {
    let done = DispatchSemaphore(value: 0)
    let exchange = Exchange(options, loop, trial) { done.signal() }
    loop.execute { exchange.start() }
    done.wait()
    return exchange.stopwatch
  }

  private static func overConnection(
    _ options: WebSocketOptions, _ loop: SocketEventLoop, _ trial: Trial
  ) throws -> Stopwatch {
    let stopwatch = Stopwatch()
    let message = trial.message
    let connection = try Connection(
      StreamTransport(TCPDialer(loop: loop)) { WebSocketEngine(options) },
      policy: Policy(heartbeat: nil))
    let done = DispatchSemaphore(value: 0)
    Task(executorPreference: loop) {
      let messages = connection.messages()
      connection.connect(to: options.url.endpoint)
      for await state in connection.states() where state.phase == .open { break }
      stopwatch.start()
      var sent = min(trial.inFlight, trial.count)
      for _ in 0..<sent { connection.post(message) }
      var received = 0
      for try await echo in messages {
        guard echo.bytes.count == trial.size else { fatalError("\(echo.bytes.count) bytes") }
        received += 1
        if received == trial.count { break }
        guard sent < trial.count else { continue }
        connection.post(message)
        sent += 1
      }
      stopwatch.stop()
      await connection.close()
      done.signal()
    }
    done.wait()
    return stopwatch
  }
}
