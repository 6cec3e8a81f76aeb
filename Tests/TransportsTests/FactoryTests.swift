import ConnectionFSM
import Testing
import Transports

@Suite("Transports from addresses")
struct FactoryTests {
  private let policy: Policy

  init() throws {
    policy = try Policy(
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(4), jitter: .none),
      heartbeat: nil)
  }

  @Test("F01, F20: a WebSocket address is all that a connection needs")
  func webSocket() async throws {
    let loop = try SocketEventLoop()
    let server = Confined<Server<TCPStream, WebSocketServerEngine>?>(nil)
    let port = try await loop.run { () -> Result<UInt16, ListenError> in
      let options = WebSocketServerOptions()
      let made = Server<TCPStream, WebSocketServerEngine>(
        loop: loop, engine: { WebSocketServerEngine(options) }, program: EchoProgram())
      server.value = made
      do throws(ListenError) { return .success(try made.start()) } catch { return .failure(error) }
    }.get()
    let connection = try Connection(
      .webSocket("ws://127.0.0.1:\(port)/feed"), policy: policy)
    var arrivals = connection.messages().makeAsyncIterator()
    connection.connect()
    try await connection.send(Message("hello"))
    #expect(try await arrivals.next()?.text == "hello")
    await connection.close()
    await loop.run {
      server.value?.kill()
      server.value = nil
    }
    loop.stop()
  }

  @Test("F35: a stream address and a framing, too")
  func stream() async throws {
    let loop = try SocketEventLoop()
    let lines = try DelimiterFraming(delimiter: .lf)
    let server = Confined<Server<TCPStream, DelimiterFraming>?>(nil)
    let port = try await loop.run { () -> Result<UInt16, ListenError> in
      let made = Server<TCPStream, DelimiterFraming>(
        loop: loop, engine: { lines }, program: EchoProgram())
      server.value = made
      do throws(ListenError) { return .success(try made.start()) } catch { return .failure(error) }
    }.get()
    let connection = try Connection(
      .stream("tcp://127.0.0.1:\(port)", lines, on: loop), policy: policy)
    var arrivals = connection.messages().makeAsyncIterator()
    connection.connect()
    try await connection.send(Message("hello"))
    #expect(try await arrivals.next()?.text == "hello")
    await connection.close()
    await loop.run {
      server.value?.kill()
      server.value = nil
    }
    loop.stop()
  }

  @Test("I16: an address that is none is refused, with what is wrong")
  func refused() {
    #expect(throws: WebSocketURLError.self) {
      _ = try Connection(.webSocket("http://example.com"), policy: policy)
    }
    #expect(throws: EndpointError.self) {
      _ = try Connection(.stream("tcp://", DelimiterFraming(delimiter: .lf)), policy: policy)
    }
  }

  @Test("F55: the shared loop is one, and nobody stops it for the others")
  func sharedLoop() async throws {
    let loop = try SocketEventLoop.shared()
    loop.stop()
    #expect(try SocketEventLoop.shared() === loop)
    await withCheckedContinuation { continuation in
      let isRunning = loop.execute { continuation.resume() }
      #expect(isRunning)
    }
  }
}
