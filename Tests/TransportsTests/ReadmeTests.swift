import ConnectionFSM
import Testing
import Transports
import WireSupport

extension RealSockets {
  @Suite("The examples of the README")
  struct Readme {
    @Test("the first one talks to a server")
    func runs() async throws {
      let rig = try SocketEventLoop()
      let server = Confined<EchoServer?>(nil)
      let port = try await rig.run {
        let echo = EchoServer(loop: rig)
        server.value = echo
        return Result { try echo.start() }
      }.get()
      try await example(endpoint: Endpoint(host: "127.0.0.1", port: port))
      await rig.run {
        server.value?.kill()
        server.value = nil
      }
      rig.stop()
    }

    #if os(Linux)
      @Test("the one over a WebSocket hears what a server says first")
      func hears() async throws {
        let rig = try SocketEventLoop()
        let server = Confined<Server<TCPStream, WebSocketServerEngine>?>(nil)
        let port = try await rig.run {
          let options = WebSocketServerOptions(
            compression: try? WebSocketCompression(),
            fault: .speech(WireFrame.text("news").bytes, atMessage: 0))
          let greeter = Server<TCPStream, WebSocketServerEngine>(
            loop: rig, engine: { WebSocketServerEngine(options) }, program: EchoProgram())
          server.value = greeter
          return Result { try greeter.start() }
        }.get()
        let message = try await first(of: "ws://127.0.0.1:\(port)/v1?topic=news")
        #expect(message == Message("news"))
        await rig.run {
          server.value?.kill()
          server.value = nil
        }
        rig.stop()
      }
    #endif

    @Test("the second one dials and waits for the connect deadline")
    func drives() throws {
      let policy = try Policy(connectDeadline: .seconds(10))
      #expect(drive(policy: policy, now: .origin) == .origin + .seconds(10))
    }
  }
}
