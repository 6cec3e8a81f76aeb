import ConnectionFSM

// A link, and nothing that befalls.

extension Condition {
  static let ofLinks: [Condition] = [
    on(
      "loopback",
      LinkProfile(
        "loopback", about: "Two programs on one machine: 8 µs each way",
        source: "Measured over loopback sockets on Linux 6.18: 15 µs a round trip on one core",
        up: Channel(latency: .constant(.microseconds(8))),
        down: Channel(latency: .constant(.microseconds(8))))),
    on("fios", .wptFios), on("cable", .wptCable), on("dsl", .wptDSL),
    on("wifi-good", .str0mWiFi), on("wifi-lossy", .str0mWiFiLossy),
    on("wifi-congested", .str0mWiFiCongested), on("lte", lte), on("3g", .wpt3G), on("edge", edge),
    on("2g-rural", .atc2GDevelopingRural), on("satellite-geo", .str0mSatellite),
    on("starlink", starlink), on("nlc-very-bad", .nlcVeryBadNetwork),
    on("high-latency-dns", .nlcHighLatencyDNS),
  ]

  private static func on(_ name: String, _ link: LinkProfile) -> Condition {
    Condition(name, link.about, source: link.source, lasts: .seconds(120), link: link)
  }

  private static let lte: LinkProfile = {
    var link = LinkProfile.wptLTE
    let wakeUp = RadioWakeUp(idle: .seconds(10), promotion: .milliseconds(100))
    link.up.wakeUp = wakeUp
    link.down.wakeUp = wakeUp
    link.about += ", and 100 ms to wake the radio after 10 s of silence"
    link.source += "; hpbn.co chapter 7 (less than 100 ms from idle); the 10 s are our own figure"
    return link
  }()

  private static let edge: LinkProfile = {
    var link = LinkProfile.nlcEdge
    link.up.buffer = 100_000
    link.about += ", and 100 kB of buffer on the way up, which take 4 s"
    link.source += "; the buffer is our own figure"
    return link
  }()

  private static let starlink: LinkProfile = {
    var link = LinkProfile.comcastStarlink
    let spikes = Spikes.periodic(
      every: .seconds(15), opening: .milliseconds(140), closing: .milliseconds(75))
    link.up.spikes = spikes
    link.down.spikes = spikes
    link.about += ", and every 15 s it stands still for 75 + 140 ms"
    link.source += "; arXiv 2601.08439 (satellites are allotted anew every 15 s)"
    return link
  }()
}
