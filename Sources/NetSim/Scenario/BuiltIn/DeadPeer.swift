extension BuiltInScenario {
  /// A peer that vanished is found out by silence, without any traffic of the application.
  public static let deadPeer = BuiltInScenario(
    name: "dead-peer",
    json: """
      {
        "version": 1,
        "name": "dead-peer",
        "about": "An idle peer vanishes: ping after silence, pong deadline, dial again.",
        "seed": 1,
        "policy": {
          "connectDeadline": 10,
          "minimumDialSpacing": 1,
          "backoff": {"first": 5, "base": 2, "cap": 60, "jitter": "full", "stability": 10},
          "heartbeat": {"interval": 25, "timeout": 10}
        },
        "steps": [
          {"t": 0, "ev": "net.server_up"},
          {"t": 0, "ev": "api.connect"},
          {"t": 40, "ev": "net.msg", "note": "any byte is life: the silence starts anew"},
          {"t": 50, "ev": "net.silent_drop", "note": "no FIN, no RST, for ever"},
          {"t": 74.999, "ev": "expect.state", "arg": "open"},
          {"t": 75.0001, "ev": "expect.state", "arg": "backingOff"},
          {"t": 75.0001, "ev": "expect.cause", "arg": "timedOut(pong)"},
          {"t": 82, "ev": "expect.state", "arg": "open"},
          {"t": 82, "ev": "expect.attempts", "arg": 2},
          {"t": 82, "ev": "expect.live", "arg": 1}
        ]
      }
      """)
}
