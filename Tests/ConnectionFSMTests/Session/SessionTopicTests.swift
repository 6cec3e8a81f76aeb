import ConnectionFSM
import Testing

@Suite("Session: topics")
struct SessionTopicTests {
  @Test("F50: a topic is asked for by the first who wants it, and ended by the last")
  func counted() {
    var rig = SessionRig.open()
    #expect(rig.subscribe("a") == "1 < sub a")
    #expect(rig.subscribe("a") == "")
    #expect(rig.unsubscribe("a") == "")
    #expect(rig.unsubscribe("a") == "1 < unsub a")
    #expect(rig.unsubscribe("a") == "")
  }

  @Test("F50: a storm during an outage sends what is left of it")
  func outage() {
    var rig = SessionRig.open(topics: ["a"])
    rig.ended(1)
    for round in 1...100 {
      rig.subscribe("t\(round)")
      rig.unsubscribe("a")
      rig.subscribe("a")
      if round != 50 { rig.unsubscribe("t\(round)") }
    }
    rig.start(2)
    #expect(rig.hear(2, "accepted") == "2 < sub t50,a, 2 ready")
  }

  @Test("F50: what cancels out while the bucket is empty sends nothing, and takes no token")
  func cancelsOut() {
    var rig = SessionRig.open(settings: .made(rate: 1, burst: 1, confirmation: nil))
    #expect(rig.subscribe("a") == "1 < sub a")
    #expect(rig.subscribe("b") == "")
    #expect(rig.unsubscribe("a") == "")
    #expect(rig.session.nextDeadline == .origin + .seconds(1))
    rig.subscribe("a")
    rig.unsubscribe("b")
    #expect(rig.session.nextDeadline == nil)
    #expect(rig.wait(.seconds(9)) == "")
    #expect(rig.subscribe("c") == "1 < sub c")
  }

  @Test("F50: batches name as many as one message may, what ends before what begins")
  func batches() {
    var rig = SessionRig.open(settings: .made(batch: 2, rate: 1, burst: 1, confirmation: nil))
    for topic in ["a", "b", "c", "d", "e", "f"] { rig.subscribe(topic) }
    #expect(rig.wait(.seconds(1)) == "1 < sub b,c")
    rig.unsubscribe("b")
    rig.unsubscribe("a")
    rig.unsubscribe("c")
    #expect(
      rig.wait(.seconds(9)) == "1 < unsub b,a, 1 < unsub c, 1 < sub d,e, 1 < sub f")
  }

  @Test("F50: the bucket lets a burst through, then one at a time; the login needs no token")
  func paced() {
    var rig = SessionRig(
      WordsDialect(), .made(batch: 1, rate: 5, burst: 2, confirmation: nil))
    for topic in ["a", "b", "c", "d"] { rig.subscribe(topic) }
    rig.start(1)
    #expect(rig.hear(1, "accepted") == "1 < sub a, 1 < sub b")
    #expect(rig.wait(.nanoseconds(199_999_999)) == "")
    #expect(rig.wait(.nanoseconds(1)) == "1 < sub c")
    #expect(rig.start(2) == "2 < login")
    rig.ended(2)
    #expect(rig.wait(.milliseconds(200)) == "1 < sub d, 1 ready", "ready waits for the last")
    #expect(rig.session.nextDeadline == nil)
  }

  @Test("F50: a rate that does not divide a second is rounded down")
  func uneven() {
    var rig = SessionRig.open(
      settings: .made(batch: 1, rate: 3, burst: 1, confirmation: nil), topics: ["a", "b"])
    #expect(rig.wait(.nanoseconds(333_333_333)) == "")
    #expect(rig.wait(.nanoseconds(1)) == "1 < sub b, 1 ready")
  }

  @Test("F50: what is not confirmed in time is asked for again, each time after the timeout")
  func unconfirmed() {
    var rig = SessionRig.open()
    rig.subscribe("a")
    rig.now = .origin + .seconds(1)
    rig.subscribe("b")
    #expect(rig.wait(.seconds(4)) == "1 < sub a")
    #expect(rig.wait(.seconds(1)) == "1 < sub b")
    rig.hear(1, "subbed b")
    #expect(rig.wait(.seconds(4)) == "1 < sub a")
    rig.hear(1, "subbed a")
    #expect(rig.session.nextDeadline == nil)
  }

  @Test("F50: a confirmation that comes while the repetition waits for a token ends it")
  func lateConfirmation() {
    var rig = SessionRig.open(settings: .made(rate: 1, burst: 1, confirmation: .seconds(1)))
    rig.subscribe("a")
    #expect(rig.wait(.nanoseconds(999_999_999)) == "")
    rig.subscribe("b")
    #expect(rig.wait(.nanoseconds(1)) == "1 < sub b", "the new one goes first")
    #expect(rig.hear(1, "subbed a") == "")
    rig.hear(1, "subbed b")
    #expect(rig.session.nextDeadline == nil)
  }

  @Test("F49, F50: what is repeated does not put off ready")
  func repetitionsWait() {
    var rig = SessionRig(
      WordsDialect(), .made(batch: 1, rate: 1, burst: 1, confirmation: .seconds(2)))
    for topic in ["a", "b", "c", "d"] { rig.subscribe(topic) }
    rig.start(1)
    #expect(rig.hear(1, "accepted") == "1 < sub a")
    #expect(rig.wait(.seconds(3)) == "1 < sub b, 1 < sub c, 1 < sub d, 1 ready")
    #expect(rig.wait(.seconds(2)) == "1 < sub a, 1 < sub b")
  }

  @Test("F50: without confirmations what was sent counts")
  func nothingConfirmed() {
    var rig = SessionRig.open(settings: .made(confirmation: nil))
    #expect(rig.subscribe("a") == "1 < sub a")
    rig.hear(1, "unsubbed a")
    #expect(rig.session.nextDeadline == nil)
  }

  @Test("F50: a topic that the peer ends by itself is asked for again, after the timeout")
  func thrownOut() {
    var rig = SessionRig.open(topics: ["a"])
    #expect(rig.hear(1, "unsubbed a") == "")
    #expect(rig.wait(.seconds(5)) == "1 < sub a")
  }

  @Test("F50: the answers to subscribe, unsubscribe, subscribe leave the topic subscribed to")
  func answersInTurn() {
    var rig = SessionRig.open()
    rig.subscribe("a")
    rig.unsubscribe("a")
    rig.subscribe("a")
    for answer in ["subbed a", "unsubbed a", "subbed a"] { #expect(rig.hear(1, answer) == "") }
    #expect(rig.session.nextDeadline == nil)
    #expect(rig.hear(1, "pub a 1") == "a got pub a 1")
  }

  @Test("F50: a refused topic is told once and not wanted any more, however many wanted it")
  func topicRefused() {
    var rig = SessionRig.open()
    rig.subscribe("a")
    rig.subscribe("a")
    #expect(rig.hear(1, "nosuch a") == "a refused: no such topic")
    #expect(rig.hear(1, "nosuch a") == "")
    #expect(rig.session.nextDeadline == nil)
    #expect(rig.unsubscribe("a") == "", "nothing is left to end")
    #expect(rig.hear(1, "pub a 1") == "")
    rig.ended(1)
    rig.start(2)
    #expect(rig.hear(2, "accepted") == "2 ready")
    #expect(rig.subscribe("a") == "2 < sub a", "whoever asks anew is heard")
  }

  @Test("F54, F50: the standby asks for all beside the open link, and then gets the changes")
  func rollover() {
    var rig = SessionRig.open(topics: ["a"])
    #expect(rig.start(2) == "2 < login")
    #expect(rig.subscribe("b") == "1 < sub b")
    #expect(rig.hear(2, "accepted t2") == "2 < sub a,b, 2 ready")
    #expect(rig.opened(2) == "")
    #expect(rig.subscribe("c") == "2 < sub c")
    #expect(rig.unsubscribe("a") == "2 < unsub a")
    rig.ended(1)
    rig.ended(2)
    #expect(rig.start(3, resuming: true) == "3 < login t2")
  }

  @Test("F54, F51: a standby that fails costs the open link nothing, nor its session")
  func standbyFails() {
    var rig = SessionRig.open(topics: ["a"])
    rig.start(2)
    rig.hear(2, "accepted t2")
    rig.ended(2)
    #expect(rig.subscribe("b") == "1 < sub b")
    rig.hear(1, "subbed b")
    rig.ended(1)
    #expect(rig.start(3, resuming: true) == "3 < login t1")
    #expect(rig.hear(3, "resumed") == "3 resumed")
  }

  @Test("F54: nothing is repeated on the link that was replaced")
  func retired() {
    var rig = SessionRig.open()
    rig.subscribe("a")
    rig.start(2)
    rig.hear(2, "accepted")
    rig.opened(2)
    rig.hear(2, "subbed a")
    #expect(rig.session.nextDeadline == nil)
    #expect(rig.hear(1, "nosuch a") == "", "the other link has its own answer")
  }
}
