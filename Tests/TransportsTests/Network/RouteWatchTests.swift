import ConnectionFSM
import Testing
import Transports

private func at(_ milliseconds: Int64) -> Instant { .origin + .milliseconds(milliseconds) }

private let question: [RouteWatch.Effect] = [.ask(.links, number: 4)]

/// NLMSG_ERROR in answer to a question.
private func refusal(of number: UInt8, error: UInt8) -> [UInt8] {
  [20, 0, 0, 0, 2, 0, 0, 0, number, 0, 0, 0, 0, 0, 0, 0, 0 &- error, 255, 255, 255]
}

@Suite("What the kernel tells of its network")
struct RouteWatchTests {
  // MARK: The level

  @Test("F08: the first look asks for links, addresses and routes, and then tells the path")
  func firstLook() throws {
    var watch = RouteWatch()
    #expect(watch.path == .unknown)
    #expect(watch.started() == [.ask(.links, number: 1)])
    let effects = watch.receive(try RecordedNetlink("default-v4"))
    #expect(effects.count == 3)
    #expect(
      effects.prefix(2) == [.ask(.addresses, number: 2), .ask(.routes, number: 3)])
    #expect(effects.last == .tell(watch.path))
    #expect(watch.path.status == .up && watch.path.interface != 0)
    #expect(watch.nextDeadline == nil)
  }

  @Test(
    "F08: a default route of either family over a running interface with an address is up",
    arguments: [
      ("loopback-alone", PathStatus.down), ("default-v4", .up), ("default-both", .up),
      ("two-hops", .up), ("first-hop-down", .up),
    ])
  func level(_ name: String, _ status: PathStatus) throws {
    #expect(RouteWatch.after(try RecordedNetlink(name)).path.status == status)
  }

  @Test("F08: the number of the path is that of the way out: interface and gateway")
  func interface() throws {
    let number = try Dictionary(
      uniqueKeysWithValues: RecordedNetlink.looks.map {
        ($0.name, RouteWatch.after($0).path.interface)
      })
    #expect(number["default-both"] == number["default-v4"])
    #expect(number["two-hops"] == number["default-v4"])
    #expect(number["first-hop-down"] != number["two-hops"])
  }

  // MARK: Changes

  @Test("a default route that is announced is a reason to look, another route is none")
  func announcements() throws {
    let recorded = try RecordedNetlink("default-v4")
    var watch = RouteWatch.after(recorded)
    #expect(watch.receive(try RecordedNetlink("announced-other-route"), at: at(100)) == [])
    #expect(watch.nextDeadline == nil)
    #expect(watch.receive(try RecordedNetlink("announced-default-route"), at: at(100)) == question)
  }

  @Test("an announcement that bears our number and type is not an answer")
  func announcementsAreNoAnswers() throws {
    var watch = RouteWatch()
    _ = watch.started()
    let announced = try RecordedNetlink("announced-default-route").renumbered(by: 0)
    var numbered = announced
    for index in numbered.datagrams.indices {
      numbered.datagrams[index].replaceSubrange(8..<12, with: [1, 0, 0, 0])
    }
    #expect(watch.receive(numbered) == [])
    _ = watch.receive(try RecordedNetlink("loopback-alone"))
    #expect(watch.path == .down)
    // But what came while it looked makes it look again.
    #expect(watch.nextDeadline == at(0) + RouteWatch.rest)
  }

  @Test("a swarm of changes is one look, and at most one each 50 ms")
  func swarm() throws {
    let recorded = try RecordedNetlink("default-v4")
    let announced = try RecordedNetlink("announced-default-route")
    var watch = RouteWatch.after(recorded)
    #expect(watch.receive(announced, at: at(10)) == [])
    #expect(watch.receive(announced, at: at(20)) == [])
    #expect(watch.nextDeadline == at(50))
    #expect(watch.reached(at(49)) == [])
    #expect(watch.reached(at(50)) == question)
    #expect(watch.receive(announced, at: at(51)) == [])
    _ = watch.receive(recorded.renumbered(by: 3), at: at(60))
    #expect(watch.nextDeadline == at(110))
    #expect(watch.reached(at(110)) == [.ask(.links, number: 7)])
    _ = watch.receive(recorded.renumbered(by: 6), at: at(111))
    #expect(watch.nextDeadline == nil)
  }

  @Test("a look that finds the same tells nothing, one that finds another path tells it once")
  func deduplicated() throws {
    let up = try RecordedNetlink("default-v4")
    let down = try RecordedNetlink("loopback-alone")
    var watch = RouteWatch.after(up)
    let told = [up, down, down, up].enumerated().map { place, recorded in
      let now = at(Int64(place + 1) * 100)
      _ = watch.overrun(at: now)
      return watch.receive(recorded.renumbered(by: UInt32(place + 1) * 3), at: now)
        .filter { if case .tell = $0 { true } else { false } }
    }
    #expect(told == [[], [.tell(.down)], [], [.tell(watch.path)]])
  }

  // MARK: What goes wrong

  @Test("lost announcements lead to a new look, also when they are lost during one")
  func overrun() throws {
    let recorded = try RecordedNetlink("default-v4")
    var watch = RouteWatch.after(recorded)
    #expect(watch.overrun(at: at(100)) == question)
    #expect(watch.overrun(at: at(101)) == [])
    _ = watch.receive(recorded.renumbered(by: 3), at: at(102))
    #expect(watch.nextDeadline == at(152))
  }

  @Test("an answer that fits no moment is not told; it is asked for again")
  func interrupted() throws {
    let recorded = try RecordedNetlink("default-v4")
    var watch = RouteWatch()
    _ = watch.started()
    _ = watch.receive(recorded.interrupted)
    #expect(watch.path == .unknown)
    #expect(watch.reached(at(50)) == question)
    _ = watch.receive(recorded.renumbered(by: 3), at: at(51))
    #expect(watch.path.status == .up)
  }

  @Test("a refusal is followed by another try after a second, and what was known stands")
  func refused() throws {
    let recorded = try RecordedNetlink("default-v4")
    var watch = RouteWatch.after(recorded)
    let path = watch.path
    _ = watch.overrun(at: at(100))
    // EBUSY is 16.
    #expect(watch.receive(refusal(of: 4, error: 16), at: at(101)) == [])
    #expect(watch.path == path)
    #expect(watch.nextDeadline == at(1101))
    #expect(watch.reached(at(1101)) == [.ask(.links, number: 5)])
  }

  @Test("an answer that does not come is asked for again, and ignored if it comes after all")
  func lostQuestion() throws {
    let recorded = try RecordedNetlink("default-v4")
    var watch = RouteWatch()
    _ = watch.started()
    #expect(watch.nextDeadline == at(5000))
    #expect(watch.reached(at(5000)) == [.ask(.links, number: 2)])
    #expect(watch.receive(recorded.datagrams[0], at: at(5001)) == [])
    _ = watch.receive(recorded.renumbered(by: 1), at: at(5002))
    #expect(watch.path.status == .up)
  }

  // MARK: Any bytes

  @Test("datagrams that are cut at any byte tell nothing that is not so", arguments: 0..<5)
  func truncated(_ index: Int) throws {
    let recorded = try RecordedNetlink.looks[index]
    let whole = RouteWatch.after(recorded).path
    var watch = RouteWatch()
    _ = watch.started()
    for (place, datagram) in recorded.datagrams.enumerated() {
      for end in 0..<datagram.count {
        var cut = watch
        _ = cut.receive(datagram[..<end])
        #expect(cut.path == .unknown)
        #expect(cut.nextDeadline != nil)
      }
      _ = watch.receive(datagram)
      #expect(watch.path == (place == recorded.datagrams.count - 1 ? whole : .unknown))
    }
  }

  @Test("damaged and random datagrams lead to at most one question and one path each")
  func damaged() throws {
    var random = SplitMix64(seed: 8)
    for recorded in try RecordedNetlink.looks {
      for round in 0..<400 {
        var watch = RouteWatch()
        _ = watch.started()
        for datagram in recorded.datagrams {
          var damaged = datagram
          for _ in 0...round % 8 {
            let place = Int(random.next(through: UInt64(damaged.count - 1)))
            damaged[place] = UInt8(random.next(through: 255))
          }
          if round % 3 == 0 {
            damaged = (0..<Int(random.next(through: 128))).map { _ in
              UInt8(random.next(through: 255))
            }
          }
          #expect(watch.receive(damaged).count <= 3)
        }
      }
    }
  }
}
