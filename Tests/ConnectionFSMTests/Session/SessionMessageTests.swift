import ConnectionFSM
import Testing

@Suite("Session: numbered messages and requests")
struct SessionMessageTests {
  @Test("I22, F47: a message that comes twice is delivered once, and acknowledged again")
  func twice() {
    var rig = SessionRig.open()
    #expect(rig.hear(1, "num 1") == "got num 1, 1 < ack 1")
    #expect(rig.hear(1, "num 2") == "got num 2, 1 < ack 2")
    #expect(rig.hear(1, "num 1") == "1 < ack 2")
  }

  @Test("I22: what is above a gap is delivered, and acknowledged once the gap is filled")
  func gap() {
    var rig = SessionRig.open()
    rig.hear(1, "num 1")
    #expect(rig.hear(1, "num 4") == "got num 4, 1 < ack 1")
    #expect(rig.hear(1, "num 3") == "got num 3, 1 < ack 1")
    #expect(rig.hear(1, "num 4") == "1 < ack 1")
    #expect(rig.hear(1, "num 2") == "got num 2, 1 < ack 4")
  }

  @Test("I21, I22: a gap that stays for a whole window is given up")
  func window() {
    var rig = SessionRig.open(settings: .made(window: 3))
    rig.hear(1, "num 1")
    for number in [3, 4, 6] {
      #expect(rig.hear(1, "num \(number)") == "got num \(number), 1 < ack 1")
    }
    #expect(rig.hear(1, "num 9") == "got num 9, 1 < ack 4")
    #expect(rig.hear(1, "num 2") == "1 < ack 4", "too late: it may have come before")
  }

  @Test(
    "F51: a resumed session remembers its numbers, a new one does not", arguments: [true, false])
  func memory(resumes: Bool) {
    var rig = SessionRig.open()
    rig.hear(1, "num 1")
    rig.ended(1)
    rig.start(2, resuming: true)
    rig.hear(2, resumes ? "resumed" : "accepted")
    #expect(rig.hear(2, "num 1") == (resumes ? "2 < ack 1" : "got num 1, 2 < ack 1"))
  }

  @Test("F51: links without a login are one session")
  func noLogin() {
    var rig = SessionRig.open(WordsDialect(logsIn: false))
    rig.hear(1, "num 1")
    rig.ended(1)
    rig.start(2)
    #expect(rig.hear(2, "num 1") == "2 < ack 1")
  }

  @Test("F54, I22: during a rollover each link has the numbers of its own session")
  func rollover() {
    var rig = SessionRig.open()
    rig.hear(1, "num 1")
    rig.start(2)
    rig.hear(2, "accepted t2")
    #expect(rig.hear(2, "num 1") == "got num 1, 2 < ack 1")
    #expect(rig.hear(1, "num 1") == "1 < ack 1")
    rig.opened(2)
    #expect(rig.hear(1, "num 2") == "got num 2, 1 < ack 2")
    rig.ended(1)
    #expect(rig.hear(2, "num 2") == "got num 2, 2 < ack 2")
  }

  @Test("F50: acknowledgements wait for a token too, and one stands for many")
  func paced() {
    var rig = SessionRig.open(settings: .made(rate: 1, burst: 1, confirmation: nil))
    #expect(rig.hear(1, "num 1") == "got num 1, 1 < ack 1")
    for number in 2...50 { rig.hear(1, "num \(number)") }
    #expect(rig.subscribe("a") == "")
    #expect(rig.wait(.seconds(1)) == "1 < sub a", "neither silences the other")
    #expect(rig.wait(.seconds(1)) == "1 < ack 50")
    #expect(rig.session.nextDeadline == nil)
  }

  @Test("a protocol without acknowledgements sends none")
  func silent() {
    var rig = SessionRig.open(WordsDialect(acknowledges: false))
    #expect(rig.hear(1, "num 1") == "got num 1")
  }

  @Test("F47: the peer's acknowledgement names the link it came from")
  func acknowledged() {
    var rig = SessionRig.open()
    #expect(rig.hear(1, "acked 3") == "1 acked 3")
    #expect(rig.hear(1, "hum") == "")
    #expect(rig.hear(1, "hello") == "got hello")
  }

  @Test("I22: a request is answered once; an answer nobody waits for is dropped")
  func answered() {
    var rig = SessionRig.open()
    let first = rig.request(.seconds(5))
    let second = rig.request(.seconds(5))
    #expect(first == 1 && second == 2)
    #expect(rig.hear(1, "answer 2") == "#2 answer 2")
    #expect(rig.hear(1, "answer 2") == "")
    rig.session.endRequest(1)
    #expect(rig.hear(1, "answer 1") == "")
    #expect(rig.session.nextDeadline == nil)
  }

  @Test("I19, I20: each request has its own timeout, and its late answer is dropped")
  func timeouts() {
    var rig = SessionRig.open()
    for seconds in [5, 2, 5, 9] as [Int64] { _ = rig.request(.seconds(seconds)) }
    #expect(rig.session.nextDeadline == .origin + .seconds(2))
    #expect(rig.wait(.seconds(2)) == "#2 timedOut")
    #expect(rig.wait(.seconds(3)) == "#1 timedOut, #3 timedOut")
    #expect(rig.hear(1, "answer 1") == "")
    #expect(rig.hear(1, "answer 4") == "#4 answer 4")
  }

  @Test("I11: a link that ends takes its requests along, but for those that are sent again")
  func lost() {
    var rig = SessionRig.open()
    let requests = [false, true, false, false].map { rig.request(.seconds(60), survivesLink: $0) }
    #expect(requests == [1, 2, 3, 4])
    for id in [1, 2, 3] as [UInt64] { rig.session.requestGiven(id, to: Epoch(id == 3 ? 2 : 1)) }
    #expect(rig.ended(1) == "#1 linkLost")
    #expect(rig.hear(1, "answer 2") == "")
    rig.start(2)
    rig.hear(2, "accepted")
    rig.session.requestGiven(2, to: Epoch(2))
    #expect(rig.hear(2, "answer 2") == "#2 answer 2")
    #expect(rig.ended(2) == "#3 linkLost")
    #expect(rig.wait(.seconds(60)) == "#4 timedOut", "it waits in its lane")
  }

  @Test("I21: no more requests wait than may")
  func limit() {
    var rig = SessionRig.open(settings: .made(requests: 2))
    let requests = (1...3).map { _ in rig.request(.seconds(5)) }
    #expect(requests == [1, 2, nil])
    rig.hear(1, "answer 1")
    let next = rig.request(.seconds(5))
    #expect(next == 3)
  }

  @Test("measures that cannot work are refused by name")
  func validation() throws {
    try SessionSettings.plain.validate()
    try SessionSettings.made(confirmation: nil).validate()
    let bad: [(String, SessionSettings)] = [
      ("session.topicsPerMessage", .made(batch: 0)), ("session.messagesPerSecond", .made(rate: 0)),
      ("session.messagesPerSecond", .made(rate: .max)), ("session.burst", .made(burst: 0)),
      ("session.burst", .made(burst: .max)), ("session.deduplicationWindow", .made(window: 0)),
      ("session.confirmationTimeout", .made(confirmation: .zero)),
      ("session.requestLimit", .made(requests: -1)),
    ]
    for (knob, settings) in bad {
      let error = #expect(throws: PolicyError.self) { try settings.validate() }
      #expect(error.map { "\($0.knob)" } == knob)
    }
  }
}
