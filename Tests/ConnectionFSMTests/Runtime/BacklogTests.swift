import ConnectionFSM
import Testing

/// A link over a stream that takes what the test says.
private struct LinkRig {
  let loop = ManualLoop()
  let dialer: ScriptedDialer
  let engines = PortionedEngine.Log()
  let reports = ReportLog()
  let transport: StreamTransport<ScriptedDialer, PortionedEngine>
  let epoch = Epoch(1)

  init(part: Int = 10) {
    dialer = ScriptedDialer(loop)
    let engines = engines
    transport = StreamTransport(dialer) { PortionedEngine(part: part, engines) }
    transport.open(epoch, to: home, with: nil, observer: reports)
  }

  /// One that is open, and of which nothing was said yet.
  static func open(part: Int = 10) -> LinkRig {
    let rig = LinkRig(part: part)
    rig.stream.observer?.streamOpened()
    rig.give("ok")
    _ = rig.reports.take()
    _ = rig.stream.takeWords()
    return rig
  }

  /// The newest one.
  var stream: ScriptedStream { dialer.streams[dialer.streams.count - 1] }

  func give(_ text: String) {
    let stream = stream
    stream.give(text)
    stream.observer?.streamReadable()
    loop.advance(by: .milliseconds(1))
  }

  func send(_ texts: String..., lane: UInt8 = 0, from first: UInt64 = 1) {
    for (place, text) in texts.enumerated() {
      let id = MessageID(lane: LaneID(lane), sequence: first + UInt64(place))
      transport.send(Message(text), id: id, on: epoch, more: place + 1 < texts.count)
    }
  }

  /// The stream has room, and takes writes of these sizes, then no more.
  func makeRoom(_ sizes: Int...) {
    stream.writes = sizes.map { .wrote($0) } + [.wouldBlock]
    stream.observer?.streamWritable()
  }
}

extension ScriptedStream {
  /// What was written since the last call.
  fileprivate func takeWords() -> String { String(decoding: takeBytes(), as: UTF8.self) }
}

@Suite("Stream link: a backlog")
struct BacklogTests {
  @Test("A long message is written in parts, each as the stream takes the one before")
  func parts() {
    let rig = LinkRig.open(part: 70_000)
    rig.stream.writes = [.wouldBlock]
    rig.send(String(repeating: "a", count: 150_000))
    #expect(rig.engines.longestOutput == 70_000)
    rig.makeRoom(70_000)
    #expect(rig.stream.takeWords().count == 70_000)
    rig.makeRoom(69_999)
    #expect(rig.stream.takeWords().count == 69_999)
    #expect(rig.reports.take() == [])
    // One byte of the second part, then the rest.
    rig.makeRoom(1, 10_000)
    #expect(rig.stream.takeWords().count == 10_001)
    #expect(rig.reports.take() == ["#1 written 1"])
    #expect(rig.engines.longestOutput == 70_000)
  }

  @Test("I11: each message of a backlog is written once, in order, when its last byte was taken")
  func writtenInOrder() {
    let rig = LinkRig.open()
    rig.stream.writes = [.wouldBlock]
    rig.send("first of twenty bytes", "2", "third", from: 7)
    #expect(rig.reports.take() == [])
    rig.makeRoom(20)
    #expect(rig.reports.take() == [])
    rig.makeRoom(1)
    #expect(rig.reports.take() == ["#1 written 7"])
    // One report for both.
    rig.makeRoom(6)
    #expect(rig.reports.take() == ["#1 written 9"])
    #expect(rig.stream.takeWords() == "first of twenty bytes2third")
    rig.stream.observer?.streamWritable()
    #expect(rig.reports.take() == [])
  }

  @Test("F33: of a backlog counts what was taken, message by message")
  func traffic() {
    let rig = LinkRig.open()
    rig.stream.writes = [.wouldBlock]
    let before = rig.transport.traffic
    rig.send("one of them", "2")
    rig.transport.send(Message("a beat"), id: nil, on: rig.epoch, more: false)
    rig.makeRoom(12)
    #expect(rig.transport.traffic.messagesSent - before.messagesSent == 2)
    #expect(rig.transport.traffic.payloadBytesSent - before.payloadBytesSent == 12)
    #expect(rig.transport.traffic.bytesSent - before.bytesSent == 12)
    rig.makeRoom(6)
    #expect(rig.transport.traffic.messagesSent - before.messagesSent == 3)
    #expect(rig.reports.take() == ["#1 written 2"])
  }

  @Test("I11: messages of several lanes in one backlog are reported lane by lane")
  func lanes() {
    let rig = LinkRig.open()
    rig.stream.writes = [.wouldBlock]
    rig.send("a", lane: 0, from: 1)
    rig.send("b", lane: 1, from: 1)
    rig.send("c", lane: 1, from: 2)
    rig.send("d", lane: 0, from: 2)
    rig.makeRoom(1, 3)
    #expect(rig.reports.take() == ["#1 written 1", "#1 written 2", "#1 written 2"])
    #expect(rig.stream.takeWords() == "abcd")
  }

  @Test("F23: what is urgent goes between two parts of a message")
  func urgent() {
    let rig = LinkRig.open(part: 65_536)
    rig.stream.writes = [.wouldBlock]
    rig.send(String(repeating: "a", count: 140_000))
    rig.give("?")
    rig.transport.ping(1, on: rig.epoch)
    rig.makeRoom(65_536, 65_538)
    #expect(rig.stream.takeWords().dropFirst(65_536).hasPrefix("!?aaa"))
    rig.makeRoom(8928)
    #expect(rig.reports.take() == ["#1 written 1"])
    #expect(rig.stream.takeWords() == String(repeating: "a", count: 8928))
  }

  @Test("F23: an idle link with an empty backlog answers at once")
  func urgentAlone() {
    let rig = LinkRig.open()
    rig.give("?")
    #expect(rig.stream.takeWords() == "!")
  }

  @Test("F38: the machine is held back by what waits, and goes on when that has shrunk")
  func writability() {
    let rig = LinkRig.open(part: 50_000)
    rig.stream.writes = [.wouldBlock]
    rig.send(String(repeating: "a", count: 150_000))
    #expect(rig.reports.take() == [])
    rig.send(String(repeating: "b", count: 100_000), from: 2)
    #expect(rig.reports.take() == ["#1 blocked"])
    rig.send(String(repeating: "c", count: 100_000), from: 3)
    #expect(rig.reports.take() == [])
    rig.makeRoom(200_000, 200_000)
    #expect(rig.reports.take() == ["#1 written 1"])
    rig.makeRoom(50_000)
    #expect(rig.reports.take() == ["#1 written 2"])
    rig.makeRoom(200_000, 200_000)
    #expect(rig.reports.take() == ["#1 writable", "#1 written 3"])
    #expect(rig.stream.takeWords().count == 350_000)
  }

  @Test("F38: a stream that takes nothing never makes more than a portion of a backlog be encoded")
  func bounded() {
    let rig = LinkRig.open(part: 1000)
    rig.stream.writes = [.wouldBlock]
    for number in 1...20 {
      rig.send(String(repeating: "a", count: 100_000), from: UInt64(number))
      rig.stream.writes = [.wouldBlock]
      rig.stream.observer?.streamWritable()
    }
    #expect((65_536..<66_536).contains(rig.engines.longestOutput))
    rig.stream.writes = []
    rig.stream.observer?.streamWritable()
    #expect(rig.stream.takeBytes().count == 2_000_000)
    // One that takes all is given more at once, and never above a MiB.
    #expect((500_000..<1_049_576).contains(rig.engines.longestOutput))
    #expect(rig.reports.take().last == "#1 written 20")
  }

  @Test("F38: a stream is given as much of a backlog at once as it took before it was full")
  func portions() {
    let rig = LinkRig.open(part: 1000)
    rig.stream.writes = [.wouldBlock]
    rig.send(String(repeating: "a", count: 1_000_000))
    rig.makeRoom(66_000, 134_000)
    #expect(rig.engines.longestOutput < 135_000)
    // It was full after 200,000 bytes; of the next portion it takes a tenth.
    rig.makeRoom(20_000)
    rig.makeRoom(20_000)
    #expect(rig.engines.longestOutput < 202_000)
  }
}

@Suite("Stream link: the end of a backlog")
struct BacklogEndTests {
  @Test("I11, F47: a write that fails within a backlog ends no message but those that were taken")
  func writeFails() {
    let rig = LinkRig.open()
    rig.stream.writes = [.wouldBlock]
    rig.send("one", "a second one", "three")
    rig.stream.give("last words")
    rig.stream.inbound.append(.end)
    rig.stream.writes = [.wrote(7), .failed(.system(.brokenPipe))]
    rig.stream.observer?.streamWritable()
    #expect(
      rig.reports.take() == [
        "#1 blocked", "#1 written 1", "#1 says last words", "#1 failed system(brokenPipe)",
      ])
    #expect(rig.stream.takeWords() == "onea se")
    #expect(rig.stream.isClosed)
  }

  @Test("I11: an engine that fails within a backlog says its last word, and writes no more of it")
  func engineFails() {
    let rig = LinkRig.open(part: 70_000)
    rig.stream.writes = [.wouldBlock]
    rig.send(String(repeating: "a", count: 70_000), String(repeating: "b", count: 70_000))
    rig.makeRoom(70_000, 30_000)
    #expect(rig.reports.take() == ["#1 written 1"])
    rig.stream.writes = []
    rig.stream.give("fail")
    // Room before the word, so that it can be said.
    rig.stream.observer?.streamWritable()
    #expect(rig.stream.takeBytes().count == 140_000)
    rig.stream.observer?.streamReadable()
    #expect(rig.stream.takeWords() == "E")
    #expect(
      rig.reports.take() == [
        "#1 written 2", "#1 blocked", "#1 failed protocolError",
      ])
  }

  @Test("I11: what an engine that failed had not begun is never written")
  func engineFailsWhileFull() {
    let rig = LinkRig.open()
    rig.stream.writes = [.wouldBlock]
    rig.send("one", String(repeating: "b", count: 70_000), "three")
    rig.give("fail")
    #expect(rig.reports.take() == ["#1 blocked", "#1 failed protocolError"])
    #expect(rig.stream.takeWords() == "")
    #expect(rig.stream.isClosed)
  }

  @Test("F39: a close waits for the backlog, and finishes writing behind it")
  func close() {
    let rig = LinkRig.open(part: 70_000)
    rig.stream.writes = [.wouldBlock]
    rig.send(String(repeating: "a", count: 80_000), "b")
    rig.transport.close(rig.epoch)
    #expect(!rig.stream.hasFinishedWriting)
    rig.makeRoom(70_000)
    #expect(!rig.stream.hasFinishedWriting)
    #expect(rig.reports.take() == [])
    rig.makeRoom(10_002)
    #expect(rig.stream.takeWords().hasSuffix("aab."))
    #expect(rig.stream.hasFinishedWriting)
    #expect(rig.reports.take() == ["#1 written 2"])
    rig.stream.inbound = [.end]
    rig.stream.observer?.streamReadable()
    #expect(rig.reports.take() == ["#1 blocked", "#1 closed"])
  }

  @Test("F10: an end that is near holds the machine's messages back for good")
  func ending() {
    let rig = LinkRig.open()
    rig.stream.writes = [.wouldBlock]
    rig.send("given before")
    rig.give("end")
    #expect(rig.reports.take() == ["#1 blocked"])
    rig.stream.writes = []
    rig.stream.observer?.streamWritable()
    #expect(rig.stream.takeWords() == "given before")
    // Nothing waits any more, and yet nothing is asked for.
    #expect(rig.reports.take() == ["#1 written 1"])
    rig.give("news")
    rig.give("end")
    #expect(rig.reports.take() == ["#1 says news"])
  }
}

@Suite("Stream link: a redirection")
struct RedirectionTests {
  @Test("A redirected link lets go of its stream and dials where it is asked to, as itself")
  func followed() {
    let rig = LinkRig()
    let first = rig.stream
    first.writes = [.wrote(1), .wouldBlock]
    first.observer?.streamOpened()
    first.give("go")
    first.give("ok")
    first.observer?.streamReadable()
    #expect(first.isClosed)
    #expect(rig.dialer.endpoints == [home, PortionedEngine.elsewhere])
    // The old stream is neither read nor written any more.
    #expect(first.inbound.count == 1)
    #expect(first.takeWords() == "H")
    #expect(rig.reports.take() == [])
    rig.stream.observer?.streamOpened()
    #expect(rig.stream.takeWords() == "HI")
    #expect(rig.engines.starts == 2)
    rig.give("ok")
    rig.send("a message")
    #expect(rig.reports.take() == ["#1 opened", "#1 written 1"])
    #expect(rig.stream.takeWords() == "a message")
  }

  @Test("Of a read that fills the buffer only the old stream was read")
  func fullRead() {
    let rig = LinkRig()
    let first = rig.stream
    first.observer?.streamOpened()
    first.give("go" + String(repeating: " ", count: (1 << 16) - 2))
    first.give("ok")
    first.observer?.streamReadable()
    #expect(first.isClosed && first.inbound.count == 1)
    #expect(rig.reports.take() == [])
    #expect(rig.dialer.streams.count == 2)
  }

  @Test("A write that failed on the old stream is forgotten with it")
  func failedBefore() {
    let rig = LinkRig()
    let first = rig.stream
    first.writes = [.failed(.system(.connectionReset))]
    first.give("go")
    first.observer?.streamOpened()
    #expect(first.isClosed && rig.dialer.streams.count == 2)
    rig.stream.observer?.streamOpened()
    rig.give("ok")
    rig.send("a message")
    #expect(
      rig.reports.take() == [
        "#1 blocked", "#1 writable", "#1 opened", "#1 written 1",
      ])
    #expect(rig.stream.takeWords() == "HIa message")
  }

  @Test("A dial that a redirection asked for fails the link, as the first one would")
  func dialFails() {
    let rig = LinkRig()
    rig.stream.observer?.streamOpened()
    rig.give("go")
    rig.stream.observer?.streamFailed(.system(.connectionRefused))
    #expect(rig.reports.take() == ["#1 failed system(connectionRefused)"])
    #expect(rig.dialer.streams.allSatisfy { $0.isClosed })
  }

  @Test("I18: an abort while a redirected link dials closes the stream that is dialled")
  func aborted() {
    let rig = LinkRig()
    rig.stream.observer?.streamOpened()
    rig.give("go")
    rig.transport.abort(rig.epoch)
    #expect(rig.dialer.streams.count == 2 && rig.dialer.streams.allSatisfy { $0.isClosed })
    rig.stream.observer?.streamOpened()
    #expect(rig.stream.takeWords() == "" || rig.engines.starts == 1)
    #expect(rig.reports.take() == [])
  }

  @Test("Where nobody follows a redirection it fails the link")
  func notFollowed() {
    let loop = ManualLoop()
    let reports = ReportLog()
    let stream = ScriptedStream()
    let link = StreamLink<ScriptedStream, PortionedEngine>(
      epoch: Epoch(3), engine: PortionedEngine(part: 10, PortionedEngine.Log()), loop: loop,
      buffer: .shared(on: loop), observer: reports)
    link.stream = stream
    link.streamOpened()
    stream.give("go")
    link.streamReadable()
    #expect(reports.take() == ["#3 failed unsupportedEndpoint"])
    #expect(stream.isClosed)
  }
}

@Suite("Stream link: one read buffer for all links of a loop")
struct SharedReadBufferTests {
  @Test("I12: what was read is with its engine before an answer to it reads on another link")
  func answeredByARead() {
    let loop = ManualLoop()
    let (buffer, log) = (ReadBuffer.shared(on: loop), PortionedEngine.Log())
    let (own, other) = (ReportLog(), ReportLog())
    let (stream, otherStream) = (ScriptedStream(), ScriptedStream())
    let link = StreamLink<ScriptedStream, PortionedEngine>(
      epoch: Epoch(1), engine: PortionedEngine(part: 10, log), loop: loop, buffer: buffer,
      observer: own)
    let otherLink = StreamLink<ScriptedStream, PortionedEngine>(
      epoch: Epoch(2), engine: PortionedEngine(part: 10, log), loop: loop, buffer: buffer,
      observer: other)
    link.stream = stream
    otherLink.stream = otherStream
    // A message to the other one fails, and with that its last words are read.
    otherStream.writes = [.failed(.system(.connectionReset))]
    otherStream.give("their last words")
    own.reacts = { event in
      guard case .received = event else { return }
      otherLink.send(Message("an answer"), id: nil, more: false)
    }
    stream.give("what was read")
    link.streamReadable()
    #expect(own.take() == ["#1 says what was read"])
    #expect(
      other.take() == [
        "#2 blocked", "#2 says their last words", "#2 failed system(connectionReset)",
      ])
  }
}
