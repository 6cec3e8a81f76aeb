// The examples of README.md, compiled; `BlocksTests` checks that the page shows just this.

import ConnectionFSM
import Transports

func example(endpoint: Endpoint) async throws {
  let loop = try SocketEventLoop()
  let lines = try DelimiterFraming(
    delimiter: .lf, acknowledgement: .echo, pingLine: Array("ping".utf8))
  let policy = try Policy(
    backoff: Backoff(base: .seconds(1), cap: .seconds(30)),
    heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)))
  let connection = try Connection(
    StreamTransport(TCPDialer(loop: loop)) { lines }, policy: policy)

  let watching = Task {
    for await state in connection.states() { print(state) }
  }
  defer {
    watching.cancel()
    loop.stop()
  }
  connection.connect(to: endpoint)
  let outcome = try await connection.send(Message("hello"), in: LaneID(1))
  print("hello was \(outcome)")  // acknowledged, however often the link died on the way
  await connection.close()
}
