import ConnectionFSM
import NetSim
import Testing

@Suite("Conditions by name")
struct ConditionTests {
  @Test("there are the 39 that were asked for, two of them in two forms, each with a source")
  func names() {
    let names = [
      "loopback", "fios", "cable", "dsl", "wifi-good", "wifi-lossy", "wifi-congested", "lte", "3g",
      "edge", "2g-rural", "satellite-geo", "starlink", "nlc-very-bad", "high-latency-dns",
      "dns-dead", "blackhole-linux", "blackhole-darwin", "nat-rfc5382", "nlb-350-rst",
      "alb-60-fin", "azure-4min-silent", "commuter", "tunnel", "captive-portal", "ios-suspend",
      "android-doze", "laptop-lid", "rolling-deploy", "gfe-24h", "zone-loss-17pct",
      "full-restart", "accept-queue-128", "tls-storm", "zombie-server", "ipv6-broken",
      "one-way-up", "one-way-down", "ping-equals-idle-60", "flap", "metastable-280qps",
    ]
    #expect(Condition.all.map(\.name).sorted() == names.sorted())
    for condition in Condition.all {
      #expect(!condition.about.isEmpty)
      #expect(!condition.source.isEmpty)
      #expect(condition.duration > .zero)
    }
    #expect(Condition.named("wifi") == nil)
  }

  @Test("a stage of one seed goes the same way each time", arguments: Condition.all.map(\.name))
  func sameTwice(name: String) throws {
    func told() throws -> [String] {
      var visitor = try Visitor(name, seed: 77)
      visitor.resolve()
      visitor.dial()
      for second: Int64 in [1, 20, 40, 65, 100] {
        visitor.run(until: second)
        visitor.ask("ping")
      }
      visitor.run(until: 200)
      return visitor.log
    }
    let first = try told()
    let second = try told()
    #expect(first == second)
    #expect(!first.isEmpty)
  }

  @Test(
    "on a link alone a question is answered, and the link is what its name says",
    arguments: [
      ("loopback", 0), ("fios", 4), ("cable", 28), ("dsl", 50), ("lte", 70), ("3g", 300),
      ("edge", 840), ("2g-rural", 1300), ("high-latency-dns", 0),
    ])
  func roundTrips(name: String, milliseconds: Int64) throws {
    var visitor = try Visitor(name)
    visitor.dial()
    visitor.run(until: 9)
    visitor.ask("x")
    _ = visitor.takeLog()
    visitor.run(until: 60)
    let answer = try #require(visitor.takeLog().first)
    #expect(answer.hasPrefix("x "), "\(answer)")
    let time = (answer.split(separator: " ").last.flatMap { Int64($0) } ?? 0) - 9000
    // A byte takes 0.4 ms at 20 kbit/s; a loss would take 2 s and more.
    #expect((milliseconds...milliseconds + 2).contains(time), "\(answer)")
  }

  @Test("the radio of lte wakes up once a question")
  func radio() throws {
    var visitor = try Visitor("lte")
    visitor.dial()
    visitor.run(until: 1)
    #expect(visitor.takeLog() == ["opened 170"])
    visitor.run(until: 30)
    visitor.ask("x")
    visitor.run(until: 31)
    #expect(visitor.takeLog() == ["x 30170"])
  }

  @Test("edge has seconds of buffer on the way up")
  func bufferbloat() throws {
    var visitor = try Visitor("edge")
    visitor.dial()
    visitor.run(until: 10)
    visitor.ask([UInt8](repeating: 0x2E, count: 80_000))
    visitor.ask("!")
    visitor.run(until: 60)
    #expect(visitor.served.hasSuffix(".!"))
    // 80 kB at 200 kbit/s are 3.2 s, and 0.44 s on the way.
    #expect((13_640...13_660).contains(visitor.servedAt), "\(visitor.servedAt)")
  }

  @Test("starlink stands still every 15 s")
  func starlink() throws {
    var visitor = try Visitor("starlink", seed: 2)
    visitor.dial()
    visitor.run(until: 10)
    _ = visitor.takeLog()
    visitor.ask("a")
    visitor.run(until: 15)
    #expect(visitor.takeLog() == ["a 10020"])
    visitor.ask("b")
    visitor.run(until: 20)
    #expect(visitor.takeLog() == ["b 15160"])
  }

  @Test("names take 3 s more, or are given up after 10 s")
  func resolvers() throws {
    var slow = try Visitor("high-latency-dns")
    slow.resolve()
    slow.run(until: 20)
    #expect(slow.takeLog() == ["2 addresses 3000"])
    var dead = try Visitor("dns-dead")
    dead.resolve()
    dead.run(until: 20)
    #expect(dead.takeLog() == ["resolution(temporaryFailure) 10000"])
  }

  @Test("a black hole is given up after 127 s or 75 s, whatever the address")
  func blackHoles() throws {
    for (name, milliseconds) in [("blackhole-linux", 127_000), ("blackhole-darwin", 75_000)] {
      for version6 in [false, true] {
        var visitor = try Visitor(name)
        visitor.dial(version6: version6)
        visitor.run(until: 200)
        #expect(visitor.takeLog() == ["failed system(timedOut) \(milliseconds)"])
      }
    }
  }

  @Test("ipv6-broken answers over version 4 alone")
  func version6() throws {
    var visitor = try Visitor("ipv6-broken")
    visitor.dial(version6: true)
    visitor.run(until: 200)
    #expect(visitor.takeLog() == ["failed system(timedOut) 127000"])
    visitor.dial()
    visitor.run(until: 201)
    #expect(visitor.takeLog() == ["opened 200028"])
  }
}

@Suite("Conditions: boxes that forget")
struct BoxConditionTests {
  /// What the client hears that asks once when it has been silent for so long.
  private func silence(_ seconds: Int64, under name: String) throws -> [String] {
    var visitor = try Visitor(name)
    visitor.dial()
    visitor.run(until: 1)
    visitor.ask("x")
    visitor.run(until: 2)
    _ = visitor.takeLog()
    visitor.run(until: 2 + seconds)
    visitor.ask("y")
    visitor.run(until: 2 + seconds + 30)
    return visitor.takeLog().map { $0.split(separator: " ").dropLast().joined(separator: " ") }
  }

  @Test("a silent box swallows what comes after its idle time")
  func silent() throws {
    for (name, idle) in [("nat-rfc5382", 7440), ("azure-4min-silent", 240)] as [(String, Int64)] {
      #expect(try silence(idle - 2, under: name) == ["y"])
      #expect(try silence(idle + 2, under: name) == [])
    }
  }

  @Test("nlb-350-rst answers with a reset")
  func reset() throws {
    #expect(try silence(348, under: "nlb-350-rst") == ["y"])
    #expect(try silence(352, under: "nlb-350-rst") == ["(system(connectionReset))"])
  }

  @Test("alb-60-fin ends the connection by itself")
  func finish() throws {
    #expect(try silence(58, under: "alb-60-fin") == ["y"])
    let heard = try silence(63, under: "alb-60-fin")
    #expect(heard.first == "(end)")
  }

  @Test("ping-equals-idle-60 spares whoever is quicker, and no other")
  func equal() throws {
    #expect(try silence(59, under: "ping-equals-idle-60") == ["y"])
    let heard = try silence(60, under: "ping-equals-idle-60")
    #expect(heard.first == "(end)")
  }
}
