import ConnectionFSM
import NetSim
import Testing
import Transports

/// Dials, reads and writes over any dialer, and notes what it hears. Lives on its loop.
final class StreamCaller<Dialer: ByteStreamDialer>: ByteStreamObserver, @unchecked Sendable {
  private let dialer: Dialer
  var stream: Dialer.Stream?
  var heard: [String] = []
  var received: [UInt8] = []
  /// Reads no more than this at once.
  var piece = 4096
  var readsAtOnce = true
  var text: String { String(decoding: received, as: UTF8.self) }

  init(_ dialer: Dialer) { self.dialer = dialer }

  func dial(_ endpoint: Endpoint) { stream = dialer.dial(endpoint, observer: self) }

  func write(_ text: String) {
    var bytes = Array(text.utf8)
    while !bytes.isEmpty {
      guard case .wrote(let count) = stream?.write(bytes.span.bytes) else {
        return heard.append("a write failed")
      }
      bytes.removeFirst(count)
    }
  }

  var problem: ProxyError.Problem? { (stream?.diagnosis as? ProxyError)?.problem }

  func streamOpened() {
    heard.append("opened")
    if !readsAtOnce { stream?.setReading(false) }
  }

  func streamFailed(_ cause: Cause) { heard.append("\(cause)") }
  func streamWritable() {}

  func streamReadable() {
    guard let stream else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 1)
    defer { buffer.deallocate() }
    var bytes = buffer.mutableBytes
    switch stream.read(into: &bytes) {
    case .bytes(let count): received += buffer[..<count]
    case .wouldBlock: break
    case .end: heard.append("end")
    case .failed(let cause): heard.append("read \(cause)")
    }
  }
}

@Suite("F18: dialling through a scripted proxy in virtual time")
struct ProxySimulationTests {
  private let target = Endpoint(host: "far.example", port: 7)

  /// What a caller hears that says “hi” once the tunnel stands, of a proxy that acts like this.
  private func play(
    _ script: [ServerAct]?, kind: Proxy.Kind = .http, target: Endpoint? = nil,
    limit: TimeSpan? = nil, chunks: Chunking = .whole, piece: Int = 4096
  ) throws -> (heard: [String], text: String, problem: ProxyError.Problem?, took: TimeSpan) {
    try VirtualTime.run(limit: .seconds(400)) { loop in
      var internet = Internet(seed: 1)
      let client = internet.addHost("client", link: .constant(.milliseconds(10)))
      let host = internet.addHost("proxy")
      if let script { internet.listen(host, port: 3128, Service(script: script)) }
      internet.inject(.chunking(chunks), at: .origin)
      let world = SimulatedInternet(internet, on: loop)
      let proxy = try Proxy(
        kind, at: Endpoint(host: "proxy", port: 3128),
        credentials: ProxyCredentials(user: "ada", password: "pw"))
      let caller = StreamCaller(
        ProxyDialer(world.dialer(from: client), through: proxy, handshakeLimit: limit))
      caller.piece = piece
      caller.dial(target ?? self.target)
      #expect(caller.heard.isEmpty)
      let start = loop.now
      var took: TimeSpan?
      for _ in 0..<3000 {
        try await loop.clock.sleep(for: .milliseconds(10))
        if took == nil, let first = caller.heard.first {
          took = loop.now - start
          if first == "opened" { caller.write("hi") }
        }
      }
      let problem = caller.problem
      caller.stream?.close()
      caller.stream = nil
      try await loop.clock.sleep(for: .seconds(1))
      // A server's end that hangs does so where it was accepted.
      #expect(world.liveSockets <= (script?.last == .hang ? 1 : 0))
      return (caller.heard, caller.text, problem, took ?? .zero)
    }
  }

  private var request: Int {
    "CONNECT far.example:7 HTTP/1.1\r\nHost: far.example:7\r\n".utf8.count
      + "Proxy-Authorization: Basic YWRhOnB3\r\n\r\n".utf8.count
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test("2xx opens, what came behind the header is read first, in pieces of any size")
  func opens() throws {
    let script: [ServerAct] = [
      .receive(request), .send(bytes("HTTP/1.1 200 OK\r\n\r\nwelcome ")), .receive(2),
      .send(bytes("and hello")), .close,
    ]
    for chunks in [Chunking.whole, .single] {
      for piece in [1, 3, 4096] {
        let told = try play(script, chunks: chunks, piece: piece)
        #expect(told.heard == ["opened", "end"])
        #expect(told.text == "welcome and hello")
        #expect(told.problem == nil)
      }
    }
  }

  @Test("SOCKS5 opens alike")
  func opensSOCKS() throws {
    let ask = 3 + 1 + 1 + "far.example".utf8.count + 2
    let script: [ServerAct] = [
      .receive(4), .send([5, 2]), .receive(1 + 1 + 3 + 1 + 2), .send([1, 0]), .receive(ask),
      .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0] + bytes("welcome ")), .receive(2),
      .send(bytes("and hello")), .close,
    ]
    for chunks in [Chunking.whole, .single] {
      let told = try play(script, kind: .socks5, chunks: chunks)
      #expect(told.heard == ["opened", "end"])
      #expect(told.text == "welcome and hello")
    }
  }

  @Test("an answer that gives no tunnel is its cause, with the error behind it")
  func refusals() throws {
    let table: [([ServerAct], Proxy.Kind, String, ProxyError.Problem)] = [
      (
        [.receive(request), .send(bytes("HTTP/1.1 407 No\r\n\r\n"))], .http,
        "\(Cause.http(status: 407))", .status(407)
      ),
      ([.send(bytes("SSH-2.0\r\n"))], .http, "protocolError", .garbled(offset: 0)),
      (
        [.receive(request), .send(bytes("HTTP/1.1 200 OK\r\n")), .close], .http, "truncated",
        .truncated(offset: 17)
      ),
      ([.receive(request), .close], .http, "truncated", .truncated(offset: 0)),
      (
        [.receive(request), .reset], .http, "system(connectionReset)",
        .notReached(.system(.connectionReset))
      ),
      ([.receive(4), .send([5, 0xFF])], .socks5, "credentialsRefused", .noMethod),
      (
        [.receive(4), .send([5, 0]), .receive(18), .send([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])], .socks5,
        "system(connectionRefused)", .reply(5)
      ),
      ([.send(bytes("HTTP/1.1 400"))], .socks5, "protocolError", .notSOCKS5(offset: 0, byte: 72)),
    ]
    for (script, kind, heard, problem) in table {
      let told = try play(script, kind: kind)
      #expect(told.heard == [heard])
      #expect(told.problem == problem)
    }
  }

  @Test("F15: a proxy that is silent, or stops amid its header, is cut at the handshake's limit")
  func silence() throws {
    for script in [
      [ServerAct.hang], [.receive(request), .send(bytes("HTTP/1.1 200 OK\r\nA: ")), .hang],
    ] {
      let told = try play(script, limit: .seconds(3))
      #expect(told.heard == ["timedOut(handshake)"])
      #expect(told.problem == .tookTooLong(.seconds(3)))
      // A look-up and a connection before.
      #expect(told.took >= .milliseconds(3040) && told.took <= .milliseconds(3060))
      let patient = try play(script)
      #expect(patient.heard.isEmpty)
    }
  }

  @Test("a proxy that is not there, and a target that none can be asked for, fail in the next turn")
  func noWay() throws {
    let refused = try play(nil)
    #expect(refused.heard == ["system(connectionRefused)"])
    #expect(refused.problem == .notReached(.system(.connectionRefused)))
    for target in [
      Endpoint(host: "a b", port: 1), Endpoint(scheme: "tls", host: "a", port: 1),
      Endpoint(unixSocket: "/run/a"),
    ] {
      let told = try play([.hang], target: target)
      #expect(told.heard == ["unsupportedEndpoint"])
      #expect(told.problem == .unusableTarget)
    }
  }

  @Test("I18: closed or dropped at any moment of the handshake nothing is left, and nothing heard")
  func closedAmid() throws {
    let script: [ServerAct] = [
      .receive(request), .wait(.milliseconds(30)), .send(bytes("HTTP/1.1 200 OK\r\n\r\n")), .hang,
    ]
    for milliseconds in stride(from: Int64(0), through: 120, by: 5) {
      try VirtualTime.run(limit: .seconds(400)) { loop in
        var internet = Internet(seed: 1)
        let client = internet.addHost("client", link: .constant(.milliseconds(10)))
        let host = internet.addHost("proxy")
        internet.listen(host, port: 3128, Service(script: script))
        let world = SimulatedInternet(internet, on: loop)
        let caller = StreamCaller(
          ProxyDialer(
            world.dialer(from: client),
            through: try Proxy(.http, at: Endpoint(host: "proxy", port: 3128)),
            handshakeLimit: .seconds(9)))
        caller.dial(target)
        try await loop.clock.sleep(for: .milliseconds(milliseconds))
        let before = caller.heard
        if milliseconds % 10 == 0 { caller.stream?.close() }
        caller.stream = nil
        try await loop.clock.sleep(for: .seconds(30))
        #expect(caller.heard == before)
        // The server's end hangs where it was accepted.
        #expect(world.liveSockets <= 1)
      }
    }
  }

  @Test("what came behind the answer waits while reading is off, and is told of when it is on")
  func readingOff() throws {
    let script: [ServerAct] = [
      .receive(request), .send(bytes("HTTP/1.1 200 OK\r\n\r\nsurplus ")), .wait(.seconds(1)),
      .send(bytes("and more")), .hang,
    ]
    try VirtualTime.run(limit: .seconds(100)) { loop in
      var internet = Internet(seed: 1)
      let client = internet.addHost("client")
      let host = internet.addHost("proxy")
      internet.listen(host, port: 3128, Service(script: script))
      let world = SimulatedInternet(internet, on: loop)
      let proxy = try Proxy(
        .http, at: Endpoint(host: "proxy", port: 3128),
        credentials: ProxyCredentials(user: "ada", password: "pw"))
      let caller = StreamCaller(ProxyDialer(world.dialer(from: client), through: proxy))
      caller.piece = 3
      caller.readsAtOnce = false
      caller.dial(target)
      try await loop.clock.sleep(for: .seconds(5))
      #expect(caller.heard == ["opened"] && caller.text.isEmpty)
      caller.stream?.setReading(true)
      #expect(caller.text.isEmpty)
      try await loop.clock.sleep(for: .seconds(1))
      #expect(caller.text == "surplus and more")
      caller.stream?.close()
    }
  }

  @Test("an endpoint that needs no proxy is dialled itself")
  func direct() throws {
    try VirtualTime.run(limit: .seconds(100)) { loop in
      var internet = Internet(seed: 1)
      let client = internet.addHost("client")
      let near = internet.addHost("near.example")
      internet.listen(near, port: 7, Service(script: [.echo]))
      let world = SimulatedInternet(internet, on: loop)
      let environment = try ProxyEnvironment([
        "all_proxy": "http://nowhere:1", "no_proxy": ".example",
      ])
      let caller = StreamCaller(
        ProxyDialer(world.dialer(from: client)) { environment.proxy(for: $0) })
      caller.dial(Endpoint(host: "near.example", port: 7))
      try await loop.clock.sleep(for: .seconds(1))
      caller.write("hi")
      try await loop.clock.sleep(for: .seconds(1))
      #expect(caller.heard == ["opened"] && caller.text == "hi")
      caller.stream?.finishWriting()
      try await loop.clock.sleep(for: .seconds(1))
      #expect(caller.heard == ["opened", "end"])
      caller.stream?.close()
    }
  }
}
