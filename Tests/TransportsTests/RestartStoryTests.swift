import ConnectionFSM
import Testing
import Transports

/// Waits of milliseconds: the story is about order, and loopback needs no patience.
private func quickPolicy() throws -> Policy {
  try Policy(
    connectDeadline: .seconds(10), closeDeadline: .seconds(10),
    backoff: Backoff(
      first: .milliseconds(4), base: .milliseconds(2), cap: .milliseconds(8), jitter: .full,
      stability: .seconds(10)),
    minimumDialSpacing: .milliseconds(1),
    heartbeat: Heartbeat(interval: .seconds(30), timeout: .seconds(10)),
    path: PathPolicy(
      onLoss: .probe, suspectTimeout: .seconds(3), probeInterval: .seconds(60),
      returnJitter: .zero),
    lanes: [
      Lane(.atMostOnce, timeToLive: nil, countLimit: 1000, byteLimit: 64 << 20),
      Lane(.atLeastOnce, timeToLive: nil, countLimit: 1000, byteLimit: 64 << 20),
    ])
}

extension RealSockets {
  @Suite("A server that dies and comes back")
  struct RestartStory {
    @Test("F02, F46, F47: lines typed meanwhile arrive once and in order, 100 times in a row")
    func restart() async throws {
      let sockets = ProcessCounts.sockets
      let timers = ProcessCounts.timers
      let threads = ProcessCounts.threads
      for round in 0..<100 { try await Self.story(seed: UInt64(round)) }
      #expect(ProcessCounts.sockets == sockets)
      #expect(ProcessCounts.timers <= timers + 3)
      #expect(ProcessCounts.threads == threads)
    }

    private static func story(seed: UInt64) async throws {
      let rig = try StoryRig(policy: try quickPolicy(), seed: seed)
      let endpoint = try await rig.startServer()
      rig.connection.connect(to: endpoint)
      await rig.reach(.open)
      rig.send("a1", in: 1)
      rig.send("a2", in: 1)
      await rig.settled(["a1", "a2"])

      await rig.killServer()
      await rig.reach(.backingOff)
      for text in ["b1", "b2", "b3"] { rig.send(text, in: 1) }
      for text in ["c1", "c2"] { rig.send(text, in: 0) }
      _ = try await rig.startServer(port: endpoint.port)
      await rig.settled(["b1", "b2", "b3", "c1", "c2"])
      await rig.connection.close()

      let journal = rig.journal
      #expect(journal.linesRead.filter { $0.hasPrefix("a") } == ["a1", "a2"])
      #expect(journal.linesRead.filter { $0.hasPrefix("b") } == ["b1", "b2", "b3"])
      #expect(journal.outcome(of: "b2") == "acknowledged")
      #expect(journal.outcome(of: "c2") == "written")
      #expect(journal.phases.first == .idle && journal.phases.last == .closed)
      #expect(journal.causes.last == .closedByUser)
      await rig.stop()
    }

    @Test("F03: what a scripted server does is told attempt by attempt, each with its end")
    func told() async throws {
      let policy = try Policy(
        connectDeadline: .seconds(10), closeDeadline: .seconds(10),
        backoff: Backoff(
          first: .milliseconds(4), base: .milliseconds(2), cap: .milliseconds(8), jitter: .full,
          stability: .seconds(10), attemptLimit: 2),
        minimumDialSpacing: .milliseconds(1), heartbeat: nil)
      let rig = try StoryRig(policy: policy, seed: 1)
      let endpoint = try await rig.startServer()
      await rig.killServer()
      rig.connection.connect(to: endpoint)
      await rig.reach(.closed)
      _ = try await rig.startServer(port: endpoint.port)
      rig.connection.connect(to: endpoint)
      await rig.reach(.open)
      await rig.connection.close()
      let told = rig.journal.moments.map { moment in
        guard case .waiting(let what, _, let attempt, let cause) = moment else { return moment }
        return .waiting(for: what, until: nil, attempt: attempt, cause: cause)
      }
      #expect(
        told.map(\.description) == [
          "attempt 1 started: #1 to @1",
          "attempt failed: #1 system(connectionRefused)",
          "waiting for retry (attempt 1, system(connectionRefused))",
          "attempt 2 started: #2 to @1",
          "attempt failed: #2 system(connectionRefused)",
          "closed: exhausted, system(connectionRefused)",
          "attempt 1 started: #3 to @1",
          "opened: #3",
          "link ended: #3 closedByUser",
          "closed: requested, closedByUser",
        ])
      await rig.stop()
    }

    @Test("F47: a line that was not echoed is sent again on the next link, one that was is not")
    func redelivery() async throws {
      let rig = try StoryRig(policy: try quickPolicy(), seed: 1)
      let endpoint = try await rig.startServer(fault: .mute)
      rig.connection.connect(to: endpoint)
      await rig.reach(.open)
      for text in ["r1", "r2"] { rig.send(text, in: 1) }
      let journal = rig.journal
      await rig.serverLoop.until { journal.linesRead.count == 2 }
      await rig.killServer()
      _ = try await rig.startServer(port: endpoint.port)
      await rig.settled(["r1", "r2"])
      #expect(journal.linesRead == ["r1", "r2", "r1", "r2"])
      #expect(journal.outcomes == ["r1 acknowledged", "r2 acknowledged"])
      await rig.connection.close()
      await rig.stop()
    }

    @Test(
      "F47: at most once, what the dead socket had not taken is in doubt and not sent again")
    func inDoubt() async throws {
      let rig = try StoryRig(policy: try quickPolicy(), seed: 1)
      let listening = Confined<(TCPListener, UInt16)?>(nil)
      let deaf = Confined<[TCPStream]>([])
      let serverLoop = rig.serverLoop
      await serverLoop.run {
        let listener = TCPListener(loop: serverLoop) { stream in
          deaf.value.append(stream)
          stream.setReading(false)
          return Silence()
        }
        listening.value = (try? listener.start(host: "127.0.0.1", port: 0)).map { (listener, $0) }
      }
      let port = try #require(listening.value?.1)
      rig.connection.connect(to: Endpoint(host: "127.0.0.1", port: port))
      await rig.reach(.open)
      // 62 MB, more than both socket buffers may grow to (4 and 32 MiB where the limits are high):
      // the system cannot have taken it all.
      rig.send(String(repeating: "x", count: 65_000), in: 0)
      for number in 0..<960 { rig.send("\(number)" + String(repeating: "y", count: 65_000), in: 0) }
      let journal = rig.journal
      await rig.settled([String(repeating: "x", count: 65_000)])
      await serverLoop.run {
        listening.value?.0.stop()
        for stream in deaf.value { stream.close() }
        deaf.value = []
      }
      let last = "959" + String(repeating: "y", count: 65_000)
      await rig.reach(.backingOff)
      await rig.connection.close()
      await rig.settled([last])
      let words = Set(journal.outcomes.map { $0.split(separator: " ").last.map(String.init) })
      #expect(journal.outcomes.count == 961)
      #expect(words.contains("inDoubt"))
      #expect(words.isSubset(of: ["written", "inDoubt", "cancelled"]))
      #expect(journal.outcomes.first?.hasSuffix("written") == true)
      await rig.stop()
    }
  }
}

/// Hears nothing and does nothing.
private final class Silence: ByteStreamObserver {
  func streamOpened() {}
  func streamReadable() {}
  func streamWritable() {}
  func streamFailed(_ cause: Cause) {}
}
