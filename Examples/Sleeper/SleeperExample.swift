// A sensor that wakes every three seconds for a reading, sends two at a time and sleeps; the
// collector is away for a while, and gets what it has missed:
//
//   swift run sleeper-example
//
// Sensor and collector are one program here, with a real socket between them.

import ConnectionFSM
import Transports

@main
enum SleeperExample {
  static func main() async throws {
    let loop = try SocketEventLoop()
    defer { loop.stop() }
    try await withTaskExecutorPreference(loop) { try await run(on: loop) }
  }

  /// Everything of a server happens on its loop, in a function that prefers it.
  private static func run(on loop: SocketEventLoop) async throws {
    let collector = Collector { print("collector: reading \($0)") }
    let lines = try DelimiterFraming(delimiter: .lf)
    let server = Server(loop: loop, engine: { lines }, program: collector)
    let port = try server.start()
    let life = Task { try await live(sendingTo: Endpoint(host: "127.0.0.1", port: port)) }
    try await Task.sleep(for: .seconds(7))
    print("collector: goes away")
    server.kill()
    try await Task.sleep(for: .seconds(9))
    print("collector: is back")
    _ = try server.start(port: port)
    print("\(try await life.value) readings were not sent")
    server.kill()
  }

  private static func live(sendingTo collector: Endpoint) async throws -> Int {
    let clock = ContinuousClock()
    let board = Sensor.Board(window: .seconds(3), clock: clock) {
      "\(Int.random(in: 180...240)) tenths of a degree"
    } sleep: { span in
      // A device would set its timer here and stop its processor.
      print("sensor: sleeps for \(span)")
      try await clock.sleep(for: span)
    }
    let sensor = try Sensor(.stream("\(collector)", Sensor.framing()), board: board)
    return try await sensor.run(to: collector, rounds: 8, every: .seconds(3), batch: 2)
  }
}
