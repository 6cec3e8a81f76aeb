extension BuiltInScenario {
  /// The whole life of a connection. Its expectations hold for every seed.
  public static let tour = BuiltInScenario(
    name: "tour",
    json: """
      {
        "version": 1,
        "name": "tour",
        "about": "The whole life of a connection, from connect to close.",
        "seed": 5,
        "policy": {
          "connectDeadline": 10,
          "closeDeadline": 5,
          "minimumDialSpacing": 1,
          "backoff": {"first": 2, "base": 2, "cap": 15, "jitter": "full", "stability": 10},
          "heartbeat": {"interval": 10, "timeout": 5},
          "path": {"suspectTimeout": 3, "probeInterval": 60, "returnJitter": 0.5},
          "lanes": [
            {"delivery": "atMostOnce", "timeToLive": 20},
            {"delivery": "atLeastOnce", "timeToLive": null}
          ]
        },
        "steps": [
          {"t": 0, "ev": "net.server_up"},
          {"t": 0, "ev": "api.connect"},
          {"t": 1, "ev": "expect.state", "arg": "open"},
          {"t": 1, "ev": "api.send", "arg": "hello"},
          {"t": 2, "ev": "api.send", "arg": "order-1", "lane": 1},
          {"t": 15, "ev": "net.silent_drop", "note": "the peer vanishes, and TCP does not tell"},
          {"t": 16, "ev": "api.send", "arg": "order-2", "lane": 1},
          {"t": 17, "ev": "net.server_down", "note": "from now on dials are refused"},
          {"t": 30, "ev": "expect.cause", "arg": "system(connectionRefused)"},
          {"t": 40, "ev": "net.path_down", "note": "no network: dials are held, not spent"},
          {"t": 41, "ev": "expect.state", "arg": "offline"},
          {"t": 42, "ev": "api.send", "arg": "hurry"},
          {"t": 43, "ev": "api.send", "arg": "order-3", "lane": 1},
          {"t": 50, "ev": "net.server_up"},
          {"t": 70, "ev": "net.path_up", "note": "back, but not in step with everybody else"},
          {"t": 72, "ev": "expect.state", "arg": "open"},
          {"t": 75, "ev": "api.close"},
          {"t": 76, "ev": "expect.state", "arg": "closed"},
          {"t": 76, "ev": "expect.live", "arg": 0},
          {"t": 76, "ev": "expect.outcome", "arg": "hello written"},
          {"t": 76, "ev": "expect.outcome", "arg": "hurry expired"},
          {"t": 76, "ev": "expect.outcome", "arg": "order-1,order-2,order-3 acknowledged"},
          {"t": 76, "ev": "expect.wire", "arg": "hello,order-1,order-2,order-2,order-3"}
        ]
      }
      """)
}
