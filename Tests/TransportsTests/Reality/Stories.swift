import ConnectionFSM
import NetSim

extension ByteStory {
  static let all = dials + ends + resets + buffers + servers

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// A server that does these acts with each connection.
  private static func serves(_ acts: ServerAct...) -> Port { .serves([acts]) }

  // MARK: Dialling

  private static let dials: [ByteStory] = [
    ByteStory(
      "a port without a listener", kinds: [.connectRefused], port: .refuses,
      client: [.dial(.server)], sees: ["failed: system(connectionRefused)"]),
    ByteStory(
      "a dial and an echo", port: serves(.echo),
      client: [.dial(.server), .write(text("hello")), .read(5), .finish, .readToEnd],
      sees: ["opened", "read “hello”", "end"], server: ["read “hello”", "end"]),
    ByteStory(
      "an accept queue that is full", kinds: [.blackHole, .acceptQueueOverflow], port: .full,
      client: [.dialAtMost(.milliseconds(50))], sees: ["gave up"]),
    ByteStory(
      "no route", kinds: [.unreachable], port: .refuses, machine: .withoutRoute,
      client: [.dial(.server)], sees: ["failed: system(networkUnreachable)"]),
    ByteStory(
      "the second address works", kinds: [.staleName],
      port: serves(.send(text("hi")), .close),
      client: [.dial(.secondAddress), .readToEnd], sees: ["opened", "read “hi”", "end"],
      server: []),
    ByteStory(
      "no address works", kinds: [.staleName], port: .refuses, client: [.dial(.twoDeadAddresses)],
      sees: ["failed: system(connectionRefused)"]),
    ByteStory(
      "an endpoint that is not TCP's", port: .refuses,
      client: [
        .dial(.endpoint(Endpoint(scheme: "ws", host: "10.0.0.2", port: 4000))),
        .dial(.endpoint(Endpoint(host: "10.0.0.2", port: 0))),
        .dial(.endpoint(Endpoint(host: "", port: 1))),
        .dial(.endpoint(Endpoint(host: "10.0.0.2\0.invalid", port: 1))),
      ],
      sees: Array(repeating: "failed: unsupportedEndpoint", count: 4)),
    ByteStory(
      "a stream before and after its life", port: serves(.echo),
      client: [
        .writeOnce(text("x")), .dial(.server), .readOnce, .close, .readOnce, .writeOnce(text("x")),
      ],
      sees: [
        "would block", "opened", "nothing to read", "read failed: system(notConnected)",
        "write failed: system(notConnected)",
      ],
      server: ["end"]),
  ]

  /// Where the resolver answers.
  static let unknownName = ByteStory(
    "an unknown name", kinds: [.unknownName], port: .refuses,
    client: [.dial(.endpoint(Endpoint(host: "no-such-host.invalid", port: 80)))],
    sees: ["failed: resolution(unknownName)"])

  /// Where a thread can have descriptors of its own.
  static let noDescriptors = ByteStory(
    "no descriptor left", kinds: [.resourceLimits], port: serves(.echo),
    machine: .withoutDescriptors,
    clients: [[.dial(.server)]], see: [["failed: system(tooManyOpenFiles)"]], servers: [])

  // MARK: Orderly ends

  private static let ends: [ByteStory] = [
    ByteStory(
      "the server finishes, the client goes on", kinds: [.finish],
      port: serves(.send(text("bye")), .finish),
      client: [
        .dial(.server), .readToEnd, .readOnce, .write(text("still here")), .finish,
        .writeOnce(text("x")),
      ],
      sees: ["opened", "read “bye”", "end", "end", "write failed: system(brokenPipe)"],
      server: ["read “still here”", "end"]),
    ByteStory(
      "the client finishes, the server answers", kinds: [.finish],
      port: serves(.echo, .send(text(" and an answer")), .close),
      client: [.dial(.server), .write(text("a question")), .finish, .readToEnd],
      sees: ["opened", "read “a question and an answer”", "end"],
      server: ["read “a question”", "end"]),
    ByteStory(
      "a write after the server's close", kinds: [.writeAfterFinish], port: serves(.close),
      client: [
        .dial(.server), .until(.end), .readToEnd, .writeOnce(text("x")), .until(.reset),
        .writeOnce(text("x")), .readOnce,
      ],
      sees: ["opened", "end", "wrote", "write failed: system(brokenPipe)", "end"], server: []),
    ByteStory(
      "both finish", kinds: [.finish], port: serves(.receive(1), .finish),
      client: [.dial(.server), .write(text("x")), .finish, .readToEnd], sees: ["opened", "end"],
      server: ["read “x”", "end"]),
    ByteStory(
      "the last words of a server that drains", kinds: [.rollingDrain],
      port: serves(.receive(5), .send(text("going away")), .close),
      client: [.dial(.server), .write(text("hello")), .readToEnd, .close],
      sees: ["opened", "read “going away”", "end"], server: ["read “hello”"]),
    ByteStory(
      "a handshake that is cut", kinds: [.handshakeCut],
      port: serves(.receive(5), .send(text("HTT")), .close),
      client: [.dial(.server), .write(text("GET /")), .readToEnd],
      sees: ["opened", "read “HTT”", "end"], server: ["read “GET /”"]),
    ByteStory(
      "an upgrade that is refused", kinds: [.upgradeRefused],
      port: serves(.receive(5), .send(refusal), .close),
      client: [.dial(.server), .write(text("GET /")), .readToEnd],
      sees: ["opened", "read \(Pattern.describe(refusal))", "end"], server: ["read “GET /”"]),
  ]

  private static let refusal = text(
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n")

  // MARK: Resets

  private static let resets: [ByteStory] = [
    ByteStory(
      "a reset behind unread bytes", kinds: [.reset],
      port: serves(.send(text("tail")), .wait(.zero), .reset),
      client: [
        .dial(.server), .until(.bytes(4)), .letServerGoOn, .until(.reset), .readToEnd, .readOnce,
        .writeOnce(text("x")),
      ],
      sees: [
        "opened", "read “tail”", "read failed: system(connectionReset)",
        "read failed: system(connectionReset)", "write failed: system(connectionReset)",
      ],
      server: []),
    ByteStory(
      "a write after a reset", kinds: [.reset], port: serves(.wait(.zero), .reset),
      client: [
        .dial(.server), .letServerGoOn, .until(.reset), .writeOnce(text("x")),
        .writeOnce(text("x")), .readOnce,
      ],
      sees: [
        "opened", "write failed: system(connectionReset)", "write failed: system(connectionReset)",
        "end",
      ],
      server: []),
    ByteStory(
      "a reset while a read waits", kinds: [.reset], port: serves(.receive(1), .reset),
      client: [.dial(.server), .write(text("x")), .readToEnd],
      sees: ["opened", "read failed: system(connectionReset)"], server: ["read “x”"]),
    ByteStory(
      "a reset while a write waits", kinds: [.reset, .zeroWindow],
      port: serves(.wait(.zero), .reset),
      client: [
        .dial(.server), .fill, .letServerGoOn, .until(.reset), .untilWritable,
        .writeOnce(text("x")),
      ],
      sees: ["opened", "would block", "writable", "write failed: system(connectionReset)"],
      server: []),
    ByteStory(
      "a reset before the program sees its dial's answer", kinds: [.reset], port: serves(.reset),
      client: [.dialHeldUp], sees: ["failed: system(connectionReset)"], server: []),
    ByteStory(
      "bytes that were taken and never read", kinds: [.dataLoss],
      port: serves(.wait(.zero), .reset),
      client: [
        .dial(.server), .writeOnce(text("lost")), .letServerGoOn, .until(.reset), .readToEnd,
      ],
      sees: ["opened", "wrote", "read failed: system(connectionReset)"], server: []),
    ByteStory(
      "the server closes and leaves bytes unread", kinds: [.reset],
      port: serves(.receive(1), .send(text("tail")), .close),
      client: [.dial(.server), .write(text("unread")), .until(.reset), .readToEnd],
      sees: ["opened", "read “tail”", "read failed: system(connectionReset)"],
      server: ["read “u”"]),
    ByteStory(
      "the client closes and leaves bytes unread", kinds: [.reset],
      port: serves(.send(text("unread")), .wait(.zero), .receive(1)),
      client: [.dial(.server), .until(.bytes(6)), .close, .letServerGoOn], sees: ["opened"],
      server: ["read failed: system(connectionReset)"]),
    ByteStory(
      "the client resets", kinds: [.reset], port: serves(.echo),
      client: [.dial(.server), .write(text("hello")), .read(5), .reset],
      sees: ["opened", "read “hello”"],
      server: ["read “hello”", "read failed: system(connectionReset)"]),
  ]

  // MARK: Buffers

  private static let mebibyte = Pattern.bytes(1 << 20)

  private static let buffers: [ByteStory] = [
    ByteStory(
      "a zombie", kinds: [.zombieServer, .zeroWindow], port: .zombie,
      client: [.dial(.server), .fill, .close],
      sees: ["opened", "would block"]),
    ByteStory(
      "a server that is mute", kinds: [.zombieServer], port: serves(.hang),
      client: [.dial(.server), .write(text("hello?")), .readAtMost(.milliseconds(50))],
      sees: ["opened", "gave up"], server: []),
    ByteStory(
      "a server that reads late", kinds: [.bandwidth, .zeroWindow], port: serves(.wait(.zero)),
      client: [.dial(.server), .fill, .letServerGoOn, .untilWritable, .finish, .readToEnd],
      sees: ["opened", "would block", "writable", "end"],
      server: ["read many bytes in order", "end"]),
    ByteStory(
      "a finish behind bytes that wait", kinds: [.finish, .zeroWindow], port: serves(.wait(.zero)),
      client: [.dial(.server), .fill, .finish, .letServerGoOn, .readToEnd],
      sees: ["opened", "would block", "end"], server: ["read many bytes in order", "end"]),
    ByteStory(
      "a client that reads late", kinds: [.zeroWindow], port: serves(.send(mebibyte), .finish),
      client: [.dial(.server), .until(.bytes(1)), .read(1 << 20), .readToEnd],
      sees: ["opened", "read many bytes in order", "end"], server: ["end"]),
    ByteStory(
      "a write of which a part is taken", kinds: [.partialWrite], port: serves(.hang),
      client: [.dial(.server), .writeOnce(Pattern.bytes(16 << 20))],
      sees: ["opened", "wrote a part"], server: []),
    ByteStory(
      "a mebibyte there and back", kinds: [.bandwidth, .partialWrite, .chunkedReads],
      port: serves(.echo),
      client: [.dial(.server), .exchange(mebibyte), .finish, .readToEnd],
      sees: ["opened", "read many bytes in order", "end"],
      server: ["read many bytes in order", "end"]),
    ByteStory(
      "bytes that come one by one", kinds: [.chunkedReads],
      port: serves(
        .send(text("a")), .wait(.zero), .send(text("b")), .wait(.zero), .send(text("c")), .close),
      client: [
        .dial(.server), .until(.bytes(1)), .readOnce, .readOnce, .letServerGoOn, .until(.bytes(1)),
        .readOnce, .letServerGoOn, .until(.end), .readOnce, .readOnce,
      ],
      sees: ["opened", "read “a”", "nothing to read", "read “b”", "read “c”", "end"], server: []),
    ByteStory(
      "writes that come as one", kinds: [.chunkedReads],
      port: serves(.send(text("ab")), .send(text("cd")), .finish),
      client: [.dial(.server), .until(.end), .readOnce, .readOnce],
      sees: ["opened", "read “abcd”", "end"], server: ["end"]),
  ]

  // MARK: Servers

  private static let servers: [ByteStory] = [
    ByteStory(
      "a server that is restarted", kinds: [.serverRestart],
      port: .serves([[.send(text("hi")), .wait(.zero), .reset], [.echo]]),
      clients: [
        [
          // Who listens no longer resets what was not accepted, too.
          .dial(.server), .read(2), .until(.serverStops), .letServerGoOn, .readToEnd,
          .dial(.server),
          .until(.serverListens), .dial(.server), .finish, .readToEnd,
        ]
      ],
      see: [
        [
          "opened", "read “hi”", "read failed: system(connectionReset)",
          "failed: system(connectionRefused)", "opened", "end",
        ]
      ],
      servers: [[], ["end"]]),
    ByteStory(
      "two connections at once", port: serves(.echo),
      clients: [
        [.dial(.server), .write(text("one")), .read(3), .finish, .readToEnd],
        [.dial(.server), .write(text("two")), .read(3), .reset],
      ],
      see: [["opened", "read “one”", "end"], ["opened", "read “two”"]],
      servers: [
        ["read “one”", "end"], ["read “two”", "read failed: system(connectionReset)"],
      ]),
  ]
}
