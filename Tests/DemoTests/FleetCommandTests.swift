import Foundation
import Testing

/// A server of 50 handshakes a second and 400 places for 1,000 clients: so few that a debug build
/// plays them at once.
private let small = ["fleet", "--clients", "1000", "--server", "rate=50,backlog=400"]

@Suite("fsm-demo fleet")
struct FleetCommandTests {
  @Test(
    "policies stand side by side: in step they come all at once, jittered they do not (F11, RC038)")
  func comparison() throws {
    let run = try Demo(small + ["--policy", "xt", "--policy", "actionCable"]).finish()
    #expect(run.status == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "1,000 clients come back to a restarted server")
    #expect(lines.contains("No server of this rate has served all before 25 s."))
    let head = try #require(lines.firstIndex { $0.hasPrefix("policy ") })
    let cells = lines[head...].prefix(3).map { $0.split(whereSeparator: \.isWhitespace) }
    #expect(cells[0].contains("peak"))
    // The policy, dials each, refused, dropped, wasted, peak.
    #expect(cells[1][0] == "xt" && cells[1][5] == "1,000")
    #expect(try cells[2][0] == "actionCable" && #require(Int(cells[2][5])) < 60)
  }

  @Test("the output is the same for any number of threads")
  func threads() throws {
    let words = small + ["--policy", "default", "--policy", "socketIO", "--seeds", "1..3"]
    let one = try Demo(words + ["--jobs", "1"]).finish()
    let four = try Demo(words + ["--jobs", "4"]).finish()
    #expect(one.status == 0)
    #expect(one.output == four.output)
    #expect(one.output.contains("±"))
  }

  @Test("a file has a line a policy and seed, and empty fields for who never came back")
  func csv() throws {
    try Demo.withFile("") { path in
      let words = small + ["--policy", "signalR", "--seeds", "3..4", "--csv", path]
      // Its fourth and last try is 42 s after the loss, and the server is gone for an hour.
      let run = try Demo(words + ["--outage", "restart:1h", "--limit", "2h"]).finish()
      #expect(run.status == 0, "\(run.errors)")
      let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      #expect(lines.count == 3)
      let names = lines[0].split(separator: ",").map(String.init)
      let fields = lines[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      #expect(fields.prefix(3) == ["signalR", "3", "4.0"])
      #expect(try fields[#require(names.firstIndex(of: "t50"))].isEmpty)
      #expect(try fields[#require(names.firstIndex(of: "connected"))] == "0.0")
      #expect(run.output.contains("never"))
    }
  }

  @Test("the page has the table and the charts, and asks nothing of the network")
  func page() throws {
    try Demo.withFile("") { path in
      let run = try Demo(small + ["--policy", "default", "--html", path]).finish()
      #expect(run.status == 0, "\(run.errors)")
      let page = try String(contentsOfFile: path, encoding: .utf8)
      #expect(page.contains("1,000 clients come back to a restarted server"))
      #expect(page.contains("<svg"))
      #expect(page.contains("--clients 1000"))
      #expect(!page.contains("<script") && !page.contains("src=") && !page.contains("<link"))
    }
  }

  @Test("a policy from a file is one of the policies")
  func file() throws {
    try Demo.withFile(#"{ "backoff": { "jitter": "full", "cap": 7, "base": 2, "first": 5 } }"#) {
      path in
      let run = try Demo(small + ["--policy", path]).finish()
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  @Test("advice is a front: the later back, the lower the peak; each policy can be pasted")
  func advice() throws {
    let words = ["fleet", "--advise", "--clients", "60", "--server", "rate=30,backlog=20"]
    let run = try Demo(words + ["--outage", "restart:1s", "--limit", "60s"]).finish()
    #expect(run.status == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n").map(String.init)
    let head = try #require(lines.firstIndex { $0.hasPrefix("99 % back") })
    let rows = lines[(head + 1)...].prefix { $0.contains(" jitter ") }
      .map { $0.split(separator: " ", omittingEmptySubsequences: true) }
    let times = try rows.map { try #require(Double($0[0])) }
    let peaks = try rows.map { try #require(Int($0[2])) }
    #expect(!rows.isEmpty)
    #expect(times == times.sorted())
    #expect(peaks == peaks.sorted(by: >))
    #expect(lines.count { $0.hasPrefix("try Policy(") } == rows.count)
  }

  @Test(
    "what makes no sense ends with 64, and says what would do",
    arguments: [
      (["--outage", "storm"], "there are restart:5s, silence:5s, drain:60s, zone:17%"),
      (["--outage", "restart"], "needs a time, as in restart:5s"),
      (["--outage", "zone:0"], "server.outage: must be a loss of 1 to 100 percent"),
      (["--server", "rate=0"], "rate is handshakes a second, as in rate=500"),
      (["--server", "speed=1"], "there are rate, backlog, shed, retry-after, latency"),
      (["--server", "backlog=many"], "needs a whole number, as in backlog=4096"),
      (["--policy", "best"], "“best” is unknown; there are default, xt, doubling"),
      (["--limit", "5"], "is no time such as 250ms, 5s, 1.5min or 2h"),
      (["--connect-deadline", "10ms"], "must be longer than the longest round trip"),
      (["--clients", "0"], "is no whole number from 1 to 10000000"),
      (["--advise", "--csv", "x"], "no --csv, --json or --html beside it"),
    ])
  func usage(words: [String], problem: String) throws {
    let run = try Demo(["fleet"] + words).finish()
    #expect(run.status == 64)
    #expect(run.output.isEmpty)
    #expect(run.errors.contains(problem), "\(run.errors)")
  }
}
