#if os(Linux)
  import ConnectionFSM
  import Dispatch
  import Testing
  import Transports

  /// Run by `Scripts/netns.sh`: they change the network of the process.
  @Suite(
    "In a network namespace", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: Namespace.isEntered))
  struct NetworkNamespaceTests {
    /// A rig whose path the system tells.
    private func rig(
      _ policy: EndPolicy, isWatched: Bool = true
    ) async throws -> (rig: EndRig, monitor: SystemPathMonitor) {
      let rig = try EndRig(policy)
      let monitor = SystemPathMonitor(loop: rig.loop)
      rig.atEnd { monitor.stop() }
      guard isWatched else { return (rig, monitor) }
      let path = rig.path
      try monitor.start { path.update(to: $0) }
      await rig.loop.until { path.path != .unknown }
      return (rig, monitor)
    }

    /// Plays rounds against a far machine, and counts what is left once that is gone too: who is
    /// cut off does not hear that its peer is dead.
    private func counted(_ round: (FarMachine) async throws -> Void) async throws {
      let counts = (ProcessCounts.sockets, ProcessCounts.timers, ProcessCounts.threads)
      let far = try await FarMachine()
      for _ in 0..<50 { try await round(far) }
      await far.end()
      #expect(ProcessCounts.sockets == counts.0)
      #expect(ProcessCounts.timers <= counts.1)
      #expect(ProcessCounts.threads == counts.2)
    }

    // MARK: Unreachable

    @Test(
      "F06: without a route nothing dials until there is one, and then at once",
      arguments: FarMachine.addresses)
    func unreachable(_ address: String) async throws {
      try await counted { far in
        let (rig, _) = try await rig(EndPolicy())
        #expect(rig.path.path == .down)
        rig.connection.connect(to: far.endpoint(address))
        await rig.until { !$0.ends.isEmpty }
        let end = try #require(rig.trace.ends.first)
        #expect(end.cause == .system(.networkUnreachable))
        #expect(end.cause.failureClass == .network)
        #expect(end.step.to == .offline)
        #expect(end.step.explanation.waitsFor == .network)
        #expect(rig.trace.dials.count == 1)
        Namespace.ip(NearEnd.up)
        await rig.until { !$0.opened.isEmpty }
        #expect(rig.trace.dials.count == 2)
        await rig.close()
        Namespace.ip(NearEnd.down)
      }
    }

    @Test("F06: of a path that nobody watches the backoff finds out, on the network's account")
    func unwatched() async throws {
      try await counted { far in
        let (rig, _) = try await rig(EndPolicy(), isWatched: false)
        rig.connection.connect(to: far.endpoint("10.0.0.1"))
        await rig.until { $0.ends.count >= 2 }
        #expect(rig.trace.ends.map(\.cause).allSatisfy { $0 == .system(.networkUnreachable) })
        #expect(rig.trace.ends.first?.step.to == .backingOff)
        Namespace.ip(NearEnd.up)
        await rig.until { !$0.opened.isEmpty }
        await rig.close()
        Namespace.ip(NearEnd.down)
      }
    }

    // MARK: Lost and found

    @Test("F07, F43: a link whose interface goes down is asked, dies, and is back with the route")
    func linkDown() async throws {
      let policy = EndPolicy(heartbeat: Heartbeat(interval: .seconds(60), timeout: .seconds(20)))
      try await counted { far in
        Namespace.ip(NearEnd.up)
        let (rig, _) = try await rig(policy)
        rig.connection.connect(to: far.endpoint("10.0.0.1"))
        await rig.until { !$0.opened.isEmpty }
        Namespace.ip(["link set near0 down"])
        await rig.until { !$0.ends.isEmpty }
        let end = try #require(rig.trace.ends.first)
        #expect(end.cause == .timedOut(.pong))
        #expect(end.cause.verdict(in: Circumstances(path: .down)).failureClass == .network)
        #expect(end.step.to == .offline)
        #expect(rig.trace.dials.count == 1)
        Namespace.ip(["link set near0 up", "route add default via 10.0.0.1"])
        await rig.until { $0.opened.count == 2 }
        #expect(rig.trace.dials.count == 2)
        await rig.close()
        Namespace.ip(NearEnd.down)
      }
    }

    @Test("F43: a silence that no interface tells of ends at the heartbeat, and is tried again")
    func silence() async throws {
      let policy = EndPolicy(
        connectDeadline: .milliseconds(100),
        heartbeat: Heartbeat(interval: .milliseconds(30), timeout: .milliseconds(50)))
      try await counted { far in
        Namespace.ip(NearEnd.up)
        let (rig, _) = try await rig(policy)
        #expect(rig.path.path.status == .up)
        rig.connection.connect(to: far.endpoint("10.0.0.1"))
        await rig.until { !$0.opened.isEmpty }
        let epoch = try #require(rig.trace.opened.first)
        await far.ip(["addr del 10.0.0.1/24 dev far0"])
        await rig.until { trace in trace.ends.contains { $0.epoch == epoch } }
        let end = try #require(rig.trace.ends.first { $0.epoch == epoch })
        #expect(end.cause == .timedOut(.pong))
        #expect(end.step.to == .backingOff)
        let dials = rig.trace.dials.count
        await rig.until { $0.dials.count > dials }
        await far.ip(["addr add 10.0.0.1/24 dev far0"])
        await rig.until { trace in trace.opened.contains { $0 > epoch } }
        await rig.close()
        Namespace.ip(NearEnd.down)
      }
    }

    @Test("F07: a path over another interface makes an open link be asked, and it lives on")
    func otherInterface() async throws {
      let far = try await FarMachine()
      Namespace.ip(NearEnd.up)
      let policy = EndPolicy(
        heartbeat: Heartbeat(interval: .seconds(60), timeout: .seconds(20)),
        suspectTimeout: .seconds(20))
      let (rig, _) = try await rig(policy)
      let first = rig.path.path
      rig.connection.connect(to: far.endpoint("10.0.0.1"))
      await rig.until { !$0.opened.isEmpty }
      Namespace.ip(
        [
          "link add other0 type veth peer name other1", "link set other1 up",
          "link set other0 up", "addr add 10.1.0.2/24 dev other0", "route del default",
          "route add default via 10.1.0.1",
        ])
      let path = rig.path
      await rig.loop.until { path.path != first && path.path.status == .up }
      await rig.until { trace in
        trace.all.contains { if case .transport(_, .pong) = $0.input { true } else { false } }
      }
      #expect(rig.trace.ends.isEmpty)
      await rig.close()
      Namespace.ip(["link del other0"])
      await far.end()
    }

    // MARK: The monitor alone

    @Test("F08: the path follows default routes, addresses and interfaces of both families")
    func monitor() async throws {
      let far = try await FarMachine()
      let loop = try SocketEventLoop()
      let told = ToldPaths()
      let monitor = SystemPathMonitor(loop: loop)
      try monitor.start { told.append($0) }
      var expected: [PathStatus] = [.down]
      await loop.until { told.all.count == 1 }

      func change(_ commands: String..., leadsTo status: PathStatus?) async {
        Namespace.ip(commands)
        guard let status else { return }
        expected.append(status)
        let count = expected.count
        await loop.until { told.all.count >= count }
      }

      // Loopback alone, also as a way out; then an interface, its address, and at last a route.
      await change("route add default dev lo", leadsTo: nil)
      await change(
        "link set near0 up", "addr add 10.0.0.2/24 dev near0", "route del default", leadsTo: nil)
      await change("route add default via 10.0.0.1", leadsTo: .up)
      await change("route del default", leadsTo: .down)
      await change("-6 route add unreachable default metric 9000", leadsTo: nil)
      await change(
        "-6 addr add fd00::2/64 dev near0 nodad", "-6 route add default via fd00::1", leadsTo: .up)
      await change("link set near0 down", leadsTo: .down)
      // The address of IPv4 has outlived that; the routes have not.
      await change("link set near0 up", leadsTo: nil)
      await change("route add default via 10.0.0.1", leadsTo: .up)
      await change("addr flush dev near0", leadsTo: .down)
      await change(
        "addr add 10.0.0.2/24 dev near0", "route add default via 10.0.0.1", leadsTo: .up)
      await change("route replace default via 10.0.0.3", leadsTo: .up)
      // The far machine's end of the cable: no carrier.
      expected.append(.down)
      await far.ip(["link set far0 down"])
      let count = expected.count
      await loop.until { told.all.count == count }

      #expect(told.all.map(\.status) == expected)
      let numbers = told.all.filter { $0.status == .up }.map(\.interface)
      #expect(numbers[0] == numbers[2] && numbers[2] == numbers[3])
      #expect(Set([0, numbers[0], numbers[1], numbers[4]]).count == 4)
      monitor.stop()
      loop.stop()
      Namespace.ip(["-6 route del unreachable default metric 9000"])
      await far.end()
    }

    @Test("F08: what is lost in a flood of announcements is found by another look")
    func flood() async throws {
      let far = try await FarMachine()
      let loop = try SocketEventLoop()
      let told = ToldPaths()
      // Without an address of IPv6, whose examination is announced a second later.
      Namespace.ip([
        "link set near0 addrgenmode none", "link set near0 up", "addr add 10.0.0.2/24 dev near0",
        "route add default via 10.0.0.1",
      ])
      let monitor = SystemPathMonitor(loop: loop)
      try monitor.start { told.append($0) }
      await loop.until { told.last?.status == .up }
      let goOn = DispatchSemaphore(value: 0)
      loop.execute { goOn.wait() }
      // Some 200 of them fill the socket (net.core.rmem_default). None is a reason to look: that is
      // the last alone, which is lost.
      let flood = (0..<2000).map {
        "route add 10.2.\($0 / 250).\($0 % 250 + 1)/32 dev near0\n"
      }
      Namespace.ip(["-batch - <<'END'\n\(flood.joined())END", "route del default"])
      goOn.signal()
      await loop.until { told.last == .down }
      #expect(told.all.map(\.status) == [.up, .down])
      monitor.stop()
      loop.stop()
      await far.end()
    }
  }
#endif
