import ConnectionFSM
import Testing

@Suite("Session: numbers of topics")
struct SessionNumberTests {
  private func open(recovers: Bool = true, settings: SessionSettings = .plain) -> SessionRig {
    var rig = SessionRig.open(
      WordsDialect(recovers: recovers), settings: settings, topics: ["a"])
    rig.hear(1, "pub a 7")
    return rig
  }

  @Test("F51: the first number begins the row, the next is delivered, one that comes twice is not")
  func row() {
    var rig = open()
    #expect(rig.hear(1, "pub a 8") == "a got pub a 8")
    #expect(rig.hear(1, "pub a 8") == "")
    #expect(rig.hear(1, "pub a 3") == "")
    #expect(rig.hear(1, "pub a 9") == "a got pub a 9")
    #expect(rig.hear(1, "pub b 1") == "", "nobody wants b")
  }

  @Test("F51: a gap is asked for once, what follows is dropped until it comes again")
  func gap() {
    var rig = open()
    #expect(rig.hear(1, "pub a 9") == "1 < recover a 7")
    #expect(rig.hear(1, "pub a 10") == "")
    for number in 8...11 {
      #expect(rig.hear(1, "pub a \(number)") == "a got pub a \(number)")
    }
    #expect(rig.session.nextDeadline == nil)
    #expect(rig.hear(1, "pub a 13") == "1 < recover a 11")
  }

  @Test("F51: a snapshot ends the gap, whatever its number")
  func snapshot() {
    var rig = open()
    rig.hear(1, "pub a 9")
    #expect(rig.hear(1, "snap a 20") == "a got snap a 20")
    #expect(rig.session.nextDeadline == nil)
    #expect(rig.hear(1, "pub a 21") == "a got pub a 21")
    #expect(rig.hear(1, "snap a 4") == "a got snap a 4", "the peer counts anew")
    #expect(rig.hear(1, "pub a 5") == "a got pub a 5")
  }

  @Test("F51: a recovery that brings nothing in time has the topic ended and begun anew")
  func recoveryFails() {
    var rig = open()
    rig.hear(1, "pub a 9")
    rig.now = .origin + .seconds(4)
    #expect(rig.hear(1, "pub a 8") == "a got pub a 8", "it brings something")
    rig.hear(1, "pub a 10")
    #expect(rig.wait(.nanoseconds(4_999_999_999)) == "")
    #expect(rig.wait(.nanoseconds(1)) == "1 < unsub a, 1 < sub a")
    #expect(rig.hear(1, "pub a 30") == "a got pub a 30", "the next begins the row")
  }

  @Test("F51: without confirmations a recovery is given up after 5 s all the same")
  func recoveryWithoutConfirmations() {
    var rig = open(settings: .made(confirmation: nil))
    rig.hear(1, "pub a 9")
    #expect(rig.wait(.nanoseconds(4_999_999_999)) == "")
    #expect(rig.wait(.nanoseconds(1)) == "1 < unsub a, 1 < sub a")
  }

  @Test("F51: where nothing can be recovered a gap has the topic begun anew, once")
  func renewed() {
    var rig = open(recovers: false, settings: .made(rate: 1, burst: 1))
    #expect(rig.hear(1, "pub a 9") == "")
    #expect(rig.hear(1, "pub a 10") == "")
    #expect(rig.wait(.seconds(1)) == "1 < unsub a")
    #expect(rig.wait(.seconds(1)) == "1 < sub a")
    #expect(rig.hear(1, "pub a 12") == "a got pub a 12")
  }

  @Test("F51: what can be recovered outlives the link: the next one shows what was missed")
  func outlives() {
    var rig = open()
    rig.ended(1)
    rig.start(2)
    rig.hear(2, "accepted")
    rig.opened(2)
    #expect(rig.hear(2, "pub a 10") == "2 < recover a 7")
    for number in 8...10 { #expect(rig.hear(2, "pub a \(number)") == "a got pub a \(number)") }
  }

  @Test("F51: a recovery dies with its link, and the next gap is asked for anew")
  func recoveryLost() {
    var rig = open()
    rig.hear(1, "pub a 9")
    rig.ended(1)
    rig.start(2)
    rig.hear(2, "accepted")
    rig.opened(2)
    rig.hear(2, "subbed a")
    #expect(rig.session.nextDeadline == nil)
    #expect(rig.hear(2, "pub a 9") == "2 < recover a 7")
  }

  @Test(
    "F51: what cannot be recovered begins a new row with a new subscription", arguments: [2, 40])
  func newRow(number: Int) {
    var rig = open(recovers: false)
    rig.ended(1)
    rig.start(2)
    rig.hear(2, "accepted")
    rig.opened(2)
    #expect(rig.hear(2, "pub a \(number)") == "a got pub a \(number)")
    #expect(rig.hear(2, "pub a \(number)") == "")
    #expect(rig.hear(2, "pub a \(number + 1)") == "a got pub a \(number + 1)")
  }

  @Test("F51: a topic that was not wanted for a while begins a new row")
  func wantedAgain() {
    var rig = open()
    rig.unsubscribe("a")
    rig.hear(1, "pub a 8")
    rig.subscribe("a")
    #expect(rig.hear(1, "pub a 30") == "a got pub a 30")
  }

  @Test(
    "F54, I22: during a rollover both links bring the same numbers, each is delivered once",
    arguments: [true, false])
  func rollover(recovers: Bool) {
    var rig = open(recovers: recovers)
    rig.start(2)
    rig.hear(2, "accepted")
    #expect(rig.hear(2, "pub a 7") == "", "the standby lags behind")
    #expect(rig.hear(2, "pub a 8") == "a got pub a 8")
    #expect(rig.hear(1, "pub a 8") == "")
    rig.opened(2)
    #expect(rig.hear(1, "pub a 9") == "a got pub a 9")
    #expect(rig.hear(2, "pub a 9") == "")
    rig.ended(1)
    #expect(rig.hear(2, "pub a 10") == "a got pub a 10")
  }

  @Test("F54: where nothing can be recovered, what the standby skips the old link still brings")
  func oldLinkLags() {
    var rig = open(recovers: false)
    rig.start(2)
    rig.hear(2, "accepted")
    rig.opened(2)
    rig.hear(2, "subbed a")
    #expect(rig.hear(2, "pub a 9") == "")
    #expect(rig.hear(1, "pub a 8") == "a got pub a 8")
    #expect(rig.hear(1, "pub a 9") == "a got pub a 9")
    #expect(rig.hear(2, "pub a 11") == "")
    rig.ended(1)
    #expect(rig.hear(2, "pub a 12") == "2 < unsub a, 2 < sub a", "it can bring it no more")
  }

  @Test("F54, I22: a snapshot of a link that lags behind does not take the consumer back")
  func laggingSnapshot() {
    var rig = open()
    rig.start(2)
    rig.hear(2, "accepted")
    #expect(rig.hear(2, "snap a 5") == "")
    #expect(rig.hear(2, "snap a 12") == "a got snap a 12")
    #expect(rig.hear(1, "pub a 9") == "")
  }

  @Test("F54, I22: messages without a number count from the open link alone")
  func unnumbered() {
    var rig = open()
    #expect(rig.hear(1, "pub a") == "a got pub a")
    rig.start(2)
    rig.hear(2, "accepted")
    #expect(rig.hear(2, "pub a") == "")
    rig.opened(2)
    #expect(rig.hear(1, "pub a") == "")
    #expect(rig.hear(2, "pub a") == "a got pub a")
  }

  @Test("F51: the highest number there is has no next, and traps nothing")
  func highest() {
    var rig = open()
    let most = UInt64.max
    #expect(rig.hear(1, "snap a \(most)") == "a got snap a \(most)")
    #expect(rig.hear(1, "pub a \(most)") == "")
    #expect(rig.hear(1, "pub a 0") == "")
  }
}
