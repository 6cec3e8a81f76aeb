import ConnectionFSM
import NetSim
import Testing

/// A row of the reference table, read without regard to the profiles.
private struct Row {
  let fields: [String]

  var name: String { fields[0] }
  var source: String { fields[1] }

  /// The first two whole numbers of a field, in milliseconds: down and up, or one for both.
  func pair(_ place: Int, separator: Character = "/") -> (down: TimeSpan, up: TimeSpan) {
    let numbers = fields[place].split(separator: separator).map { part in
      TimeSpan.milliseconds(Int64(part.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 0)
    }
    let down = numbers.first ?? .zero
    return (down, numbers.count > 1 ? numbers[1] : down)
  }

  func rate(_ place: Int) -> DataRate? { Int64(fields[place]).map { .kilobits($0) } }

  /// A percentage in ten thousand.
  func share(_ place: Int) -> Int {
    let parts = fields[place].prefix { $0.isNumber || $0 == "." }.split(separator: ".")
    let tenths = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    return (parts.first.flatMap { Int($0) } ?? 0) * 100 + tenths * 10
  }
}

@Suite("Link: named profiles")
struct LinkProfileTests {
  private static func rows() throws -> [Row] {
    try Fixtures.text("network-profiles.csv").split(separator: "\n").dropFirst().map { line in
      Row(fields: line.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
    }
  }

  /// Rows that are no link, and why.
  private static let left: [String: String] = [
    "nlc-100-loss": "nothing passes: a block, not a link",
    "jepsen-default-delay": "done to a link that is there",
    "jepsen-default-flaky": "done to a link that is there",
  ]

  @Test("every row of the reference table is a profile, but for those that are no link")
  func complete() throws {
    let names = try Self.rows().map(\.name)
    #expect(names.count == 51)
    let expected = names.filter { Self.left[$0] == nil }
    #expect(LinkProfile.all.map(\.name) == expected)
    #expect(expected.count == 48)
  }

  @Test("names are unique, and no profile lacks a description or a source")
  func described() {
    #expect(Set(LinkProfile.all.map(\.name)).count == LinkProfile.all.count)
    for profile in LinkProfile.all {
      #expect(!profile.about.isEmpty)
      #expect(!profile.source.isEmpty)
      #expect(LinkProfile.named(profile.name) == profile)
    }
    #expect(LinkProfile.named("nlc-wifi") == nil)
    #expect(LinkProfile.named("nlc-lte") == nil)
  }

  @Test("every profile can be")
  func sound() throws {
    for profile in LinkProfile.all + [.perfect] { try profile.validate() }
  }

  @Test("every profile has the rates of its row")
  func rates() throws {
    for row in try Self.rows() {
      guard let profile = LinkProfile.named(row.name) else { continue }
      #expect(profile.down.rate == row.rate(2), "\(row.name)")
      // What the table gives for one direction alone is true of both.
      #expect(profile.up.rate == row.rate(3) ?? row.rate(2), "\(row.name)")
    }
  }

  @Test("every profile has the latency of its row, one way")
  func latencies() throws {
    for row in try Self.rows() {
      guard let profile = LinkProfile.named(row.name) else { continue }
      let (down, up) = row.pair(4)
      let expected: (down: TimeSpan, up: TimeSpan)
      switch row.fields[5] {
      case "one-way each direction", "one-way", "latency": expected = (down, up)
      case "RTT", "added latency": expected = (Self.half(down), Self.half(up))
      case "target RTT; DevTools multiplies by 5", "target RTT; DevTools multiplies by 3.75",
        "target RTT; DevTools multiplies by 2.75":
        expected = (Self.half(down), Self.half(up))
      case "added to DNS answers only":
        expected = (.zero, .zero)
        #expect(profile.resolverDelay == down)
      default:
        Issue.record("\(row.name): what is meant by \(row.fields[5])?")
        continue
      }
      #expect(profile.down.latency.shape == .constant(expected.down), "\(row.name)")
      #expect(profile.up.latency.shape == .constant(expected.up), "\(row.name)")
      #expect(profile.resolverDelay == .zero || row.name == "nlc-high-latency-dns")
    }
  }

  private static func half(_ span: TimeSpan) -> TimeSpan { .nanoseconds(span.nanoseconds / 2) }

  @Test("every profile has the jitter of its row")
  func jitters() throws {
    for row in try Self.rows() {
      guard let profile = LinkProfile.named(row.name) else { continue }
      let (down, up) = row.pair(8)
      #expect(profile.down.latency.jitter == down, "\(row.name)")
      #expect(profile.up.latency.jitter == up, "\(row.name)")
    }
  }

  @Test("every profile loses as much as its row says, str0m's in bursts")
  func losses() throws {
    // Mean packets through and lost, as str0m has them in loss.rs.
    let bursts: [String: Loss] = [
      "str0m-wifi": .bursts(meanGood: 200, meanBad: 2),
      "str0m-wifi-lossy": .bursts(meanGood: 40, meanBad: 2),
      "str0m-wifi-congested": .bursts(meanGood: 20, meanBad: 2),
      "str0m-cellular": .bursts(meanGood: 100, meanBad: 2),
      "str0m-satellite": .bursts(meanGood: 100, meanBad: 3),
      "str0m-congested": .bursts(meanGood: 20, meanBad: 2),
    ]
    for row in try Self.rows() {
      guard let profile = LinkProfile.named(row.name) else { continue }
      if let expected = bursts[row.name], case .bursts(let good, let bad) = expected {
        #expect(profile.down.loss == expected, "\(row.name)")
        #expect(profile.up.loss == expected, "\(row.name)")
        // The row rounds the share that such bursts lose to a percent.
        let share = bad * 10_000 / (good + bad)
        #expect(abs(share - row.share(6)) < 100, "\(row.name)")
      } else {
        #expect(profile.down.loss == Self.independent(row.share(6)), "\(row.name)")
        #expect(profile.up.loss == Self.independent(row.share(7)), "\(row.name)")
      }
    }
  }

  private static func independent(_ share: Int) -> Loss {
    share == 0 ? .none : .independent(perTenThousand: share)
  }

  @Test("str0m's profiles have their buffers, the others none")
  func buffers() throws {
    for row in try Self.rows() {
      guard let profile = LinkProfile.named(row.name) else { continue }
      let words = row.fields[9].split(separator: " ")
      let buffer = words.first == "buffer" ? Int(words[1]).map { $0 * 1000 } : nil
      #expect(profile.down.buffer == buffer, "\(row.name)")
      #expect(profile.up.buffer == buffer, "\(row.name)")
      #expect((buffer != nil) == (row.source == "str0m netem"))
    }
  }

  @Test("descriptions tell the figures")
  func figures() {
    let expected: [(LinkProfile, String)] = [
      (.wptFios, "Fibre: 20000 kbit/s down, 5000 up, 2 ms each way"),
      (
        .nlcEdgeLossy,
        "EDGE, lossy: 240 kbit/s down, 200 up, 400 ms down, 440 ms up, 1 % lost down"
      ),
      (.comcastDialUp, "A telephone modem: 40 kbit/s, 92.5 ms each way, 2 % lost"),
      (.comcastEdge, "EDGE: 250 kbit/s, 150 ms each way, 1.5 % lost"),
      (.str0mWiFi, "Wi-Fi: 100000 kbit/s, 5 ms ± 2 ms each way, 2 lost after 200"),
      (.nlcHighLatencyDNS, "A slow resolver: 0 ms each way, 3000 ms more for names"),
    ]
    for (profile, about) in expected { #expect(profile.about == about) }
  }

  @Test("a client on every profile opens a connection and is answered")
  func live() {
    for profile in LinkProfile.all {
      var rig = Rig(seed: 5, link: profile)
      let socket = rig.dial()
      rig.run(for: .seconds(60))
      #expect(rig.takeLog().contains { $0.hasPrefix("opened") }, "\(profile.name)")
      rig.write("ping", to: socket)
      rig.run(for: .seconds(60))
      let server = rig.sockets[0]
      #expect(rig.readAll(server).hasPrefix("ping"), "\(profile.name)")
      rig.write("pong", to: server)
      rig.run(for: .seconds(60))
      #expect(rig.readAll(socket).hasPrefix("pong"), "\(profile.name)")
    }
  }
}
