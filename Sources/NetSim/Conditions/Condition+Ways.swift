import ConnectionFSM

// Packets that are lost on the way, and nobody is told.

extension Condition {
  static let ofWays: [Condition] = [
    Condition(
      "tunnel", "Everything is lost in silence for 30 s, and later for 90 s",
      source: "Our own figures", lasts: .seconds(360), link: .wptLTE
    ) { stage in
      for (start, span): (Int64, Int64) in [(30, 30), (120, 90)] {
        let ways: [(HostID?, HostID?)] = [(stage.client, nil), (nil, stage.client)]
        for (from, to) in ways {
          stage.at(.seconds(start), .block(from: from, to: to, .drop))
          stage.at(.seconds(start + span), .unblock(from: from, to: to))
        }
      }
    },
    oneWay("one-way-up", "Only what the client sends arrives: pings do, pongs do not") {
      ($0.server, $0.client)
    },
    oneWay("one-way-down", "Only what the server sends arrives: pings do not") {
      ($0.client, $0.server)
    },
  ]

  private static func oneWay(
    _ name: String, _ about: String,
    blocked: @escaping @Sendable (Stage) -> (from: HostID, to: HostID)
  ) -> Condition {
    Condition(
      name, "\(about), for 2 min",
      source: "TigerBeetle's simulator (asymmetric partitions), turmoil (one-way partitions); the"
        + " 2 min are our own figure",
      lasts: .seconds(300)
    ) { stage in
      let (from, to) = blocked(stage)
      stage.at(.seconds(30), .block(from: from, to: to, .drop))
      stage.at(.seconds(150), .unblock(from: from, to: to))
    }
  }
}
