import ConnectionFSM
import Testing

private let silent = Heartbeat(interval: .seconds(1000), timeout: .seconds(10))

@Suite("The application's beat")
struct BeatTests {
  private func made(_ beat: Beat, session: TimeSpan? = nil) throws -> Policy {
    try Policy.made(heartbeat: nil, beat: beat, session: session)
  }

  /// When beats went out, up to an instant, as seconds.
  private func beats(of rig: inout Rig, until end: Instant) throws -> [Int64] {
    var times: [Int64] = []
    while let due = rig.machine.nextDeadline, due <= end {
      let step = try rig.serveDeadline()
      if step.text.contains("beat") {
        times.append((rig.now - .origin).nanoseconds / 1_000_000_000)
      }
    }
    rig.advance(to: end)
    return times
  }

  @Test("F42: a beat that is immediate goes out at 0, 180 and 360 s, to the nanosecond")
  func immediate() throws {
    var rig = Rig(try made(Beat(interval: .seconds(180), isImmediate: true)))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "beat 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(180))
    #expect(try rig.serveDeadline().text == "beat 1 #2")
    #expect(rig.machine.nextDeadline == .seconds(360))
    #expect(try rig.serveDeadline().text == "beat 1 #3")
    #expect(rig.machine.nextDeadline == .seconds(540))
  }

  @Test("F42: a beat that is not immediate begins one interval after the open")
  func notImmediate() throws {
    var rig = Rig(try made(Beat(interval: .seconds(180))))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened, at: .seconds(3)).text == "")
    #expect(try beats(of: &rig, until: .seconds(600)) == [183, 363, 543])
  }

  @Test("F42: the beat counts from the session that is ready, not from the transport's open")
  func afterSession() throws {
    var rig = Rig(try made(Beat(interval: .seconds(180), isImmediate: true), session: .seconds(9)))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "session 1")
    #expect(rig.feed(.session(Epoch(1), .ready), at: .seconds(4)).text == "beat 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(184))
  }

  @Test("F42, RC182, B0.9, B3.7: after five reconnects there is still one beat an interval")
  func reconnects() throws {
    var rig = Rig.opened(try made(Beat(interval: .seconds(180), isImmediate: true)))
    for _ in 1...5 {
      rig.transport(.failed(.lost), at: rig.now + .seconds(20))
      try rig.redial()
      rig.transport(.opened)
    }
    let opened = (rig.now - .origin).nanoseconds / 1_000_000_000
    let times = try beats(of: &rig, until: rig.now + .seconds(600))
    #expect(times == [opened + 180, opened + 360, opened + 540])
  }

  @Test("I5, RC177: no beat goes out between links, nor after close")
  func onlyOpen() throws {
    var rig = Rig.opened(try made(Beat(interval: .seconds(2))))
    rig.transport(.failed(.lost), at: .seconds(1))
    #expect(rig.machine.nextDeadline == .seconds(5))
    try rig.redial()
    rig.transport(.opened)
    rig.feed(.close)
    #expect(try beats(of: &rig, until: .seconds(100)) == [])
  }

  @Test("F42: a beat served late does not shift the others")
  func late() throws {
    var rig = Rig.opened(try made(Beat(interval: .seconds(180))))
    try rig.serveDeadline(late: .seconds(50))
    #expect(rig.machine.nextDeadline == .seconds(360))
  }

  @Test("F42: an hour of sleep costs one beat, and the next comes an interval later")
  func sleep() throws {
    var rig = Rig.opened(try made(Beat(interval: .seconds(180))))
    #expect(rig.feed(.deadlineReached, at: .seconds(3780)).text == "beat 1 #1")
    #expect(rig.machine.nextDeadline == .seconds(3960))
    #expect(rig.feed(.deadlineReached).disposition == .ignored(.early))
  }

  @Test("F42: a message that was sent takes a beat's place, one that only waits does not")
  func skips() throws {
    var rig = Rig.opened(try made(Beat(interval: .seconds(180), skipsAfterTraffic: true)))
    rig.feed(.offerA(), at: .seconds(1))
    #expect(try rig.serveDeadline().text == "")
    #expect(rig.now == .seconds(180))
    #expect(try rig.serveDeadline().text == "beat 1 #1", "one beat was spared, not two")
    rig.transport(.writabilityChanged(false))
    rig.feed(.offerA(), at: .seconds(400))
    #expect(try rig.serveDeadline().text == "beat 1 #2")
    rig.transport(.writabilityChanged(true), at: .seconds(600))
    #expect(try rig.serveDeadline().text == "", "at 720 s")
  }

  @Test("F42: without that option messages spare no beat")
  func doesNotSkip() throws {
    var rig = Rig.opened(try made(Beat(interval: .seconds(180), skipsAfterTraffic: false)))
    rig.feed(.offerA(), at: .seconds(100))
    #expect(try rig.serveDeadline().text == "beat 1 #1")
  }

  @Test("F42: the backlog that left at the open spares no beat of a link that said nothing since")
  func backlog() throws {
    var rig = Rig(try made(Beat(interval: .seconds(180), skipsAfterTraffic: true)))
    rig.feed(.offerA())
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).text == "send 1 a1")
    #expect(try rig.serveDeadline().text == "", "the backlog went out in this interval")
    #expect(try rig.serveDeadline().text == "beat 1 #1")
  }
}

@Suite("An answered beat")
struct AnsweredBeatTests {
  private let beat = Beat(
    interval: .seconds(180), isImmediate: true, answerTimeout: .seconds(7))

  @Test("F42: a beat whose answer comes in time waits for nothing but the next")
  func answered() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: silent, beat: beat))
    #expect(rig.machine.nextDeadline == .seconds(7))
    rig.transport(.pong(1), at: .seconds(5))
    #expect(rig.machine.nextDeadline == .seconds(180))
    #expect(rig.machine.roundTrip == .seconds(5))
  }

  @Test("F42, B0.16, B3.13: a beat without an answer ends the link as a silent peer does")
  func unanswered() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: silent, beat: beat))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
    #expect(rig.now == .seconds(7))
    #expect(rig.phase == .backingOff)
  }

  @Test("F42: a beat needs no heartbeat to miss its answer")
  func withoutHeartbeat() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: nil, beat: beat))
    #expect(rig.machine.nextDeadline == .seconds(7))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("F42: a beat has one answer to give, however many pings may be missed")
  func misses() throws {
    let lenient = Heartbeat(interval: .seconds(1000), timeout: .seconds(10), misses: 3)
    var rig = Rig.opened(try Policy.made(heartbeat: lenient, beat: beat))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }

  @Test("F42, RC047: an answer deadline served late is asked once more, as a beat")
  func lateVerdict() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: silent, beat: beat))
    #expect(rig.feed(.deadlineReached, at: .seconds(100)).text == "beat 1 #2")
    #expect(rig.machine.nextDeadline == .seconds(107))
    rig.transport(.pong(2), at: .seconds(103))
    #expect(rig.phase == .open)
    #expect(rig.machine.nextDeadline == .seconds(180))
    #expect(rig.machine.roundTrip == nil, "asked twice, it is not known which was answered")
  }

  @Test("F42: an answer that comes late, to a beat long answered, is life and no measure")
  func lateAnswer() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: silent, beat: beat))
    rig.transport(.received(byteCount: 1), at: .seconds(2))
    rig.transport(.pong(1), at: .seconds(40))
    #expect(rig.phase == .open)
    #expect(rig.machine.roundTrip == nil)
    rig.transport(.pong(1), at: .seconds(41))
    #expect(rig.machine.roundTrip == nil)
  }

  @Test("F42: a ping that waits for its answer is not asked anew by a beat")
  func besidePing() throws {
    let heartbeat = Heartbeat(interval: .seconds(175), timeout: .seconds(10))
    let late = Beat(interval: .seconds(180), answerTimeout: .seconds(7))
    var rig = Rig.opened(try Policy.made(heartbeat: heartbeat, beat: late))
    #expect(try rig.serveDeadline().text == "ping 1 #1")
    #expect(try rig.serveDeadline().text == "beat 1 #2")
    #expect(rig.now == .seconds(180))
    #expect(rig.machine.nextDeadline == .seconds(185), "the ping's verdict stays where it is")
    rig.transport(.pong(2), at: .seconds(181))
    #expect(rig.machine.nextDeadline == .seconds(356), "any answer is life")
  }

  @Test("a beat that a new policy takes away, while its answer is awaited, leaves a plain question")
  func policyWithoutBeat() throws {
    var rig = Rig.opened(try Policy.made(heartbeat: silent, beat: beat))
    let step = try rig.adopt(Policy.made(heartbeat: silent, beat: nil), at: .seconds(1))
    #expect(step.text == "")
    #expect(rig.machine.nextDeadline == .seconds(10))
    #expect(try rig.serveDeadline(late: .seconds(60)).text == "ping 1 #2")
    #expect(rig.machine.nextDeadline == .seconds(80))
    #expect(try rig.serveDeadline().text == "abort 1, ended 1 timedOut(pong)")
  }
}
