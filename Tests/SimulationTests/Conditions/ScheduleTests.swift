import ConnectionFSM
import NetSim
import Testing

@Suite("Conditions: what befalls when")
struct ScheduleTests {
  /// A visitor that is connected.
  private func connected(_ name: String, seed: UInt64 = 1) throws -> Visitor {
    var visitor = try Visitor(name, seed: seed)
    visitor.dial()
    visitor.run(until: 4)
    let log = visitor.takeLog()
    #expect(log.count == 1 && log[0].hasPrefix("opened"), "\(log)")
    return visitor
  }

  @Test("commuter: out for 15 s with a loud death, then to and fro in silence")
  func commuter() throws {
    var visitor = try connected("commuter")
    visitor.run(until: 46)
    #expect(
      visitor.takeLog() == [
        "(system(connectionAborted)) 30000", "path down 0 30000", "path up 2 45000",
      ])
    visitor.dial()
    visitor.run(until: 60)
    #expect(visitor.takeLog().first?.hasPrefix("opened") == true)
    visitor.run(until: 66)
    visitor.ask("x")
    visitor.run(until: 84)
    #expect(visitor.takeLog() == ["path up 1 65000"])
    visitor.run(until: 180)
    // The way back to cellular wakes what was silent, for whoever waited so long.
    let log = visitor.takeLog()
    #expect(log.first == "path up 2 85000" && log.last == "path up 1 110000")
    #expect(log.contains { $0.hasPrefix("x ") })
  }

  @Test("tunnel: what is asked inside is answered outside")
  func tunnel() throws {
    var visitor = try connected("tunnel")
    visitor.run(until: 31)
    visitor.ask("x")
    visitor.run(until: 60)
    #expect(visitor.takeLog() == [])
    visitor.run(until: 120)
    let first = try #require(visitor.takeLog().first)
    #expect(first.hasPrefix("x "))
    visitor.run(until: 125)
    visitor.ask("y")
    visitor.run(until: 209)
    #expect(visitor.takeLog() == [])
    visitor.run(until: 360)
    #expect(visitor.takeLog().first?.hasPrefix("y ") == true)
  }

  @Test("captive-portal: a portal answers until the login")
  func portal() throws {
    var visitor = try connected("captive-portal")
    visitor.ask("hello")
    visitor.run(until: 10)
    #expect(visitor.takeLog().first?.hasPrefix("HTTP/1.1 302 Found") == true)
    #expect(visitor.served == "")
    visitor.run(until: 61)
    _ = visitor.takeLog()
    visitor.dial()
    visitor.run(until: 65)
    visitor.ask("hello")
    visitor.run(until: 70)
    #expect(visitor.served == "hello")
  }

  @Test("ios-suspend: asleep for two minutes, and the socket is gone")
  func suspended() throws {
    var visitor = try connected("ios-suspend")
    visitor.run(until: 200)
    #expect(
      visitor.takeLog() == [
        "asleep 60000", "(system(connectionAborted)) 180000", "awake 180000",
      ])
  }

  @Test("android-doze and laptop-lid: asleep and awake by the hour")
  func asleep() throws {
    var doze = try connected("android-doze")
    doze.run(until: 21 * 3600)
    let hours = doze.takeLog().map { line in
      let words = line.split(separator: " ")
      return "\(words[0]) \((Int64(words[1]) ?? 0) / 60_000)"
    }
    #expect(
      hours == [
        "asleep 60", "awake 120", "asleep 125", "awake 245", "asleep 250", "awake 490",
        "asleep 495", "awake 855", "asleep 860", "awake 1220",
      ])
    var laptop = try connected("laptop-lid")
    laptop.run(until: 9 * 3600)
    #expect(laptop.takeLog() == ["asleep 60000", "awake 28860000"])
  }

  @Test("flap: fifteen times away for 2 s")
  func flap() throws {
    var visitor = try connected("flap")
    visitor.run(until: 180)
    let log = visitor.takeLog()
    #expect(log.count == 30)
    #expect(log.prefix(3) == ["path down 0 30000", "path up 1 32000", "path down 0 34000"])
  }

  @Test("one-way-up and one-way-down: what arrives, and what does not")
  func oneWay() throws {
    for (name, pingsArrive) in [("one-way-up", true), ("one-way-down", false)] {
      var visitor = try connected(name)
      visitor.run(until: 40)
      visitor.ask("ping")
      visitor.run(until: 150)
      #expect((visitor.served == "ping") == pingsArrive, "\(name)")
      #expect(visitor.takeLog() == [], "\(name)")
      visitor.run(until: 300)
      #expect(visitor.takeLog().first?.hasPrefix("ping") == true, "\(name)")
    }
  }

  @Test("rolling-deploy ends connections within 30 s, gfe-24h after a day")
  func ordered() throws {
    var deploy = try connected("rolling-deploy")
    deploy.run(until: 100)
    let log = deploy.takeLog()
    #expect(log.count == 1 && log[0].hasPrefix("(end) "))
    let time = Int64(log.first?.dropFirst(6) ?? "") ?? 0
    #expect((60_000...90_020).contains(time))
    deploy.dial()
    deploy.run(until: 101)
    #expect(deploy.takeLog() == ["opened 100028"])
    var day = try connected("gfe-24h")
    day.run(until: 86_500)
    #expect(day.takeLog() == ["(end) 86400014"])
  }

  @Test("zone-loss-17pct: 17 of 100 connections go silent")
  func zone() throws {
    var lost = 0
    for seed: UInt64 in 0..<400 {
      var visitor = try connected("zone-loss-17pct", seed: seed)
      visitor.run(until: 61)
      visitor.ask("x")
      visitor.run(until: 62)
      if visitor.takeLog().isEmpty { lost += 1 }
    }
    // 68 expected, within 5 standard errors: 5·√(400·0.17·0.83) = 37.
    #expect((31...105).contains(lost), "\(lost)")
  }

  @Test("full-restart: reset, refused, there again")
  func restart() throws {
    var visitor = try connected("full-restart")
    visitor.run(until: 65)
    let log = visitor.takeLog()
    #expect(log.count == 1 && log[0].hasPrefix("(system(connectionReset)) 60"))
    visitor.dial()
    visitor.run(until: 70)
    #expect(visitor.takeLog() == ["failed system(connectionRefused) 65028"])
    visitor.dial()
    visitor.run(until: 71)
    #expect(visitor.takeLog() == ["opened 70028"])
  }

  @Test("accept-queue-128: who comes with the crowd is not answered at first")
  func queue() throws {
    var visitor = try Visitor("accept-queue-128")
    visitor.run(until: .origin + .milliseconds(5900))
    visitor.dial()
    visitor.run(until: 180)
    let opened = try #require(visitor.takeLog().first)
    #expect(opened.hasPrefix("opened "))
    let time = Int64(opened.dropFirst(7)) ?? 0
    // Tries come after 1, 3, 7, 15 … s.
    #expect(time >= 6900 && time % 1000 == 928, "\(opened)")
  }

  @Test("tls-storm: who comes after the crowd waits for the server's work")
  func storm() throws {
    var visitor = try Visitor("tls-storm")
    visitor.run(until: 6)
    visitor.dial()
    visitor.run(until: .origin + .milliseconds(6100))
    #expect(visitor.takeLog() == ["opened 6028"])
    visitor.ask("x")
    visitor.run(until: 20)
    // 4,000 handshakes from 5.0 s on at 2,000 a second, and one more.
    #expect((7000...7040).contains(visitor.servedAt), "\(visitor.servedAt)")
  }

  @Test("zombie-server: open, and nobody there")
  func zombie() throws {
    var visitor = try connected("zombie-server")
    visitor.ask("x")
    visitor.run(until: 300)
    #expect(visitor.takeLog() == [])
    #expect(visitor.served == "")
  }

  @Test("metastable-280qps: the outage leaves a queue that the server never works off")
  func metastable() throws {
    var visitor = try connected("metastable-280qps")
    visitor.ask("a")
    visitor.run(until: 20)
    #expect((4000...4500).contains(visitor.servedAt), "\(visitor.servedAt)")
    visitor.run(until: 37)
    visitor.dial()
    visitor.run(until: 38)
    _ = visitor.takeLog()
    visitor.ask("b")
    visitor.run(until: 60)
    // Ten seconds of dials are 2,800; it does 20 a second more than come.
    #expect(visitor.served.hasSuffix("b"))
    #expect(visitor.servedAt > 42_000, "\(visitor.servedAt)")
  }
}
