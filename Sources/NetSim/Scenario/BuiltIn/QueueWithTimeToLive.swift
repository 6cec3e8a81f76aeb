extension BuiltInScenario {
  /// Every message offered ends exactly once, and the word says how.
  public static let queueWithTimeToLive = BuiltInScenario(
    name: "queue-with-time-to-live",
    json: """
      {
        "version": 1,
        "name": "queue-with-time-to-live",
        "about": "Messages wait for a link: some expire, one is evicted, some are sent again.",
        "seed": 1,
        "policy": {
          "connectDeadline": 10,
          "minimumDialSpacing": 1,
          "backoff": {"first": 1, "base": 1, "cap": 8, "jitter": "full", "stability": 10},
          "heartbeat": null,
          "lanes": [
            {"delivery": "atMostOnce", "timeToLive": 5, "countLimit": 4, "overflow": "reject"},
            {"delivery": "atLeastOnce", "timeToLive": 30, "countLimit": 3, "overflow": "dropOldest"}
          ]
        },
        "steps": [
          {"t": 0, "ev": "api.connect"},
          {"t": 0, "ev": "net.connect_hang", "note": "the network swallows the first dial"},
          {"t": 1, "ev": "api.send", "arg": "a1..a5", "note": "room for four"},
          {"t": 2, "ev": "api.send", "arg": "b1..b4", "lane": 1, "note": "the oldest makes room"},
          {"t": 3, "ev": "api.cancel", "arg": "b3"},
          {"t": 8, "ev": "api.send", "arg": "a6"},
          {"t": 12, "ev": "net.open"},
          {"t": 12.1, "ev": "net.blocked", "note": "the peer stops reading"},
          {"t": 12.2, "ev": "api.send", "arg": "a7"},
          {"t": 13, "ev": "expect.outcome", "arg": "a5 rejected(full)"},
          {"t": 13, "ev": "expect.outcome", "arg": "a1..a4 expired"},
          {"t": 13, "ev": "expect.outcome", "arg": "b1 evicted"},
          {"t": 13, "ev": "expect.outcome", "arg": "b3 cancelled"},
          {"t": 13, "ev": "expect.outcome", "arg": "b2,b4 pending"},
          {"t": 14, "ev": "net.rst", "note": "b2 and b4 are sent again"},
          {"t": 16, "ev": "net.open"},
          {"t": 16.1, "ev": "net.ack"},
          {"t": 17, "ev": "expect.outcome", "arg": "b2,b4 acknowledged"},
          {"t": 17, "ev": "expect.wire", "arg": "a6,b2,b4,a7,b2,b4"},
          {"t": 18, "ev": "api.send", "arg": "b5", "lane": 1, "note": "never acknowledged"},
          {"t": 19, "ev": "api.close"},
          {"t": 19.1, "ev": "net.fin"},
          {"t": 20, "ev": "expect.outcome", "arg": "a6,a7 written"},
          {"t": 20, "ev": "expect.outcome", "arg": "b5 inDoubt"}
        ]
      }
      """)
}
