extension BuiltInScenario {
  /// After a close nothing dials, whatever the network says.
  public static let closeDuringRetry = BuiltInScenario(
    name: "close-during-retry",
    json: """
      {
        "version": 1,
        "name": "close-during-retry",
        "about": "The user closes during a dial: nothing that comes later dials again.",
        "seed": 1,
        "policy": {
          "connectDeadline": 10,
          "minimumDialSpacing": 1,
          "backoff": {"first": 2, "base": 2, "cap": 30, "jitter": "full", "stability": 10},
          "heartbeat": {"interval": 25, "timeout": 10}
        },
        "steps": [
          {"t": 0, "ev": "api.connect"},
          {"t": 0.1, "ev": "net.refuse"},
          {"t": 0.2, "ev": "api.send", "arg": "unsent", "lane": 1},
          {"t": 5, "ev": "expect.state", "arg": "connecting"},
          {"t": 5, "ev": "api.close"},
          {"t": 5.5, "ev": "net.open", "arg": "#2", "note": "too late: that dial was let go of"},
          {"t": 6, "ev": "net.path_down"},
          {"t": 7, "ev": "net.path_up"},
          {"t": 8, "ev": "dev.background"},
          {"t": 9, "ev": "dev.foreground"},
          {"t": 3600, "ev": "expect.state", "arg": "closed"},
          {"t": 3600, "ev": "expect.cause", "arg": "closedByUser"},
          {"t": 3600, "ev": "expect.attempts", "arg": 2},
          {"t": 3600, "ev": "expect.live", "arg": 0},
          {"t": 3600, "ev": "expect.outcome", "arg": "unsent cancelled"},
          {"t": 3601, "ev": "api.connect", "note": "a new run, a new budget"},
          {"t": 3601.1, "ev": "net.open"},
          {"t": 3602, "ev": "expect.state", "arg": "open"}
        ]
      }
      """)
}
