extension BuiltInScenario {
  /// A path that comes and goes: an open link is asked, not cut; dials are held, not spent.
  public static let pathFlapping = BuiltInScenario(
    name: "path-flapping",
    json: """
      {
        "version": 1,
        "name": "path-flapping",
        "about": "A path comes and goes: a false alarm costs one ping, a real one no attempt.",
        "seed": 1,
        "policy": {
          "connectDeadline": 10,
          "minimumDialSpacing": 1,
          "backoff": {"first": 5, "base": 2, "cap": 60, "jitter": "full", "stability": 10,
            "attemptLimit": 3},
          "heartbeat": {"interval": 25, "timeout": 10},
          "path": {"onLoss": "probe", "suspectTimeout": 3, "probeInterval": 60, "returnJitter": 0.5}
        },
        "steps": [
          {"t": 0, "ev": "net.server_up"},
          {"t": 0, "ev": "api.connect"},
          {"t": 10, "ev": "net.path_down", "arg": "(false report)"},
          {"t": 10.5, "ev": "net.path_up"},
          {"t": 11, "ev": "expect.state", "arg": "open"},
          {"t": 11, "ev": "expect.pings", "arg": 1},
          {"t": 20, "ev": "net.path_down", "note": "this time it is true"},
          {"t": 23.5, "ev": "expect.state", "arg": "offline"},
          {"t": 25, "ev": "net.path_up"},
          {"t": 25.2, "ev": "net.path_down"},
          {"t": 26, "ev": "net.path_up"},
          {"t": 26.1, "ev": "net.path_down"},
          {"t": 27, "ev": "net.path_up"},
          {"t": 36, "ev": "expect.state", "arg": "open"},
          {"t": 36, "ev": "expect.attempts", "arg": "2..4"},
          {"t": 36, "ev": "expect.live", "arg": 1},
          {"t": 40, "ev": "net.path_down"},
          {"t": 105, "ev": "expect.state", "arg": "offline"},
          {"t": 110, "ev": "net.path_up", "note": "the signal was doubted once meanwhile"},
          {"t": 112, "ev": "expect.state", "arg": "open"}
        ]
      }
      """)
}
