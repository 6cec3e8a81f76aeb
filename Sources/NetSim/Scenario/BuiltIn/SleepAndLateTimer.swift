extension BuiltInScenario {
  /// A deadline that is served hours late is not evidence of a dead peer.
  public static let sleepAndLateTimer = BuiltInScenario(
    name: "sleep-and-late-timer",
    json: """
      {
        "version": 1,
        "name": "sleep-and-late-timer",
        "about": "A laptop sleeps with a ping under way: the peer is asked again, not cut.",
        "seed": 1,
        "policy": {
          "connectDeadline": 10,
          "minimumDialSpacing": 1,
          "backoff": {"first": 5, "base": 2, "cap": 60, "jitter": "full", "stability": 10},
          "heartbeat": {"interval": 25, "timeout": 10}
        },
        "steps": [
          {"t": 0, "ev": "api.connect"},
          {"t": 0.1, "ev": "net.open"},
          {"t": 26, "ev": "dev.sleep", "note": "one second after the ping"},
          {"t": 3626, "ev": "dev.wake", "note": "its deadline passed an hour ago"},
          {"t": 3627, "ev": "expect.state", "arg": "open"},
          {"t": 3627, "ev": "expect.pings", "arg": 2},
          {"t": 3628, "ev": "net.pong", "note": "the peer was there all the time"},
          {"t": 3640, "ev": "dev.sleep"},
          {"t": 7240, "ev": "dev.wake", "note": "again, but now the peer is gone"},
          {"t": 7249.999, "ev": "expect.state", "arg": "open"},
          {"t": 7250.0001, "ev": "expect.state", "arg": "backingOff"},
          {"t": 7250.0001, "ev": "expect.cause", "arg": "timedOut(pong)"},
          {"t": 7250.0001, "ev": "expect.attempts", "arg": 1}
        ]
      }
      """)
}
