import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite struct TextAndLimitTests {
  private static let text = [UInt8]("aß€😀".utf8)

  @Test("F25: characters cut by frames and by reads at each place are one text")
  func cuts() throws {
    for place in 0...Self.text.count {
      let stream =
        WireFrame(first: 0x01, payload: Array(Self.text[..<place])).bytes
        + WireFrame(first: 0x80, payload: Array(Self.text[place...])).bytes
      for pieces in stream.cuts {
        var client = try WebSocketTrial()
        for piece in pieces { client.trial.receive(piece) }
        #expect(client.takeEvents() == [.message(Message("aß€😀"))])
      }
    }
  }

  @Test("F25: what can never become text is refused before its frame is whole")
  func failFast() throws {
    for bad in ["FF", "C0", "F5", "E080", "EDA0", "F08F", "F490", "C341"] {
      var client = try WebSocketTrial()
      client.trial.receive([UInt8](hex: "017D61") + [UInt8](hex: bad))
      #expect(client.problem == .invalidUTF8)
      #expect(client.takeUnmasked() == [.close(1007)])
    }
  }

  @Test("F25: binary messages are of any bytes, and text and binary are told apart both ways")
  func kinds() throws {
    var client = try WebSocketTrial()
    client.receive(WireFrame(first: 0x82, payload: [0xFF, 0xFE]), .text("é"))
    #expect(
      client.takeEvents() == [
        .message(Message(bytes: [0xFF, 0xFE], kind: .binary)), .message(Message("é")),
      ])
    client.trial.send(Message(bytes: [0xFF], kind: .binary))
    client.trial.send(Message("é"))
    client.trial.send(Message(bytes: [UInt8]("{}".utf8), kind: .object))
    client.trial.send(Message(bytes: [1], kind: .unknown(3)))
    #expect(client.takeSent()?.map(\.first) == [0x82, 0x81, 0x81, 0x82])
  }

  @Test("F27: a message exactly at the limit is taken, one byte more is 1009, also in fragments")
  func messageLimit() throws {
    let limits = try WebSocketLimits(maximumMessageLength: 10, maximumFrameLength: 8)
    let half = WireFrame(first: 0x02, payload: [1, 2, 3, 4, 5])
    var client = try WebSocketTrial(limits: limits)
    client.receive(half, WireFrame(first: 0x80, payload: [1, 2, 3, 4, 5]))
    #expect(client.trial.messages.map(\.bytes.count) == [10])

    client.receive(half)
    // Its header alone tells.
    client.trial.receive([0x80, 6])
    #expect(client.problem == .messageTooLong(limit: 10))
    #expect(client.takeUnmasked() == [.close(1009)])

    var other = try WebSocketTrial(limits: limits)
    other.trial.receive([0x82, 9])
    #expect(other.problem == .frameTooLong(9, limit: 8))
    #expect(other.takeUnmasked() == [.close(1009)])
  }

  @Test("F27: a message above the limit outwards is not admitted, and not a byte of it is sent")
  func outgoing() throws {
    let limits = try WebSocketLimits(maximumOutgoingLength: 10)
    let client = try WebSocketTrial(limits: limits)
    #expect(client.trial.engine.admits(Message(bytes: [UInt8](repeating: 0, count: 10))))
    #expect(!client.trial.engine.admits(Message(bytes: [UInt8](repeating: 0, count: 11))))
    #expect(throws: FramingError.messageTooLong(count: 11, limit: 10)) {
      try client.trial.engine.validate(Message(bytes: [UInt8](repeating: 0, count: 11)))
    }
  }

  @Test("F27: limits that cannot be are refused with the argument's name")
  func limits() {
    let range = 1...Int.max / 2
    #expect(
      throws: FramingError.limitOutOfRange(
        argument: "maximumMessageLength", value: 0, range: range)
    ) { try WebSocketLimits(maximumMessageLength: 0) }
    #expect(
      throws: FramingError.limitOutOfRange(
        argument: "fragmentLength", value: 124, range: 125...Int.max / 2)
    ) { try WebSocketLimits(fragmentLength: 124) }
  }
}
