import ConnectionFSM
import NetSim

extension TalkStory {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  static let all: [TalkStory] = [
    TalkStory(
      name: "two lines and a close", port: .serves([[.echo]]),
      acts: [
        .connect, .until(.open), .post("a", lane: 1), .post("b", lane: 1), .untilEnded(2),
        .untilRead(2), .close,
        .until(.closed),
      ],
      seen: [
        "idle → connecting → open → closing → closed", "1 dials", "closedByUser",
        "a acknowledged, b acknowledged", "read a, b",
      ],
      served: [["read “a\nb\n”", "end"]]),
    TalkStory(
      name: "refused until it gives up", attemptLimit: 3, port: .refuses,
      acts: [.connect, .until(.closed)],
      seen: [
        "idle → connecting → backingOff → connecting → backingOff → connecting → closed", "3 dials",
        Array(repeating: "system(connectionRefused)", count: 3).joined(separator: ", "), "",
        "read ",
      ],
      served: nil),
    TalkStory(
      name: "an accept queue that is full", connectDeadline: .milliseconds(50), attemptLimit: 1,
      port: .full, acts: [.connect, .until(.closed)],
      seen: ["idle → connecting → closed", "1 dials", "timedOut(connect)", "", "read "],
      served: nil),
    TalkStory(
      name: "a reset before the echo: sent again, at least once",
      port: .serves([[.receive(2), .reset], [.echo]]),
      acts: [
        .connect, .until(.open), .post("a", lane: 1), .untilEnded(1), .untilRead(1), .close,
        .until(.closed),
      ],
      seen: [
        "idle → connecting → open → backingOff → connecting → open → closing → closed", "2 dials",
        "system(connectionReset), closedByUser", "a acknowledged", "read a",
      ],
      served: [["read “a\n”"], ["read “a\n”", "end"]]),
    TalkStory(
      name: "a reset behind the write: not sent again, at most once",
      port: .serves([[.receive(2), .reset], [.echo]]),
      acts: [
        .connect, .until(.open), .post("a", lane: 0), .untilEnded(1), .until(.backingOff),
        .until(.open), .close, .until(.closed),
      ],
      seen: [
        "idle → connecting → open → backingOff → connecting → open → closing → closed", "2 dials",
        "system(connectionReset), closedByUser", "a written", "read ",
      ],
      served: [["read “a\n”"], ["end"]]),
    TalkStory(
      name: "last words of a server that drains",
      port: .serves([[.receive(2), .send(bytes("bye\n")), .close], [.echo]]),
      acts: [
        .connect, .until(.open), .post("a", lane: 0), .untilRead(1), .until(.backingOff),
        .until(.open), .close, .until(.closed),
      ],
      seen: [
        "idle → connecting → open → backingOff → connecting → open → closing → closed", "2 dials",
        "closedByPeer, closedByUser", "a written", "read bye",
      ],
      served: [["read “a\n”"], ["end"]]),
    TalkStory(
      name: "an end in the middle of a line",
      port: .serves([[.receive(2), .send(bytes("half a li")), .close], [.echo]]),
      acts: [
        .connect, .until(.open), .post("a", lane: 1), .untilEnded(1), .untilRead(1), .close,
        .until(.closed),
      ],
      seen: [
        "idle → connecting → open → backingOff → connecting → open → closing → closed", "2 dials",
        "truncated, closedByUser", "a acknowledged", "read a",
      ],
      served: [["read “a\n”"], ["read “a\n”", "end"]]),
  ]
}
