import ConnectionFSM
import Testing

@Suite("Session against a naive ledger")
struct SessionModelTests {
  @Test(
    "I14, I22, F49, F50, F51, F54: for any seed a session keeps its promises, and ends up with all")
  func keepsItsPromises() {
    var tally: [String: Int] = [:]
    for seed in 1...400 as ClosedRange<UInt64> {
      var world = SessionWorld(seed: seed)
      for _ in 1...300 where world.fault == nil { world.step() }
      world.settle()
      if let fault = world.fault {
        Issue.record("seed \(seed): \(fault)\n\(world.story.suffix(40).joined(separator: "\n"))")
        return
      }
      tally.merge(world.tally, uniquingKeysWith: +)
    }
    let met = [
      "takeover", "resume refused", "lost link", "resumed", "numbered", "answered", "timedOut",
      "linkLost", "refused topic", "recovery", "repetition", "renewal", "pub", "snap",
    ]
    for what in met { #expect(tally[what, default: 0] > 100, "the walk hardly ever meets \(what)") }
  }
}

extension SessionWorld {
  /// Anything that may happen, in any order.
  mutating func step() {
    let topic = NaivePeer.topics[walk.below(NaivePeer.topics.count)]
    let living = accounts.keys.sorted()
    let link = living.isEmpty ? 0 : living[walk.below(living.count)]
    switch walk.below(100) {
    case 0..<9: want(topic)
    case 9..<17: want(noMore: topic)
    case 17..<32: peer.publish(topic)
    case 32..<36: peer.tell(link)
    case 36..<38: peer.throwOut(link)
    case 38..<55: for _ in 0...walk.below(4) { peer.read(link) }
    case 55..<80: for _ in 0...walk.below(4) { hear(link) }
    case 80..<83: if primary == nil || walk.chance(50) { dial() }
    case 83..<85: if link > 0, walk.chance(60) { lose(link) }
    case 85..<92: stepRequests(link)
    default: wait(.milliseconds(Int64(walk.below(walk.chance(80) ? 300 : 8_000))))
    }
  }

  private mutating func stepRequests(_ link: UInt64) {
    let waiting = requests.keys.sorted()
    switch walk.below(4) {
    case 0:
      let survives = walk.chance(30)
      let timeout = TimeSpan.milliseconds(Int64(1 + walk.below(9_000)))
      let id = session.beginRequest(timeout: timeout, survivesLink: survives, at: now)
      if (id == nil) != (requests.count == settings.requestLimit) { fail("the limit of requests") }
      if let id { requests[id] = (now + timeout, survives, nil) }
    case 1:
      guard let id = waiting.last, link > 0, requests[id]?.link == nil else { return }
      session.requestGiven(id, to: Epoch(link))
      requests[id]?.link = link
    case 2:
      guard let id = waiting.first, walk.chance(20) else { return }
      session.endRequest(id)
      requests[id] = nil
    default:
      guard link > 0 else { return }
      let id = UInt64(1 + walk.below(Int(waiting.last ?? 5)))
      run("\(link) > answer \(id)") {
        $0.receive(Message("answer \(id)"), on: Epoch(link), at: $1, into: &$2)
      }
      if requests[id] != nil { fail("request \(id) was answered") }
    }
  }

  /// The weather clears: in the end everything that is wanted comes.
  mutating func settle() {
    peer.weather.clear()
    if primary == nil { dial() }
    for _ in 1...6 where fault == nil {
      drain()
      if let leaving { lose(leaving) }
      for topic in NaivePeer.topics { peer.publish(topic) }
      drain()
      wait(.seconds(60))
    }
    drain()
    guard fault == nil, let primary, let link = peer.links[primary] else { return }
    if !(accounts[primary]?.isReady ?? false) { fail("never ready") }
    if link.topics.intersection(wanted.keys) != Set(wanted.keys) { fail("not subscribed to all") }
    for topic in wanted.keys where delivered[topic] != peer.published[topic] {
      fail("\(topic) has stopped at \(delivered[topic] ?? 0) of \(peer.published[topic] ?? 0)")
    }
    if let conversation = peer.conversations[link.token] {
      if conversation.acknowledged != conversation.sent { fail("not all is acknowledged") }
      for number in 0..<conversation.sent
      where !numbered.contains("num \(number + 1) \(link.token)") {
        fail("numbered message \(number + 1) is missing")
      }
    }
    if session.nextDeadline != nil { fail("something waits still") }
  }

  /// Both sides read until there is nothing left.
  private mutating func drain() {
    while fault == nil,
      let link = accounts.keys.sorted().first(where: {
        peer.links[$0].map { !$0.toPeer.isEmpty || !$0.toUs.isEmpty } ?? false
      })
    {
      peer.read(link)
      hear(link)
    }
  }
}
