extension BuiltInScenario {
  /// A server that accepts and drops is not a server that works: an open alone forgets no failure.
  public static let acceptThenDrop = BuiltInScenario(
    name: "accept-then-drop",
    json: """
      {
        "version": 1,
        "name": "accept-then-drop",
        "about": "A server accepts and drops: the waits grow until one link lasts.",
        "seed": 1,
        "policy": {
          "connectDeadline": 10,
          "minimumDialSpacing": 1,
          "backoff": {"first": 1, "base": 1, "cap": 30, "jitter": "none", "stability": 10},
          "heartbeat": null
        },
        "steps": [
          {"t": 0, "ev": "api.connect"},
          {"t": 0.05, "ev": "net.open"},
          {"t": 0.06, "ev": "net.rst", "arg": "repeat=8", "note": "no jitter, to show the waits"},
          {"t": 94, "ev": "expect.waits", "arg": "1s,2s,4s,8s,16s,30s,30s,30s"},
          {"t": 94, "ev": "expect.attempts", "arg": 8},
          {"t": 120, "ev": "net.open"},
          {"t": 130, "ev": "expect.state", "arg": "open"},
          {"t": 140, "ev": "net.fin", "note": "it was open for longer than the stability time"},
          {"t": 140.5, "ev": "expect.state", "arg": "backingOff"},
          {"t": 141, "ev": "net.open"},
          {"t": 142, "ev": "expect.state", "arg": "open"},
          {"t": 142, "ev": "expect.waits", "arg": "1s,2s,4s,8s,16s,30s,30s,30s,1s"}
        ]
      }
      """)
}
