import ConnectionFSM
import Testing

@Suite("Dial spacing")
struct SpacingTests {
  @Test("I6, RC032, B3.11: a server that accepts and drops at once is dialled once a spacing")
  func hotLoop() throws {
    var rig = Rig(try Policy.made(backoff: .none, spacing: .milliseconds(700)))
    rig.feed(.connect(here))
    for dial in 1...100 as ClosedRange<Int64> {
      rig.transport(.opened)
      rig.transport(.closed(nil))
      #expect(try rig.redial() == .milliseconds(700 * dial))
    }
  }

  @Test("I6: the spacing holds under a table that starts with zero, and counts from the dial")
  func countsFromDial() throws {
    let backoff = Backoff(
      first: .zero, base: .seconds(1), cap: .seconds(60), jitter: .none,
      stability: .seconds(10), attemptLimit: nil)
    var rig = Rig(try Policy.made(backoff: backoff, spacing: .seconds(3)))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost), at: .seconds(1))
    #expect(rig.retryAt == .seconds(3))
    try rig.redial()
    rig.transport(.failed(.lost), at: .seconds(9))
    #expect(rig.retryAt == .seconds(11), "two seconds after one failure is the longer wait")
  }

  @Test("a user's connect need not keep the spacing; the next unasked dial keeps it from there")
  func asked() throws {
    var rig = Rig(try Policy.made(backoff: .none, spacing: .seconds(5)))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost), at: .seconds(1))
    #expect(rig.feed(.connect(here), at: .seconds(2)).text == "dial 2 @0")
    rig.transport(.failed(.lost), at: .seconds(3))
    #expect(rig.retryAt == .seconds(7))
  }

  @Test("the end of a hold keeps the spacing")
  func hold() throws {
    var rig = Rig(try Policy.made(spacing: .seconds(5)))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    rig.feed(.lifecycleChanged(.background), at: .seconds(1))
    rig.feed(.lifecycleChanged(.foreground), at: .seconds(2))
    #expect(rig.retryAt == .seconds(5))
    try rig.redial()
  }

  @Test("the doubt about a path that is down keeps the spacing")
  func probe() throws {
    let path = PathPolicy(
      onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .milliseconds(300),
      returnJitter: .zero)
    var rig = Rig(try Policy.made(spacing: .seconds(10), path: path))
    rig.feed(.pathChanged(.down))
    rig.feed(.connect(here))
    for _ in 1...5 {
      rig.transport(.failed(.lost))
      let dials = rig.ledger.dials.count
      try rig.run(until: rig.now + .seconds(11))
      #expect(rig.ledger.dials.count == dials + 1)
    }
  }

  @Test("a spacing of zero turns the bound off")
  func zero() throws {
    var rig = Rig(try Policy.made(backoff: .none, spacing: .zero))
    rig.feed(.connect(here))
    for _ in 1...10 {
      rig.transport(.failed(.lost))
      #expect(try rig.redial() == .origin)
    }
  }

  @Test("I6: in any window W there are at most 1 + W / spacing unasked dials, in any weather")
  func anyWindow() throws {
    let path = PathPolicy(
      onLoss: .close, suspectTimeout: .seconds(3), probeInterval: .milliseconds(500),
      returnJitter: .milliseconds(100))
    let policy = try Policy.made(backoff: .none, spacing: .milliseconds(800), path: path)
    for seed in 1...60 as ClosedRange<UInt64> {
      var rig = Rig(policy, seed: seed)
      var walk = Walk(seed: seed)
      for _ in 1...400 {
        rig.feed(walk.input(for: rig, lanes: 2), at: walk.instant(for: rig))
      }
      let unasked = rig.ledger.dials.filter { !$0.wasAsked }.map(\.at.nanoseconds)
      let isCrowded = unasked.indices.contains { first in
        unasked[first...].enumerated().contains { count, end in
          count + 1 > 1 + Int((end - unasked[first]) / 800_000_000)
        }
      }
      #expect(!isCrowded, "seed \(seed)")
    }
  }
}
