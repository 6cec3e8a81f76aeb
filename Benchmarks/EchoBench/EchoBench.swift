import ConnectionFSM
import Dispatch
import Transports

/// A message of 32 bytes, one in flight, to a small echo server and back.
@main
struct EchoBench {
  static let size = 32

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    #if os(Linux)
      if arguments == ["serve"] { return Bare.serve() }
      guard arguments.count == 3, let port = UInt16(arguments[1]), let rounds = Int(arguments[2]),
        rounds > 0
      else { return usage() }
      let stopwatch = Stopwatch()
      switch arguments[0] {
      case "bare": Bare.pingPong(port: port, rounds: rounds, stopwatch: stopwatch)
      case "transport": try transport(port, rounds, stopwatch)
      case "connection": try connection(port, rounds, stopwatch)
      default: return usage()
      }
      let wall = microseconds(stopwatch.elapsed, rounds)
      let processor = microseconds(stopwatch.processor, rounds)
      print("\(arguments[0]) \(wall) us a round, \(processor) us of the processor")
    #else
      _ = arguments
      print("echo-bench measures against epoll, which this system does not have")
    #endif
  }

  private static func usage() {
    print("usage: echo-bench serve | echo-bench bare|transport|connection PORT ROUNDS")
  }

  private static func transport(_ port: UInt16, _ rounds: Int, _ stopwatch: Stopwatch) throws {
    let loop = try SocketEventLoop()
    let done = DispatchSemaphore(value: 0)
    loop.execute {
      running = TransportPingPong(loop, rounds: rounds, stopwatch: stopwatch) { done.signal() }
      running?.start(Endpoint(host: "127.0.0.1", port: port))
    }
    done.wait()
    loop.stop()
  }

  /// Keeps the one there is while its loop runs.
  nonisolated(unsafe) private static var running: TransportPingPong?

  private static func connection(_ port: UInt16, _ rounds: Int, _ stopwatch: Stopwatch) throws {
    let loop = try SocketEventLoop()
    let connection = try Connection(
      StreamTransport(TCPDialer(loop: loop)) { PlainBytes() }, policy: Policy(heartbeat: nil))
    let message = Message(bytes: [UInt8](repeating: 97, count: size))
    let done = DispatchSemaphore(value: 0)
    // The main thread waits by itself: valgrind cannot follow one that became Dispatch's.
    Task(executorPreference: loop) {
      var left = stopwatch.warmUp + rounds
      let messages = connection.messages()
      connection.connect(to: Endpoint(host: "127.0.0.1", port: port))
      connection.post(message)
      for try await _ in messages {
        left -= 1
        if left == rounds { stopwatch.start() }
        if left == 0 { break }
        connection.post(message)
      }
      stopwatch.stop()
      await connection.close()
      done.signal()
    }
    done.wait()
    loop.stop()
  }

  /// Of one round, to hundredths.
  private static func microseconds(_ duration: Duration, _ rounds: Int) -> String {
    let hundredths = Int(duration / .nanoseconds(10)) / rounds
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}
