import ConnectionFSM
import Testing

@Suite("Session: login to ready")
struct SessionLinkTests {
  @Test("I14, F49, B0.17, B2.6: login, then what is wanted, then ready, and nothing before")
  func order() {
    var rig = SessionRig()
    #expect(rig.subscribe("a") == "")
    #expect(rig.subscribe("b") == "")
    #expect(rig.start(1, with: Credentials("secret")) == "1 < login secret")
    #expect(rig.subscribe("c") == "", "nothing precedes the answer to the login")
    #expect(rig.hear(1, "accepted t1") == "1 < sub a,b,c, 1 ready")
    #expect(rig.opened(1) == "")
  }

  @Test("F49: without a login the link is ready at once, behind what is wanted")
  func noLogin() {
    var rig = SessionRig(WordsDialect(logsIn: false))
    rig.subscribe("a")
    #expect(rig.start(1) == "1 < sub a, 1 ready")
  }

  @Test("F49: where nothing is wanted the answer to the login is enough")
  func nothingWanted() {
    var rig = SessionRig()
    rig.start(1)
    #expect(rig.hear(1, "accepted") == "1 ready")
    #expect(rig.hear(1, "accepted") == "", "it is accepted once")
  }

  @Test("F49: a refusal is reported, and nothing is said on that link any more")
  func refused() {
    var rig = SessionRig()
    rig.subscribe("a")
    rig.start(1)
    #expect(rig.hear(1, "refused") == "1 refused denied")
    #expect(rig.hear(1, "accepted") == "")
    #expect(rig.subscribe("b") == "")
    #expect(rig.session.nextDeadline == nil)
  }

  @Test("F51: a resumed session asks for what has changed alone")
  func resumes() {
    var rig = SessionRig.open(topics: ["a", "b", "c"])
    rig.ended(1)
    rig.unsubscribe("b")
    rig.subscribe("d")
    #expect(rig.start(2, resuming: true) == "2 < login t1")
    #expect(rig.hear(2, "resumed") == "2 < unsub b, 2 < sub d, 2 resumed")
  }

  @Test("F51: what was not confirmed is asked for again, and ended where it is not wanted")
  func resumesUncertain() {
    var rig = SessionRig.open(topics: ["a", "b"])
    #expect(rig.subscribe("c") == "1 < sub c")
    #expect(rig.subscribe("d") == "1 < sub d")
    #expect(rig.unsubscribe("a") == "1 < unsub a")
    rig.ended(1)
    rig.unsubscribe("d")
    rig.start(2, resuming: true)
    #expect(rig.hear(2, "resumed t2") == "2 < unsub d,a, 2 < sub c, 2 resumed")
    rig.opened(2)
    rig.ended(2)
    #expect(rig.start(3, resuming: true) == "3 < login t2")
  }

  @Test("F51: where nothing is confirmed, nothing is certain after the link that it was sent on")
  func resumesWithoutConfirmations() {
    var rig = SessionRig.open(settings: .made(confirmation: nil), topics: ["a", "b"])
    rig.ended(1)
    rig.unsubscribe("b")
    rig.start(2, resuming: true)
    #expect(rig.hear(2, "resumed") == "2 < unsub b, 2 < sub a, 2 resumed")
  }

  @Test("RC005, RC171, F51: a refused resume begins anew on the same link, with all that is wanted")
  func resumeRefused() {
    var rig = SessionRig.open(topics: ["a", "b"])
    rig.ended(1)
    rig.start(2, resuming: true)
    #expect(rig.hear(2, "expired") == "2 resume refused")
    #expect(rig.start(2) == "2 < login")
    #expect(rig.hear(2, "accepted t2") == "2 < sub a,b, 2 ready")
  }

  @Test("F51: a peer that begins anew instead of resuming is told all")
  func acceptedInstead() {
    var rig = SessionRig.open(topics: ["a"])
    rig.ended(1)
    rig.start(2, resuming: true)
    #expect(rig.hear(2, "accepted t2") == "2 < sub a, 2 ready")
  }

  @Test("F51: a peer that resumes what nobody asked for is told all")
  func resumedInstead() {
    var rig = SessionRig.open(topics: ["a"])
    rig.ended(1)
    rig.start(2)
    #expect(rig.hear(2, "resumed t2") == "2 < sub a, 2 ready")
  }

  @Test("F51: a link that resumed and never opened has changed what the peer gives us")
  func resumedAndLost() {
    var rig = SessionRig.open(topics: ["a"])
    rig.ended(1)
    rig.unsubscribe("a")
    rig.start(2, resuming: true)
    #expect(rig.hear(2, "resumed t2") == "2 < unsub a, 2 resumed")
    rig.ended(2)
    rig.subscribe("a")
    #expect(rig.start(3, resuming: true) == "3 < login t2")
    #expect(rig.hear(3, "resumed") == "3 < sub a, 3 resumed")
  }

  @Test("F54, F51: a link that was replaced leaves nothing, also if it outlives the other")
  func replacedOutlives() {
    var rig = SessionRig.open(topics: ["a"])
    rig.ended(1)
    rig.start(2, resuming: true)
    rig.hear(2, "resumed")
    rig.opened(2)
    rig.start(3)
    rig.hear(3, "accepted t3")
    rig.opened(3)
    rig.ended(3)
    rig.ended(2)
    #expect(rig.start(4, resuming: true) == "4 < login t3")
  }

  @Test("F51: a later token takes the place of the first")
  func token() {
    var rig = SessionRig.open()
    rig.hear(1, "token t9")
    rig.ended(1)
    #expect(rig.start(2, resuming: true) == "2 < login t9")
  }

  @Test("I2: a link that is gone says nothing any more")
  func stale() {
    var rig = SessionRig.open(topics: ["a"])
    rig.ended(1)
    #expect(rig.hear(1, "pub a 1") == "")
    #expect(rig.hear(1, "hello") == "")
    #expect(rig.opened(1) == "")
    #expect(rig.ended(1) == "")
  }

  @Test("RC138: subscribe, unsubscribe, reconnect, subscribe: it is asked for")
  func subscribedAgain() {
    var rig = SessionRig.open()
    #expect(rig.subscribe("a") == "1 < sub a")
    #expect(rig.unsubscribe("a") == "1 < unsub a")
    rig.ended(1)
    rig.start(2)
    #expect(rig.hear(2, "accepted") == "2 ready")
    rig.opened(2)
    #expect(rig.subscribe("a") == "2 < sub a")
  }
}
