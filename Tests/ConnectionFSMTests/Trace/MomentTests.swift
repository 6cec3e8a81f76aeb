import ConnectionFSM
import Testing

@Suite("F56: what a step meant, in words")
struct MomentTests {
  @Test("RC207: the first attempt is told like every other, with its number")
  func firstAttempt() throws {
    var rig = Recorder(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.lost), at: .seconds(1))
    rig.serveDeadline()
    rig.transport(.opened)
    #expect(
      rig.moments == [
        .attemptStarted(Epoch(1), number: 1, here),
        .attemptFailed(Epoch(1), .lost),
        .waiting(for: .retry, until: .seconds(5), attempt: 1, cause: .lost),
        .attemptStarted(Epoch(2), number: 2, here),
        .opened(Epoch(2)),
      ])
  }

  @Test("RC206: every wait is told once, with its end, the attempt and the cause")
  func everyWait() throws {
    var rig = Recorder(try Policy.made(lanes: [.made(.atMostOnce, timeToLive: .seconds(2))]))
    rig.feed(.connect(here))
    rig.transport(.opened)
    rig.transport(.failed(.lost), at: .seconds(20))
    // A message that expires during a wait wakes the machine and begins no wait; its deadline is
    // not the wait's.
    rig.feed(.offerA())
    #expect(rig.machine.nextDeadline == .seconds(22))
    rig.serveDeadline()
    for _ in 1...3 {
      rig.serveDeadline()
      rig.transport(.failed(.system(.connectionRefused)))
    }
    let waits = rig.moments.filter { if case .waiting = $0 { true } else { false } }
    #expect(
      waits == [
        .waiting(for: .retry, until: .seconds(24), attempt: 0, cause: .lost),
        .waiting(for: .retry, until: .seconds(28), attempt: 1, cause: .system(.connectionRefused)),
        .waiting(for: .retry, until: .seconds(36), attempt: 2, cause: .system(.connectionRefused)),
        .waiting(for: .retry, until: .seconds(52), attempt: 3, cause: .system(.connectionRefused)),
      ])
  }

  @Test("RC161: a machine that waits and one that gave up are told apart")
  func gaveUp() throws {
    var rig = Recorder(try Policy.made(backoff: .exact.limited(to: 2)))
    rig.feed(.connect(here))
    let waiting = rig.transport(.failed(.lost)).moments.last
    #expect(waiting == .waiting(for: .retry, until: .seconds(4), attempt: 1, cause: .lost))
    rig.serveDeadline()
    #expect(rig.transport(.failed(.lost)).moments.last == .closed(.exhausted, .lost))
    rig.feed(.connect(here))
    #expect(rig.transport(.failed(.fatal)).moments.last == .closed(.terminal, .fatal))
    rig.feed(.connect(here))
    #expect(rig.feed(.close).moments.last == .closed(.requested, .closedByUser))
  }

  @Test("F03: an attempt that failed and a link that ended are told apart, each with its cause")
  func ends() throws {
    var rig = Recorder(try Policy.made(session: .seconds(5)))
    rig.feed(.connect(here))
    #expect(rig.transport(.opened).moments.isEmpty)
    let failed = rig.transport(.closed(nil)).moments.first
    #expect(failed == .attemptFailed(Epoch(1), .closedByPeer(nil)))
    rig.serveDeadline()
    rig.transport(.opened)
    #expect(rig.feed(.session(Epoch(2), .ready)).moments == [.opened(Epoch(2))])
    let replaced = rig.feed(.connect(elsewhere)).moments
    #expect(
      replaced == [
        .linkEnded(Epoch(2), .replaced), .attemptStarted(Epoch(3), number: 1, elsewhere),
      ])
    rig.transport(.opened)
    rig.feed(.session(Epoch(3), .ready))
    #expect(rig.feed(.close).moments.isEmpty)
    #expect(
      rig.transport(.failed(.fatal)).moments == [
        .linkEnded(Epoch(3), .closedByUser), .closed(.requested, .closedByUser),
      ])
  }

  @Test("a hold is told with what would end it")
  func holds() throws {
    var rig = Recorder(try Policy.made(credentials: .seconds(3)))
    rig.feed(.demandChanged(false))
    #expect(
      rig.feed(.connect(here)).moments
        == [.waiting(for: .demand, until: nil, attempt: 0, cause: nil)])
    #expect(
      rig.feed(.demandChanged(true)).moments
        == [.waiting(for: .credentials, until: .seconds(3), attempt: 0, cause: nil)])
    #expect(
      rig.feed(.pathChanged(.down)).moments
        == [.waiting(for: .network, until: .seconds(60), attempt: 0, cause: nil)])
    #expect(
      rig.feed(.lifecycleChanged(.suspended)).moments
        == [.waiting(for: .device, until: nil, attempt: 0, cause: nil)])
  }

  @Test("ends of messages and ignored inputs are told with range, outcome and reason")
  func messages() throws {
    var rig = Recorder(try Policy.made(lanes: [.made(.atMostOnce, countLimit: 2)]))
    rig.feed(.connect(here))
    rig.feed(.offerA())
    rig.feed(.offerA())
    #expect(rig.feed(.offerA()).moments == [.messageRejected(LaneID(0), .full)])
    rig.transport(.opened)
    #expect(
      rig.transport(.written(through: .a(2))).moments
        == [.messagesEnded(MessageRange(.a(1), .a(2)), .written)])
    #expect(rig.transport(.opened).moments == [.ignored(.redundant)])
    #expect(rig.feed(.transport(Epoch(9), .opened)).moments == [.ignored(.staleEpoch)])
    #expect(rig.feed(.deadlineReached).moments == [.ignored(.early)])
  }

  @Test("F03: in any weather each dial is told once, ends once, and opens at most once between")
  func anyWeather() throws {
    for seed in 1...60 as ClosedRange<UInt64> {
      var rig = Rig(try Policy.made(credentials: seed % 2 == 0 ? .seconds(3) : nil), seed: seed)
      var recorder = Recorder(rig.machine.policy, seed: seed)
      var walk = Walk(seed: seed)
      for _ in 1...400 {
        let instant = walk.instant(for: rig)
        let input = walk.input(for: rig, lanes: 2)
        rig.feed(input, at: instant)
        recorder.feed(input, at: instant)
      }
      var running: [Epoch: Bool] = [:]
      for moment in recorder.moments {
        switch moment {
        case .attemptStarted(let epoch, _, _):
          #expect(running.updateValue(false, forKey: epoch) == nil)
        case .opened(let epoch): #expect(running.updateValue(true, forKey: epoch) == false)
        case .attemptFailed(let epoch, _): #expect(running.removeValue(forKey: epoch) == false)
        case .linkEnded(let epoch, _): #expect(running.removeValue(forKey: epoch) == true)
        case .waiting, .closed, .messageRejected, .messagesEnded, .ignored: break
        }
        #expect(running.count <= 1)
      }
    }
  }
}
