import ConnectionFSM

// Names that are not answered, addresses that do not answer.

extension Condition {
  static let ofNames: [Condition] = [
    Condition(
      "dns-dead", "The resolver does not answer: each question is given up after twice 5 s",
      source: "resolv.conf(5): timeout 5 s, 2 attempts", lasts: .seconds(60)
    ) { stage in
      stage.fromTheStart(.silentName("server"))
    },
    blackHole(
      "blackhole-linux", "127 s", .linux,
      source: "Kernel documentation ip-sysctl, tcp_syn_retries 6: 1, 2, 4 … 64 s"),
    blackHole("blackhole-darwin", "75 s", .darwin, source: "macOS net.inet.tcp.keepinit, 75 s"),
    Condition(
      "ipv6-broken", "The server's preferred address, of version 6, answers nothing",
      source: "RFC 8305: the case that its 250 ms between attempts are for", lasts: .seconds(300)
    ) { stage in
      stage.fromTheStart(.deaf(address: stage.serverAddresses[0]))
    },
  ]

  private static func blackHole(
    _ name: String, _ span: String, _ system: OperatingSystem, source: String
  ) -> Condition {
    Condition(
      name, "The server answers nothing: the system gives a dial up after \(span)",
      source: source, lasts: .seconds(300), system: system
    ) { stage in
      for address in stage.serverAddresses { stage.fromTheStart(.deaf(address: address)) }
    }
  }
}
