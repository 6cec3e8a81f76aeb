import ConnectionFSM

// What befalls a server, or is asked of it.

extension Condition {
  static let ofServers: [Condition] = [
    Condition(
      "rolling-deploy",
      "The server is replaced: its connections end in order within the 30 s of grace",
      source: "Kubernetes terminationGracePeriodSeconds, 30 s", lasts: .seconds(180)
    ) { stage in
      let all = Fault.closeAll(stage.server, port: stage.port, lastWords: [], within: .seconds(30))
      stage.at(.seconds(60), all)
    },
    Condition(
      "gfe-24h", "A front end ends every connection in order after a day",
      source: "Google front ends restart: a connection lives 24 h at most (gcpdiag.dev"
        + " LB/BP/2025_002)",
      lasts: .seconds(86_400 + 300)
    ) { stage in
      let all = Fault.closeAll(stage.server, port: stage.port, lastWords: [], within: .zero)
      stage.at(.seconds(86_400), all)
    },
    Condition(
      "zone-loss-17pct", "17 of 100 connections vanish without a word",
      source: "Discord, 2026-03-25: 17 % at once", lasts: .seconds(300)
    ) { stage in
      stage.at(.seconds(60), .loseShare(stage.server, perTenThousand: 1700))
    },
    Condition(
      "full-restart",
      "The server restarts: all connections are reset within a second, and dials refused for 10 s",
      source: "Our own figures", lasts: .seconds(180)
    ) { stage in
      let reset = Fault.resetAll(stage.server, port: stage.port, within: .seconds(1))
      stage.at(.seconds(60), reset, .refuse(stage.server, port: stage.port))
      stage.at(.seconds(70), .serve(stage.server, port: stage.port, stage.service))
    },
    acceptQueue, storm,
    Condition(
      "zombie-server", "The system completes connections that no program ever reads",
      source: "Cloudflare, When TCP sockets refuse to die: ESTAB is … forever?",
      lasts: .seconds(300)
    ) { stage in
      stage.service.accepts = false
    },
    metastable,
  ]

  private static let acceptQueue = Condition(
    "accept-queue-128",
    "The server resets all, and 400 others dial within a second; 128 wait for a program that takes"
      + " 50 a second, the dials of the rest are not answered and come again",
    source: "Linux somaxconn 128 before 5.4; the crowd is our own figure", lasts: .seconds(180)
  ) { stage in
    stage.service.backlog = 128
    stage.service.handshakeWork = .milliseconds(20)
    stage.at(.seconds(5), .resetAll(stage.server, port: stage.port, within: .zero))
    stage.crowd(400, from: .seconds(5), over: .seconds(1))
  }

  private static let storm = Condition(
    "tls-storm",
    "The server resets all, and 4,000 others dial at once; it does 2,000 handshakes a second",
    source: "shadrin.org, nginx SSL performance: 2,000 handshakes a second and core with ECC; the"
      + " crowd is our own figure",
    lasts: .seconds(120)
  ) { stage in
    stage.service.handshakeWork = .microseconds(500)
    stage.at(.seconds(5), .resetAll(stage.server, port: stage.port, within: .zero))
    stage.crowd(4000, from: .seconds(5), over: .milliseconds(100))
  }

  private static let metastable = Condition(
    "metastable-280qps",
    "280 others dial a second, the server does 300; for 10 s nothing reaches it, then all at once",
    source: "Bronson, Aghayev, Charapko, Zhu: Metastable failures in distributed systems,"
      + " HotOS 2021",
    lasts: .seconds(120)
  ) { stage in
    stage.service.handshakeWork = .nanoseconds(3_333_333)
    stage.crowd(280 * 40, from: .zero, over: .seconds(40))
    stage.at(.seconds(20), .block(from: nil, to: stage.server, .hold))
    stage.at(.seconds(30), .unblock(from: nil, to: stage.server))
  }
}
