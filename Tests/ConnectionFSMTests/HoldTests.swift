import ConnectionFSM
import Testing

@Suite("Holds")
struct HoldTests {
  private static let device: Input = .lifecycleChanged(.suspended)
  private static let background: Input = .lifecycleChanged(.background)
  private static let foreground: Input = .lifecycleChanged(.foreground)

  private func backingOff() throws -> Rig {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    return rig
  }

  @Test("F53: without demand nothing is dialled, not even when the user asks")
  func noDemand() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.demandChanged(false))
    #expect(rig.feed(.connect(here)).text == "")
    #expect(rig.hold == .noDemand)
    #expect(rig.machine.nextDeadline == nil)
    #expect(rig.feed(.demandChanged(true)).text == "dial 1 @0")
  }

  @Test("F53: in the background nothing is dialled unasked, but the user's connect is")
  func background() throws {
    var rig = try backingOff()
    rig.feed(Self.background, at: .seconds(1))
    #expect(rig.hold == .background)
    #expect(rig.feed(.connect(here)).text == "dial 2 @0")
    rig.transport(.failed(.lost))
    #expect(rig.hold == .background)
    #expect(rig.feed(Self.foreground, at: .seconds(9)).text == "dial 3 @0")
  }

  @Test("a device that sleeps holds the user's connect too, and keeps it for the wake")
  func device() throws {
    var rig = Rig(try Policy.made())
    rig.feed(Self.device)
    #expect(rig.feed(.connect(elsewhere)).text == "")
    #expect(rig.hold == .device)
    #expect(rig.feed(Self.foreground, at: .seconds(5)).text == "dial 1 @1")
  }

  @Test("RC118: a hold waits for nothing, however long, and its end dials once")
  func noStorm() throws {
    var rig = try backingOff()
    rig.feed(Self.device, at: .seconds(1))
    #expect(rig.machine.nextDeadline == nil)
    #expect(rig.feed(.deadlineReached, at: .seconds(3600)).disposition == .ignored(.early))
    #expect(rig.feed(Self.foreground).text == "dial 2 @0")
    #expect(rig.feed(Self.foreground).disposition == .ignored(.redundant))
  }

  @Test("one hold after the other: the strongest is named, and the last to go lets the dial out")
  func several() throws {
    var rig = try backingOff()
    rig.feed(Self.background, at: .seconds(1))
    rig.feed(.demandChanged(false))
    #expect(rig.hold == .background)
    rig.feed(Self.device)
    #expect(rig.hold == .device)
    rig.feed(Self.foreground)
    #expect(rig.hold == .noDemand)
    #expect(rig.feed(.demandChanged(true)).text == "dial 2 @0")
  }

  @Test(
    "a hold keeps an open link; when it dies, nothing is dialled and no attempt is spent",
    arguments: [
      Input.lifecycleChanged(.suspended), .lifecycleChanged(.background), .demandChanged(false),
    ])
  func openLink(hold: Input) throws {
    var rig = Rig.opened(try Policy.made(backoff: .exact.limited(to: 1)))
    #expect(rig.feed(hold, at: .seconds(1)).phase == .open)
    #expect(rig.feed(.offerA()).text == "send 1 a1")
    rig.transport(.failed(.lost), at: .seconds(20))
    #expect(rig.phase == .suspended)
    rig.feed(Self.foreground, at: .seconds(100))
    rig.feed(.demandChanged(true))
    #expect(rig.phase == .connecting)
  }

  @Test("a hold ends a wait for credentials; the late answer is stale, the next try asks anew")
  func credentials() throws {
    var rig = Rig(try Policy.made(credentials: .seconds(5)))
    rig.feed(.connect(here))
    rig.feed(.demandChanged(false), at: .seconds(1))
    #expect(rig.feed(.credentials(Epoch(1), .available)).disposition == .ignored(.staleEpoch))
    #expect(rig.feed(.demandChanged(true), at: .seconds(2)).text == "credentials 2")
  }

  @Test("the end of a hold on a path that is down waits for the path")
  func offline() throws {
    var rig = try backingOff()
    rig.feed(Self.background, at: .seconds(1))
    rig.feed(.pathChanged(.down), at: .seconds(2))
    #expect(rig.feed(Self.foreground, at: .seconds(9)).phase == .offline)
    #expect(rig.machine.nextDeadline == .seconds(69))
  }

  @Test("the return of the path dials nothing while a hold lasts")
  func pathUnderHold() throws {
    var rig = try backingOff()
    rig.feed(.pathChanged(.down), at: .seconds(1))
    rig.feed(Self.background, at: .seconds(2))
    #expect(rig.feed(.pathChanged(.up), at: .seconds(9)).phase == .suspended)
    #expect(rig.machine.nextDeadline == nil)
  }

  @Test("a restart on the regained path is held like any other dial")
  func restartUnderHold() throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.feed(Self.background, at: .seconds(1))
    rig.feed(.pathChanged(.down), at: .seconds(2))
    #expect(rig.feed(.pathChanged(.up), at: .seconds(3)).text == "abort 1, ended 1 pathLost")
    #expect(rig.hold == .background)
  }

  @Test("I6: demand that flaps 100 times in a second costs one more dial at most")
  func flapping() throws {
    var rig = Rig(try Policy.made(backoff: .none))
    rig.feed(.connect(here))
    rig.transport(.failed(.lost))
    for flap in 1...100 as ClosedRange<Int64> {
      rig.feed(.demandChanged(false))
      try rig.run(until: .milliseconds(flap * 10 - 1))
      rig.feed(.demandChanged(true))
      if rig.phase == .connecting { rig.transport(.failed(.lost)) }
    }
    #expect(rig.ledger.dials.count == 1)
    try rig.run(until: .seconds(1))
    #expect(rig.ledger.dials.count == 2)
  }

  @Test("close ends a hold for good")
  func close() throws {
    var rig = try backingOff()
    rig.feed(Self.background, at: .seconds(1))
    rig.feed(.close)
    #expect(rig.feed(Self.foreground, at: .seconds(2)).text == "")
    #expect(rig.closed == "requested closedByUser")
  }

  @Test("TTL: messages that wait in a hold still expire on time")
  func expiry() throws {
    var rig = Rig(try Policy.made(lanes: [.made(.atMostOnce, timeToLive: .seconds(20))]))
    rig.feed(.demandChanged(false))
    rig.feed(.connect(here))
    rig.feed(.offerA(), at: .seconds(1))
    #expect(try rig.serveDeadline().text == "a1 expired")
    #expect(rig.now == .seconds(21))
    #expect(rig.phase == .suspended)
  }
}
