// A row for each kind, in order of their numbers.

extension FaultKind {
  static let facts: [Facts] = dialling + ends + way + device + servers

  private static let dialling: [Facts] = [
    Facts(
      "connect-refused", "The dial fails with ECONNREFUSED after one round trip.",
      means: "`Fault.refuse`, or a port that nobody serves", source: "RFC 9293 section 3.10.7.1"),
    Facts(
      "black-hole", "Nothing, and then ETIMEDOUT: after 127 s on Linux, 75 s on Darwin.",
      means: "`Fault.deaf`, or an address that nobody has",
      source: "ip-sysctl `tcp_syn_retries`; `net.inet.tcp.keepinit`; "
        + "blog.cloudflare.com, when-tcp-sockets-refuse-to-die"),
    Facts(
      "unreachable", "The dial fails at once with EHOSTUNREACH, ENETUNREACH or ENETDOWN.",
      means: "`Fault.failLocally`, `Fault.leaveNetwork`", source: "connect(2)"),
    Facts(
      "accept-queue-overflow",
      "Dials are not answered, or are refused, while the accept queue is full.",
      means: "`Service(backlog:overflow:accepts:)`",
      source: "Linux `somaxconn` 4096, 128 before 5.4; `tcp_abort_on_overflow`"),
    Facts(
      "zombie-server", "The dial opens, what is written is taken, and no byte ever comes.",
      means: "`Service.zombie`", source: "listen(2): the system accepts without the program"),
    Facts(
      "slow-handshake", "The server's first answer is late by the work on those before.",
      means: "`Service(handshakeWork:)`",
      source: "shadrin.org, nginx-ssl-performance: 2,000 handshakes a second and core"),
    Facts(
      "unknown-name", "The resolver says soon that there is no such name.",
      means: "`Fault.unknownName`, or a name that nobody has", source: "RFC 1035 section 4.1.1"),
    Facts(
      "resolver-timeout", "The resolver gives up after 10 s: 5 s, twice.",
      means: "`Fault.silentName`", source: "resolv.conf(5)"),
    Facts(
      "slow-resolver", "The addresses are late by 3 s.",
      means: "`Fault.slowName`, `LinkProfile.resolverDelay`",
      source: "Network Link Conditioner, High Latency DNS"),
    Facts(
      "stale-name", "The resolver gives addresses where nobody is any more.",
      means: "`Fault.moveName`", source: "FoundationDB's simulator: up to 2 s late"),
    Facts(
      "broken-version-6", "The preferred address of a host is never answered, the other one is.",
      means: "`Fault.deaf` with the address of version 6",
      source: "RFC 8305: the next address after 250 ms"),
    Facts(
      "tls-failure", "The server's certificate, name or version is wrong, after two round trips.",
      means: "`Service.failingTLS`", source: "RFC 8446 section 4.4"),
    Facts(
      "handshake-cut", "An end or a reset after some bytes of the handshake.",
      means: "`Service.cuttingTLS`", source: "a deployment during the handshake"),
    Facts(
      "upgrade-refused", "HTTP 401, 403, 429 or 503, perhaps with a Retry-After.",
      means: "`Service.refusingUpgrade`", source: "RFC 6455 section 4.1, RFC 9110 section 10.2.3"),
  ]

  private static let ends: [Facts] = [
    Facts(
      "reset",
      "ECONNRESET, then EPIPE; what was not read is lost where the system follows the RFC.",
      means: "`Fault.resetAll`, `Fault.cut`, `Internet.reset`",
      source: "RFC 9293 section 3.10.7.4; Linux measured"),
    Facts(
      "finish", "Reads give the end behind the last byte; writes are still taken.",
      means: "`Fault.closeAll`, `ServerAct.finish`, `IdleReaper.awsALB`",
      source: "RFC 9293 section 3.6; AWS documentation"),
    Facts(
      "write-after-finish",
      "The first write behind the peer's close is taken, the second is EPIPE.",
      means: "`ServerAct.close`, `Internet.close`", source: "Linux measured"),
    Facts(
      "silent-half-open",
      "Nothing at all; writes are taken, and fail after 924.6 s with ETIMEDOUT.",
      means: "`Fault.sever`, `Fault.crash`",
      source: "ip-sysctl `tcp_retries2`; blog.cloudflare.com, when-tcp-sockets-refuse-to-die"),
    Facts(
      "idle-expiry", "After an idle time as silent-half-open, or a reset, or a FIN.",
      means: "`Internet.addReaper` with a profile of `IdleReaper.all`",
      source: "the `source` of each profile"),
    Facts(
      "one-way-partition", "What is sent arrives and no answer comes back, or the reverse.",
      means: "`Fault.block(from:to:_:)` for one direction",
      source: "TigerBeetle's VOPR, turmoil `partition_oneway`"),
    Facts(
      "partition-and-heal", "A stall, and then all at once.",
      means: "`Fault.block` and `Fault.unblock`, dropping or holding",
      source: "HotOS 2021, an outage of 10 s and then all at once"),
  ]

  private static let way: [Facts] = [
    Facts(
      "latency", "Everything takes longer.", means: "`Fault.link`, `LinkProfile`, `Latency`",
      source: "hpbn.co chapter 7; FoundationDB's simulator"),
    Facts(
      "latency-spikes", "Now and then an answer is late.", means: "`Spikes.periodic`",
      source: "arXiv 2601.08439: Starlink, 140 ms and 75 ms every 15 s"),
    Facts(
      "radio-wake-up", "The first byte after a pause is late.", means: "`RadioWakeUp`",
      source: "hpbn.co chapter 7: below 100 ms from idle"),
    Facts(
      "bandwidth", "Writes would block, and what is taken is long under way.",
      means: "`Channel(rate:buffer:)`",
      source: "Edge in the link profiles: 200 kbit/s and 100 kB of buffer are 4 s"),
    Facts(
      "zero-window", "Writes stall for as long as the peer does not read.",
      means: "`ServerAct.hang`, a program that does not read",
      source: "blog.cloudflare.com, when-tcp-sockets-refuse-to-die"),
    Facts(
      "partial-write", "A write takes less than it was given.",
      means: "`Chunking.random`, `OperatingSystem.sendBuffer`",
      source: "FoundationDB's simulator: fewer than 1,000 bytes"),
    Facts(
      "chunked-reads", "Reads give pieces cut anywhere, or several writes at once.",
      means: "`Fault.chunking`", source: "toxiproxy `slicer`, FoundationDB's simulator"),
    Facts(
      "corruption", "A bit is wrong in what is read.", means: "`Fault.corrupt`",
      source: "moonpool: 1 to 32 bits in 0.01 % of the pieces"),
    Facts(
      "duplicate-and-reorder",
      "A message arrives twice, or before an earlier one: by another connection. A connection of "
        + "bytes itself does neither.",
      means: "`Fault.block` holding one connection, and a second dial",
      source: "VOPR, Jepsen, for datagrams"),
  ]

  private static let device: [Facts] = [
    Facts(
      "network-switch", "The path changes, and sockets of the old network fail or go silent.",
      means: "`FaultSchedule.handover`", source: "Zoom counts a gap above 15 s as a drop"),
    Facts(
      "path-flapping", "The path goes and comes, again and again.",
      means: "`FaultSchedule.flapping`", source: "our own figures"),
    Facts(
      "lying-path", "The path is up, and nothing answers.",
      means: "`Fault.claimPath`, or `Fault.block` without it",
      source: "path monitors are documented as hints"),
    Facts(
      "captive-portal",
      "Every dial opens, and a portal answers: with HTTP, or with its own certificate.",
      means: "`Fault.portal` and `Service.portal`, `Service.portalTLS`",
      source: "captive.apple.com must say Success"),
    Facts(
      "device-sleep", "Nothing, and then the clock has jumped; everybody else went on.",
      means: "`Fault.sleep`, `Fault.wake`",
      source: "Apple TN2277; developer.apple.com/forums/thread/802375"),
    Facts(
      "doze", "Programs run only in windows of 5 to 10 min, hours apart.",
      means: "`FaultSchedule.doze`", source: "Android documentation: +1, +2, +4, +6, +6 h"),
    Facts(
      "wall-clock-step", "The wall clock is wrong, and nothing else.", means: "–",
      source: "NTP, or the user"),
    Facts(
      "clock-skew", "Heartbeats come a little too often or too seldom.",
      means: "`VirtualTime.makeLoop(skew:)`", source: "100 ppm, a usual crystal"),
  ]

  private static let servers: [Facts] = [
    Facts(
      "server-restart", "A reset to everybody, and dials are refused for a while.",
      means: "`FaultSchedule.restart`", source: "Kubernetes: 30 s of grace"),
    Facts(
      "rolling-drain", "A notice, and a FIN when the grace is over; server by server.",
      means: "`FaultSchedule.rollingDrain`",
      source: "Netflix, Zuul Push: 30 min less up to 3; GFE: 24 h at most"),
    Facts(
      "zone-loss", "A share of the clients goes silent at once.", means: "`Fault.loseShare`",
      source: "Discord, 2026-03-25: 17 %"),
    Facts(
      "idle-timeout-race", "Some connections end just when the ping is due, and others do not.",
      means: "an `IdleReaper` whose idle time is the ping interval",
      source: "Mattermost 8929 and 8930: ALB 60 s, ping 60 s"),
    Facts(
      "proxy-change", "As network-switch, on the same interface.",
      means: "`Fault.cut` or `Fault.sever`, and `Fault.claimPath`", source: "as network-switch"),
    Facts(
      "resource-limits", "The dial fails at once with EMFILE or EADDRNOTAVAIL.",
      means: "`Fault.limitDescriptors`, `Fault.failLocally`; `Internet.liveSockets` counts",
      source: "FoundationDB's tracker of leaked connections"),
    Facts(
      "data-loss", "What was written was taken by the system, and never arrives.",
      means: "`Fault.sever` before a write", source: "at-least-once and resume protocols"),
  ]
}
