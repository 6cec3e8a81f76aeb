import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite struct ControlFrameTests {
  @Test("F23: a ping inside a fragmented message is answered at once, with its own payload")
  func pingInside() throws {
    var client = try WebSocketTrial()
    client.receive(WireFrame(first: 0x02, payload: [1]), .ping([9, 8, 7]))
    #expect(client.takeUnmasked() == [.pong([9, 8, 7])])
    client.receive(WireFrame(first: 0x80, payload: [2]))
    #expect(client.takeEvents() == [.message(Message(bytes: [1, 2]))])
  }

  @Test("F23: a flood of pings fills no memory, and the last one is answered")
  func flood() throws {
    var client = try WebSocketTrial()
    let payload = [UInt8](repeating: 0, count: 125)
    for _ in 0..<10_000 { client.receive(.ping(payload)) }
    client.receive(.ping([42]))
    // A quarter of a MiB, though the stream takes nothing.
    #expect(client.trial.output.bytes.count <= 256 << 10 + 131)
    #expect(client.trial.engine.hasMore)
    client.writeOut()
    let sent = client.takeUnmasked() ?? []
    #expect(sent.allSatisfy { $0.first == 0x8A })
    #expect(sent.last == .pong([42]))
  }

  @Test("F23: an answer to a ping overtakes the messages that wait")
  func overtaking() throws {
    let limits = try WebSocketLimits(fragmentLength: 1000)
    var client = try WebSocketTrial(limits: limits)
    for _ in 0..<100 { client.trial.send(Message(bytes: [UInt8](repeating: 1, count: 1000))) }
    let given = WireFrame.read(client.trial.output.bytes)?.count ?? 0
    client.trial.output.bytes = []
    #expect((30...40).contains(given))
    #expect(client.trial.engine.backlog == 100 - given)
    client.receive(.ping([5]))
    client.writeOut()
    let sent = client.takeUnmasked() ?? []
    #expect(sent.first == .pong([5]))
    #expect(sent.count == 1 + 100 - given)
  }

  @Test("F23: the pong to our last ping is told, and one that nobody asked for is not")
  func pongs() throws {
    var client = try WebSocketTrial()
    client.receive(.pong([]), .pong([0, 0, 0, 1]))
    #expect(client.takeEvents() == [])
    client.trial.engine.ping(1, into: &client.trial.output)
    client.trial.engine.ping(0x0102_0304, into: &client.trial.output)
    #expect(client.takeUnmasked() == [.ping([0, 0, 0, 1]), .ping([1, 2, 3, 4])])
    client.receive(.pong([1, 2, 3, 5]), .pong([1, 2, 3, 4]))
    #expect(client.takeEvents() == [.pong(0x0102_0304)])
  }

  @Test(
    "F22 F23: what is against the rules is told with its code, and ends the link",
    arguments: [
      ("91", .reservedBits(0x10), 1002), ("C1", .reservedBits(0x40), 1002),
      ("A1", .reservedBits(0x20), 1002), ("C9", .reservedBits(0x40), 1002),
      ("83", .reservedOpcode(3), 1002), ("8B", .reservedOpcode(11), 1002),
      ("8F", .reservedOpcode(15), 1002), ("09", .fragmentedControl, 1002),
      ("08", .fragmentedControl, 1002), ("897E", .controlTooLong, 1002),
      ("887F", .controlTooLong, 1002), ("80", .nothingToContinue, 1002),
      ("00", .nothingToContinue, 1002), ("010161 81", .messageInsideMessage, 1002),
      ("010161 02", .messageInsideMessage, 1002), ("8180", .wrongMasking, 1002),
      ("827F8000000000000000", .lengthOverflow, 1002),
      ("827F7FFFFFFFFFFFFFFF", .frameTooLong(UInt64(Int64.max), limit: 1 << 20), 1009),
      ("827F0000000000100001", .frameTooLong(1 << 20 + 1, limit: 1 << 20), 1009),
      ("8801 03", .halfCloseCode, 1002), ("8802 0000", .invalidCloseCode(0), 1002),
      ("8802 03EC", .invalidCloseCode(1004), 1002), ("8802 03ED", .invalidCloseCode(1005), 1002),
      ("8802 03EE", .invalidCloseCode(1006), 1002), ("8802 03F7", .invalidCloseCode(1015), 1002),
      ("8802 07D0", .invalidCloseCode(2000), 1002), ("8802 1388", .invalidCloseCode(5000), 1002),
      ("8803 03E8 FF", .invalidUTF8, 1007), ("8101 FF", .invalidUTF8, 1007),
      ("8101 C3", .invalidUTF8, 1007), ("0103 EDA0", .invalidUTF8, 1007),
    ] as [(String, WebSocketFrameError.Problem, UInt16)])
  func violations(_ hex: String, _ problem: WebSocketFrameError.Problem, _ code: UInt16) throws {
    let bytes = [UInt8](hex: hex)
    // At the last byte that the example has, and not before.
    var client = try WebSocketTrial()
    client.trial.receive(bytes.dropLast())
    #expect(client.problem == nil)
    client.trial.receive(bytes.suffix(1))
    #expect(client.problem == problem)
    #expect(client.takeUnmasked() == [.close(code)])
    #expect(client.takeEvents() == [.ending])
    client.receive(.text("too late"), .ping([1]))
    #expect(client.takeSent() == [])
    client.trial.receiveEnd()
    #expect(client.takeEvents() == [.failed(.protocolError)])
  }

  @Test("F22: a server refuses frames that are not masked")
  func unmasked() throws {
    var server = try OpenServer()
    server.trial.receive(WireFrame.text("plain").bytes)
    let error = try #require(server.trial.engine.diagnosis as? WebSocketFrameError)
    #expect(error.problem == .wrongMasking)
    #expect(error.offset == 1)
  }

  @Test("I13: any bytes give messages or one typed error, and the same in any pieces")
  func randomBytes() throws {
    var random = SplitMix64(seed: 23)
    for _ in 0..<2000 {
      let count = Int(random.next(through: 60))
      var bytes = (0..<count).map { _ in UInt8(random.next(through: 255)) }
      // Often enough a frame that is none the matter with, or nearly.
      if count > 2, random.next(through: 1) == 0 {
        bytes[0] = [0x81, 0x01, 0x82, 0x89, 0x88, 0x80][Int(random.next(through: 5))]
        bytes[1] = UInt8(random.next(through: 12))
      }
      var whole = try WebSocketTrial()
      whole.trial.receive(bytes)
      whole.trial.receiveEnd()
      var cut = try WebSocketTrial()
      for piece in bytes.pieces(&random, longest: 5) { cut.trial.receive(piece) }
      cut.trial.receiveEnd()
      #expect(whole.takeEvents() == cut.takeEvents())
      #expect(whole.trial.output.bytes == cut.trial.output.bytes)
      #expect(whole.problem == cut.problem)
    }
  }
}
