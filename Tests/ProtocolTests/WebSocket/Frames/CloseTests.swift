import ConnectionFSM
import Synchronization
import Testing
import Transports
import WireSupport

@Suite struct CloseTests {
  @Test("F24: our close is sent behind what was given, and nothing follows it")
  func ours() throws {
    let limits = try WebSocketLimits(fragmentLength: 125)
    var client = try WebSocketTrial(limits: limits)
    client.trial.send(Message(bytes: [UInt8](repeating: 1, count: 200)))
    client.trial.close()
    client.trial.send(Message("after the close"))
    #expect(client.trial.output.bytes == [])
    client.writeOut()
    client.trial.send(Message("and after it was sent"))
    let sent = client.takeUnmasked() ?? []
    #expect(sent.map(\.first) == [0x02, 0x80, 0x88])
    #expect(sent.last == .close(1000))
    #expect(client.takeEvents() == [])

    client.receive(.text("on the way"), .close(1000))
    #expect(client.takeEvents() == [.message(Message("on the way")), .ending])
    #expect(client.takeSent() == [])
    client.trial.receiveEnd()
    #expect(client.takeEvents() == [.closed(CloseCode(1000))])
  }

  @Test("F24: the peer's close is answered once with its code, and what it says after is dropped")
  func theirs() throws {
    let notices = Mutex<[String]>([])
    var client = try WebSocketTrial { notice in
      if case .closedByPeer(let code, let reason) = notice {
        notices.withLock { $0.append("\(code.rawValue) \(reason)") }
      }
    }
    client.trial.send(Message("given"))
    _ = client.takeSent()
    client.receive(.close(4403, "not yours"), .text("more"), .ping([1]), .close(1000))
    #expect(client.takeUnmasked() == [.close(4403)])
    #expect(client.takeEvents() == [.ending])
    client.trial.send(Message("waits for the next link"))
    #expect(client.takeSent() == [])
    client.trial.receiveEnd()
    #expect(client.takeEvents() == [.closed(CloseCode(4403))])
    client.trial.receiveEnd()
    client.receive(.text("late"))
    #expect(client.takeEvents() == [])
    #expect(notices.withLock { $0 } == ["4403 not yours"])
  }

  @Test("F24: a peer that does not end the stream after the close is waited for two seconds")
  func linger() throws {
    var client = try WebSocketTrial()
    client.receive(.close(1001))
    let deadline = Instant.origin + .seconds(2)
    #expect(client.trial.engine.nextDeadline == deadline)
    client.trial.engine.deadlineReached(
      at: .origin + .milliseconds(1999), into: &client.trial.output)
    #expect(client.takeEvents() == [.ending])
    client.trial.engine.deadlineReached(at: deadline, into: &client.trial.output)
    #expect(client.takeEvents() == [.closed(CloseCode(1001))])
    #expect(client.trial.engine.nextDeadline == nil)
  }

  @Test("F24: a close without a code is 1005, and is answered without one")
  func withoutCode() throws {
    var client = try WebSocketTrial()
    client.receive(WireFrame(first: 0x88, payload: []))
    #expect(client.takeUnmasked() == [WireFrame(first: 0x88, payload: [])])
    client.trial.receiveEnd()
    #expect(client.takeEvents() == [.ending, .closed(CloseCode(1005))])
  }

  @Test("F24: both sides close at once, and each close counts as the other's answer")
  func simultaneous() throws {
    var client = try WebSocketTrial()
    client.trial.close()
    #expect(client.takeUnmasked() == [.close(1000)])
    client.receive(.close(1001))
    #expect(client.takeSent() == [])
    client.trial.receiveEnd()
    #expect(client.takeEvents() == [.ending, .closed(CloseCode(1001))])
  }

  @Test("F24: an end without a close is 1006, and inside a message or a frame it is truncated")
  func withoutClose() throws {
    var client = try WebSocketTrial()
    client.trial.receiveEnd()
    #expect(client.takeEvents() == [.closed(CloseCode(1006))])

    for beginning in ["8105", "81", "010161", "8105 4865"] {
      var client = try WebSocketTrial()
      client.trial.receive([UInt8](hex: beginning))
      client.trial.receiveEnd()
      #expect(client.takeEvents() == [.failed(.truncated)])
      #expect(client.problem == .endedInside)
    }

    var closing = try WebSocketTrial()
    closing.trial.close()
    closing.trial.receiveEnd()
    #expect(closing.takeEvents() == [.closed(CloseCode(1006))])
  }

  @Test("F24: every code that may travel is taken and echoed")
  func codes() throws {
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014] as [UInt16]
      + [3000, 3999, 4000, 4999]
    {
      var client = try WebSocketTrial()
      client.receive(.close(code))
      #expect(client.takeUnmasked() == [.close(code)])
      #expect(client.problem == nil)
    }
  }

  @Test("F24: the server ends the stream once both have closed, the client waits for that")
  func whoEnds() throws {
    var server = try OpenServer()
    server.trial.receive(
      WireFrame(first: 0x88, payload: [0x03, 0xE8], key: [1, 2, 3, 4]).bytes)
    server.trial.engine.writeOn(into: &server.trial.output)
    #expect(WireFrame.read(server.trial.output.bytes) == [.close(1000)])
    #expect(server.trial.output.events == [.ending, .closed(CloseCode(1000))])
  }

  @Test("F24: what is answered to a message that came with the end still precedes the close")
  func answered() throws {
    for end in [WireFrame.close(1001), WireFrame(first: 0x83, payload: [])] {
      var client = try WebSocketTrial()
      client.trial.receive(WireFrame.text("question").bytes + end.bytes)
      #expect(client.takeEvents() == [.message(Message("question")), .ending])
      client.trial.send(Message("answer"))
      let sent = client.takeUnmasked() ?? []
      #expect(sent.map(\.first) == [0x81, 0x88])
      client.trial.send(Message("too late"))
      #expect(client.takeSent() == [])
    }
  }

  @Test("I11 F24: what waits is gone with the peer's close, before ours is written")
  func backlog() throws {
    let limits = try WebSocketLimits(fragmentLength: 125)
    var client = try WebSocketTrial(limits: limits)
    for _ in 0..<3 { client.trial.send(Message(bytes: [UInt8](repeating: 1, count: 200))) }
    client.trial.engine.writeOn(into: &client.trial.output)
    #expect(client.trial.engine.backlog == 3)
    client.trial.output.bytes = []
    client.receive(.close(1001))
    #expect(client.trial.engine.backlog == 0)
    // It would seem to go on with the one that was begun.
    client.trial.send(Message("answer"))
    #expect(client.takeUnmasked() == [.close(1001)])
  }

  @Test("I11 F24: behind an answer that is too long to be sent no other is")
  func gap() throws {
    let limits = try WebSocketLimits(fragmentLength: 125)
    var client = try WebSocketTrial(limits: limits)
    client.receive(.close(1001))
    client.trial.send(Message("first"))
    client.trial.send(Message(bytes: [UInt8](repeating: 1, count: 200)))
    client.trial.send(Message("third"))
    #expect(client.trial.engine.backlog == 0)
    #expect(client.takeUnmasked() == [.text("first"), .close(1001)])
  }

  @Test("A close before the handshake is done ends the link without a word")
  func early() throws {
    var trial = EngineTrial(WebSocketEngine(try WebSocketOptions(WebSocketURL("ws://a/"))))
    trial.start()
    trial.output.bytes = []
    trial.close()
    #expect(trial.output.bytes == [])
    #expect(trial.output.events == [.closed(nil)])
  }
}
