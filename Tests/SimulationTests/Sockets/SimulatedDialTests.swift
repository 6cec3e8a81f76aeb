import ConnectionFSM
import NetSim
import Testing

@Suite("Sockets: a dial's answer")
struct SimulatedDialTests {
  /// Notes how dials went.
  private final class Caller: ByteStreamObserver {
    var heard: [String] = []
    weak var stream: SimulatedStream?

    func streamOpened() {
      heard.append("opened")
      stream?.setReading(false)
    }
    func streamFailed(_ cause: Cause) { heard.append("\(cause)") }
    func streamReadable() {}
    func streamWritable() {}
  }

  private func dial(
    _ endpoint: Endpoint?, script: [ServerAct] = [.hang], sleeping span: TimeSpan? = nil
  ) throws -> (heard: [String], sockets: Int) {
    try VirtualTime.run(limit: .seconds(100)) { loop in
      var internet = Internet(seed: 1)
      let client = internet.addHost("client")
      let server = internet.addHost("server")
      internet.listen(server, port: 443, Service(script: script))
      let world = SimulatedInternet(internet, on: loop)
      let caller = Caller()
      let stream = world.dialer(from: client).dial(
        endpoint ?? Endpoint(host: world.snapshot.addresses(of: server)[0], port: 443),
        observer: caller)
      caller.stream = stream
      if let span {
        world.inject(.suspend(client), after: .microseconds(1500))
        world.inject(.wake(client, sockets: .kept), after: span)
      }
      try await loop.clock.sleep(for: .seconds(20))
      let sockets = world.liveSockets
      stream.close()
      return (caller.heard, sockets)
    }
  }

  @Test("is a reset, if that came before the program could look, as SO_ERROR tells it")
  func resetBeforeItIsSeen() throws {
    let (heard, sockets) = try dial(nil, script: [.reset], sleeping: .seconds(10))
    #expect(heard == ["system(connectionReset)"])
    #expect(sockets == 0)
    let (prompt, _) = try dial(nil, script: [.wait(.seconds(1)), .reset])
    #expect(prompt == ["opened"])
  }

  @Test("is that the endpoint is none, as the socket transport has it")
  func unsupported() throws {
    let endpoints = [
      Endpoint(scheme: "ws", host: "10.0.0.2", port: 443), Endpoint(host: "10.0.0.2", port: 0),
      Endpoint(host: "", port: 443), Endpoint(host: "10.0.0.2\0.invalid", port: 443),
    ]
    for endpoint in endpoints {
      let (heard, _) = try dial(endpoint)
      #expect(heard == ["unsupportedEndpoint"])
    }
  }
}
