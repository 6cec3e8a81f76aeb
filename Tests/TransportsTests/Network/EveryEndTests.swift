import ConnectionFSM
import Testing
import Transports

extension RealSockets {
  @Suite("Every end of a dial or a link, over loopback")
  struct EveryEndTests {
    @Test(
      "F05, F14: cause, class and next step are right 50 times in a row, and nothing is left",
      arguments: EndStory.all)
    func end(_ story: EndStory) async throws {
      let sockets = ProcessCounts.sockets
      let timers = ProcessCounts.timers
      let threads = ProcessCounts.threads
      for _ in 0..<50 { try await play(story) }
      #expect(ProcessCounts.sockets == sockets)
      #expect(ProcessCounts.timers <= timers)
      // A thread that has been joined is gone; one of the resolver may be on its way out.
      let loop = try SocketEventLoop()
      await loop.until { ProcessCounts.threads <= threads + 1 }
      loop.stop()
    }

    private func play(_ story: EndStory) async throws {
      weak var connection: Connection?
      do {
        let rig = try EndRig(story.policy)
        connection = rig.connection
        rig.path.update(to: story.path)
        try await story.play(rig)
        await rig.until { !$0.ends.isEmpty }
        try await check(story, rig)
        await rig.close()
      }
      #expect(connection == nil)
    }

    private func check(_ story: EndStory, _ rig: EndRig) async throws {
      let first = try #require(rig.trace.ends.first)
      switch story.next {
      case .retries(let waits, let opens):
        await rig.until { trace in
          guard trace.dials.count > waits.count, trace.ends.count >= waits.count else {
            return false
          }
          let last = trace.ends[waits.count - 1].epoch
          return !opens || trace.opened.contains { $0 > last }
        }
        try checkWaits(waits, rig.trace)
      case .waits:
        #expect(first.step.to == .offline)
        #expect(rig.trace.dials.count == 1)
        rig.path.update(to: .up)
        await rig.until { $0.dials.count >= 2 }
      case .stops(let reason, let dials):
        await rig.until { $0.last?.to == .closed }
        #expect(rig.trace.dials.count == dials)
        #expect(rig.trace.last?.nextDeadline == nil)
        #expect(rig.trace.closed?.reason == reason)
        #expect(rig.trace.closed?.cause == story.cause)
      }
      let path = story.path.status == .up && story.next.isHeld ? .down : story.path.status
      let circumstances = Circumstances(path: path, reach: .notOpen)
      #expect(story.cause.verdict(in: circumstances).failureClass == story.failureClass)
      #expect(first.cause == story.cause)
    }

    /// The waits are read from what the machine planned: the instants of a busy machine are later.
    private func checkWaits(_ waits: [TimeSpan], _ trace: RecordedTrace) throws {
      let dials = trace.dials
      try #require(dials.count > waits.count)
      for (place, (wait, end)) in zip(waits, trace.ends).enumerated() {
        let until = end.step.instant + wait
        #expect(end.step.to == .backingOff)
        #expect(end.step.explanation.until == until)
        #expect(dials[place + 1] >= until)
      }
    }
  }
}

extension EndStory.Next {
  /// Whether the path is down when it ends.
  fileprivate var isHeld: Bool { if case .waits = self { true } else { false } }
}
