import ConnectionFSM
import NetSim
import Testing
import Transports

/// Something that a server says and may not, and what the client tells it.
struct Offence: Sendable, CustomTestStringConvertible {
  let promise: String
  let bytes: [UInt8]
  let code: UInt16
  var isCompressed = false
  let problem: WebSocketFrameError.Problem

  init(
    _ promise: String, _ bytes: [UInt8], _ problem: WebSocketFrameError.Problem,
    _ code: UInt16 = 1002, isCompressed: Bool = false
  ) {
    self.promise = promise
    self.bytes = bytes
    self.problem = problem
    self.code = code
    self.isCompressed = isCompressed
  }

  var testDescription: String { "\(promise) \(problem)" }

  static let limit = 100_000

  static let all: [Offence] = [
    Offence("F22", ServerBytes.masked, .wrongMasking),
    Offence("F22", ServerBytes.reservedBits, .reservedBits(0x30)),
    Offence("F22", ServerBytes.reservedOpcode, .reservedOpcode(3)),
    Offence("F22", ServerBytes.orphan, .nothingToContinue),
    Offence("F22", ServerBytes.interleaved, .messageInsideMessage),
    Offence("F22", ServerBytes.header(declaring: 1 << 63), .lengthOverflow),
    Offence("F23", ServerBytes.fragmentedPing, .fragmentedControl),
    Offence("F23", ServerBytes.longPing, .controlTooLong),
    Offence("F24", ServerBytes.halfCode, .halfCloseCode),
    Offence("F24", ServerBytes.close(999), .invalidCloseCode(999)),
    Offence("F24", ServerBytes.close(1005), .invalidCloseCode(1005)),
    Offence("F24", ServerBytes.close(1006), .invalidCloseCode(1006)),
    Offence("F24", ServerBytes.close(1015), .invalidCloseCode(1015)),
    Offence("F24", ServerBytes.close(2999), .invalidCloseCode(2999)),
    Offence("F24", ServerBytes.close(5000), .invalidCloseCode(5000)),
    Offence("F25", ServerBytes.invalidText, .invalidUTF8, 1007),
    Offence("F25", ServerBytes.cutText, .invalidUTF8, 1007),
    Offence("F26", ServerBytes.frame(0xC9, []), .reservedBits(0x40), isCompressed: true),
    Offence("F26", ServerBytes.frame(0xC1, [0x01]), .reservedBits(0x40)),
    Offence(
      "F26", ServerBytes.bomb(megabytes: 4), .messageTooLong(limit: limit), 1009,
      isCompressed: true),
    Offence(
      "F27", ServerBytes.header(declaring: UInt64(Int64.max)),
      .frameTooLong(UInt64(Int64.max), limit: limit), 1009),
    Offence(
      "F27",
      ServerBytes.frame(0x02, [UInt8](repeating: 1, count: 60_000))
        + ServerBytes.frame(0x80, [UInt8](repeating: 2, count: 60_000)),
      .messageTooLong(limit: limit), 1009),
  ]
}

@Suite("WebSocket: peers that break the rules, and some that stretch them")
struct WebSocketFaultTests {
  @Test(
    "F22–F27: what may not be is answered with its code, tried once more, and then given up",
    arguments: Offence.all)
  func offence(_ offence: Offence) throws {
    for chunking in [Chunking.whole, .atMost(1000)] {
      try WebSocketWorld.run(chunking: chunking) { world in
        let compression = offence.isCompressed ? try WebSocketCompression() : nil
        let server = world.serve(
          compression: compression, fault: .speech(offence.bytes, atMessage: 0))
        try world.connect(
          limits: WebSocketLimits(maximumMessageLength: Offence.limit), compression: compression)
        try await world.sleep(.seconds(30))
        #expect(world.ends == [.protocolError, .protocolError])
        #expect(world.problems == [offence.problem, offence.problem])
        #expect(world.closes == ["client \(offence.code)", "client \(offence.code)"])
        #expect(world.messages == [] && world.phase == .closed)
        #expect(world.internet.liveSockets == 0 && server.connectionCount == 0)
      }
    }
  }

  @Test("F22 F23: a client that breaks the rules is told so, and let go of")
  func badClient() throws {
    let bytes: [[UInt8]] = [
      ServerBytes.frame(0x81, "unmasked".utf8), WireFrame(0x83, []).masked,
      WireFrame(0xC1, [1]).masked, WireFrame(0x80, []).masked, WireFrame(0x09, []).masked,
    ]
    for bytes in bytes {
      try WebSocketWorld.run { world in
        var heard = 0
        let server = world.serve { _, _ in heard += 1 }
        var engine = WebSocketEngine(try WebSocketOptions(WebSocketURL("ws://server/")))
        var output = EngineOutput()
        engine.start(at: .origin, into: &output)
        let client = RawPeer()
        client.dial(
          world.internet.dialer(from: world.client), Endpoint(host: "server", port: 80))
        client.write(output.bytes + bytes)
        try await world.sleep(.seconds(5))
        #expect(client.received.suffix(4) == WireFrame.close(1002).bytes[...])
        #expect(client.hasHeardEnd && heard == 0 && server.connectionCount == 0)
        client.close()
      }
    }
  }

  @Test("F25: a character that is cut between fragments, and between bytes, is one")
  func splitScalar() throws {
    for chunking in [Chunking.whole, .single] {
      try WebSocketWorld.run(chunking: chunking) { world in
        let server = world.serve(fault: .speech(ServerBytes.splitScalar, atMessage: 0))
        try world.connect()
        try await world.sleep(.seconds(5))
        #expect(world.messages == [Message("😀")] && world.ends == [])
        withExtendedLifetime(server) {}
      }
    }
  }

  // MARK: Pings

  @Test("F23: a ping inside a message is answered before the message goes on")
  func pingInside() throws {
    try WebSocketWorld.run { world in
      let server = RawServer(world.internet, host: world.server, port: WebSocketWorld.port) {
        peer, head in
        let beginning = WireFrame(0x01, "He".utf8).bytes + WireFrame(0x89, "mid".utf8).bytes
        peer.write(head + beginning)
        peer.hears = { [unowned peer] in
          // The pong is there: now the rest.
          peer.hears = {}
          peer.write(WireFrame(0x80, "llo".utf8).bytes)
        }
      }
      try world.connect()
      try await world.sleep(.seconds(5))
      #expect(server.frames(of: 0) == [WireFrame(0x8A, "mid".utf8)])
      #expect(world.messages == [Message("Hello")])
      server.peers[0].close()
    }
  }

  @Test("F23: a flood of pings that nobody reads the answers to takes no memory, and holds no one")
  func pingFlood() throws {
    let (pings, pongs, message) = try WebSocketWorld.run { world in
      let count = 10_000
      let server = RawServer(world.internet, host: world.server, port: WebSocketWorld.port) {
        peer, head in
        peer.write(head)
        peer.setReading(false)
        let filler = [UInt8](repeating: 0x2E, count: 121)
        for number in 1...count {
          let digits = [UInt8(number >> 8), UInt8(number & 0xFF)]
          peer.write(WireFrame(0x89, filler + digits).bytes)
        }
      }
      let connection = try world.connect()
      try await world.sleep(.seconds(10))
      connection.post(Message("still here"))
      server.peers[0].setReading(true)
      try await world.sleep(.seconds(10))
      let frames = server.frames(of: 0) ?? []
      #expect(world.phase == .open)
      server.peers[0].close()
      let last = frames.last { $0.first == 0x8A }?.payload.suffix(2)
      #expect(last == [UInt8(count >> 8), UInt8(count & 0xFF)])
      return (count, frames.filter { $0.first == 0x8A }.count, frames.filter { $0.first == 0x81 })
    }
    #expect(message == [WireFrame(0x81, "still here".utf8)])
    // What the buffers of both systems hold, and 256 KiB.
    let bound = (256 << 10) + OperatingSystem.linux.sendBuffer + OperatingSystem.linux.receiveBuffer
    #expect(pongs < pings && pongs <= bound / 129 + 2)
  }

  // MARK: The close

  @Test("F24: a peer that is silent at the close is waited for, and then let go of")
  func silentAtClose() throws {
    for fault in [WebSocketFault.silentAtClose, .openAfterClose] {
      try WebSocketWorld.run { world in
        let server = world.serve(fault: fault)
        let connection = try world.connect()
        try await world.sleep(.seconds(1))
        let start = world.loop.now
        await connection.close()
        let took = world.loop.now - start
        // The policy's deadline; or two seconds, behind the peer's close that came after 20 ms.
        let expected: TimeSpan = fault == .silentAtClose ? .seconds(5) : .milliseconds(2020)
        #expect(took == expected)
        try await world.sleep(.seconds(1))
        #expect(world.phase == .closed && world.internet.liveSockets == 0)
        withExtendedLifetime(server) {}
      }
    }
  }

  @Test("F24: two closes that cross answer each other")
  func simultaneous() throws {
    try WebSocketWorld.run(latency: .milliseconds(100)) { world in
      let server = world.serve()
      let connection = try world.connect()
      try await world.sleep(.seconds(2))
      let start = world.loop.now
      server.close(1)
      await connection.close()
      #expect(world.loop.now - start == .milliseconds(200))
      #expect(world.closes == ["server 1000", "client 1000"])
      #expect(world.phase == .closed && world.dials == 1)
    }
  }

  @Test("F24: what a peer says behind its close is not heard")
  func dataAfterClose() throws {
    try WebSocketWorld.run { world in
      let server = world.serve(fault: .talkAfterClose)
      let connection = try world.connect()
      try await world.sleep(.seconds(1))
      await connection.close()
      #expect(world.messages == [] && world.closes == ["client 1000", "server 1000"])
      withExtendedLifetime(server) {}
    }
    try WebSocketWorld.run { world in
      let late = ServerBytes.close(4000) + ServerBytes.frame(0x81, "too late".utf8)
      let server = world.serve(fault: .speech(late, atMessage: 0))
      try world.connect()
      try await world.sleep(.seconds(1))
      #expect(world.messages == [] && world.ends == [.closedByPeer(CloseCode(4000))])
      withExtendedLifetime(server) {}
    }
  }

  @Test("I11, F24: a close that meets a backlog leaves no message as written that did not go whole")
  func closeMeetsBacklog() throws {
    let limits = try WebSocketLimits(fragmentLength: 1000)
    try WebSocketWorld.run(buffer: 5000) { world in
      let server = RawServer(world.internet, host: world.server, port: WebSocketWorld.port) {
        peer, head in
        peer.write(head)
        peer.setReading(false)
      }
      let connection = try world.connect(limits: limits)
      try await world.sleep(.seconds(1))
      let sends = (1...4).map { number in
        world.loop.task("message \(number)") {
          try? await connection.send(
            Message(bytes: [UInt8](repeating: UInt8(number), count: 100_000)))
        }
      }
      try await world.sleep(.seconds(1))
      server.peers[0].write(WireFrame.close(4000).bytes)
      try await world.sleep(.seconds(1))
      server.peers[0].setReading(true)
      try await world.sleep(.milliseconds(900))
      let frames = server.frames(of: 0) ?? []
      #expect(frames.last == .close(4000))
      let whole = frames.filter { $0.first == 0x80 }.count
      server.peers[0].close()
      try await world.sleep(.seconds(1))
      await connection.close()
      var written = 0
      for send in sends where await send.value == .written { written += 1 }
      #expect(whole < 4 && written <= whole)
    }
  }

  // MARK: Redirections

  @Test("F20: a redirection is followed on the same link")
  func redirected() throws {
    let host = "elsewhere"
    try WebSocketWorld.run { world in
      let elsewhere = world.internet.change { $0.addHost(host) }
      let answer = try WebSocketServerOptions.answer(
        307, [HTTPField("Location", "ws://\(host):8080/there")])
      let options = WebSocketServerOptions(decide: { _ in .answer(answer) })
      let pointer = SimulatedServer(
        world.internet, host: world.server, port: WebSocketWorld.port,
        engine: { WebSocketServerEngine(options) }, respond: { _, _ in })
      let there = WebSocketServerOptions(decide: { request in
        request.resource == "/there" ? .accept(subprotocol: nil) : .answer([])
      })
      let server = SimulatedServer(
        world.internet, host: elsewhere, port: 8080, engine: { WebSocketServerEngine(there) },
        respond: { $1.send($0) })
      let connection = try world.connect(redirectLimit: 1)
      try await world.sleep(.seconds(1))
      #expect(world.phase == .open && world.dials == 1 && world.ends == [])
      #expect(pointer.acceptedCount == 1 && pointer.connectionCount == 0)
      connection.post(Message("hello"))
      try await world.sleep(.seconds(1))
      #expect(world.messages == [Message("hello")] && server.acceptedCount == 1)
      await connection.close()
      try await world.sleep(.seconds(1))
      #expect(world.internet.liveSockets == 0)
    }
  }
}
