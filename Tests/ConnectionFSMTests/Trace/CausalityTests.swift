import ConnectionFSM
import Testing

@Suite("F56: which step led to which")
struct CausalityTests {
  @Test("wishes and conditions begin chains, whatever came before")
  func roots() throws {
    var rig = Recorder(try Policy.made())
    let roots: [Input] = [
      .connect(here), .offerA(), .cancel(.a(1)), .demandChanged(false),
      .lifecycleChanged(.background), .pathChanged(.down), .close,
    ]
    for root in roots { rig.feed(root) }
    #expect(rig.parents == Array(repeating: nil, count: roots.count))
  }

  @Test("a deadline was set by the step since which it stood, not by the last one before")
  func deadlines() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))  // 1
    rig.transport(.opened)  // 2: silence until 25 s
    rig.feed(.pathChanged(.up), at: .seconds(1))  // 3: moves no deadline
    rig.serveDeadline()  // 4: ping
    rig.serveDeadline()  // 5: no pong
    rig.feed(.deadlineReached)  // 6: early
    rig.serveDeadline()  // 7: dial
    #expect(rig.parents == [nil, 1, nil, 2, 4, nil, 5])
    #expect(rig.chain(to: 7) == [1, 2, 4, 5, 7])
  }

  @Test("an expiry was set by the offer, a later retry by the failure all the same")
  func expiry() throws {
    var rig = Recorder(try Policy.made(lanes: [.made(.atMostOnce, timeToLive: .seconds(2))]))
    rig.feed(.connect(here))  // 1
    rig.transport(.failed(.lost))  // 2: retry at 4 s
    rig.feed(.offerA())  // 3: expires at 2 s
    rig.serveDeadline()  // 4: expired; from here on the retry is next
    rig.serveDeadline()  // 5: dial
    #expect(rig.parents == [nil, 1, nil, 3, 2])
  }

  @Test("an answer belongs to the step that asked")
  func answers() throws {
    var rig = Recorder(try Policy.made(session: .seconds(5), credentials: .seconds(5)))
    rig.feed(.connect(here))  // 1: asks for credentials
    rig.feed(.credentials(Epoch(1), .available))  // 2: dials
    rig.transport(.opened)  // 3: starts the session
    rig.transport(.received(byteCount: 9))  // 4: unasked, of the dial
    rig.feed(.session(Epoch(1), .ready))  // 5
    rig.feed(.offerA())  // 6
    rig.feed(.offerB())  // 7
    rig.feed(.offerA())  // 8
    rig.transport(.written(through: .a(2)))  // 9
    rig.transport(.written(through: .b(1)))  // 10
    rig.transport(.acknowledged(through: .b(1)))  // 11
    rig.serveDeadline()  // 12: ping 1
    rig.transport(.pong(1))  // 13
    rig.feed(.close)  // 14
    rig.transport(.closed(nil))  // 15
    #expect(rig.parents == [nil, 1, 2, 2, 3, nil, nil, nil, 8, 7, 7, 5, 12, nil, 14])
  }

  @Test("a message that was sent again is confirmed for the step that sent it last")
  func redelivery() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))  // 1
    rig.transport(.opened)  // 2
    rig.feed(.offerB())  // 3
    rig.transport(.failed(.lost))  // 4: unasked, of the dial
    rig.serveDeadline()  // 5
    rig.transport(.opened)  // 6: sends it again
    rig.transport(.acknowledged(through: .b(1)))  // 7
    rig.feed(.transport(Epoch(1), .acknowledged(through: .b(1))))  // 8: stale, of the old dial
    #expect(rig.parents == [nil, 1, nil, 1, 4, 5, 6, 1])
  }

  @Test("what is answered after so many attempts begins a chain: memory is bounded")
  func bounded() throws {
    var rig = Recorder(try Policy.made(backoff: .none))
    rig.feed(.connect(here))
    for _ in 1...Causality.attemptLimit {
      rig.transport(.failed(.lost))
      rig.serveDeadline()
    }
    rig.feed(.transport(Epoch(1), .opened))
    #expect(rig.parents.last == .some(nil))
    rig.feed(.transport(Epoch(2), .opened))
    #expect(rig.parents.last == 3)
  }

  @Test("in any weather what led to a step came before it")
  func anyWeather() throws {
    for seed in 1...60 as ClosedRange<UInt64> {
      var rig = Rig(try Policy.made(session: .seconds(3)), seed: seed)
      var recorder = Recorder(rig.machine.policy, seed: seed)
      var walk = Walk(seed: seed)
      for _ in 1...400 {
        let instant = walk.instant(for: rig)
        let input = walk.input(for: rig, lanes: 2)
        rig.feed(input, at: instant)
        let record = recorder.feed(input, at: instant)
        let parent = recorder.parents[recorder.parents.count - 1]
        if let parent { #expect(parent < record.sequence) }
        // A deadline that is served, and an answer that counts, were asked for.
        switch (record.input, record.disposition) {
        case (.deadlineReached, .accepted), (.transport, .accepted), (.session, .accepted):
          #expect(parent != nil, "seed \(seed), step \(record.sequence)")
        case _: break
        }
      }
    }
  }
}
