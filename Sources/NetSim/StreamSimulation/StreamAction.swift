import ConnectionFSM

/// What a step over bytes means, once its words are understood.
enum StreamAction: Sendable {
  case call(StreamCall)
  /// What the application does inside a callback, once.
  case callback(StreamMoment, [StreamCall])
  case lifecycle(Lifecycle)
  /// What befalls the internet, in order.
  case faults([Fault])
  /// Everything is well from here on.
  case heal([Fault])
  case expectation(StreamExpectation)
  /// Nothing happens.
  case mark

  /// Whether it may put off what was promised for the time after everything was well.
  var isHarmful: Bool {
    switch self {
    case .faults: true
    case .lifecycle(let lifecycle): lifecycle != .foreground
    case .call(let call): call.isHarmful
    case .callback(_, let calls): calls.contains(where: \.isHarmful)
    case .heal, .expectation, .mark: false
    }
  }
}

/// What the application calls.
enum StreamCall: Sendable {
  /// To the server, by the name of this number.
  case connect(Int)
  case close
  /// Lets go of the connection, whatever it is doing.
  case release
  case send([StreamMessage])
  case cancel(String)
  case demand(Bool)

  fileprivate var isHarmful: Bool {
    switch self {
    case .send, .cancel: false
    case .demand(let isNeeded): !isNeeded
    // Also a connect: to another endpoint it ends the link.
    case .connect(let number): number != 0
    case .close, .release: true
    }
  }
}

/// A message as the story tells it.
struct StreamMessage: Sendable {
  /// How it is given to the connection.
  enum Way: Int, CaseIterable, Sendable {
    case task, unstructured, detached, post
  }

  let label: String
  let lane: UInt8
  let payload: [UInt8]
  let way: Way

  /// - Parameter byteCount: So many bytes of payload; as many as the label has if nil.
  init(label: String, lane: UInt8, byteCount: Int?) {
    self.label = label
    self.lane = lane
    payload = Self.payload(of: label, count: byteCount ?? label.utf8.count)
    let digits = label.utf8.reversed().prefix { (0x30...0x39).contains($0) }
    let number = digits.reversed().reduce(0) { ($0 &* 10 &+ Int($1) - 0x30) & 0xFFFF }
    way = Way.allCases[number % Way.allCases.count]
  }

  /// The label, then letters that differ from message to message and from place to place, so that
  /// bytes which are lost, doubled or moved are seen.
  private static func payload(of label: String, count: Int) -> [UInt8] {
    var bytes = Array(label.utf8.prefix(count))
    bytes.reserveCapacity(count)
    guard bytes.count < count else { return bytes }
    bytes.append(0x20)
    var generator = RandomStream(seed: 0, name: label)
    var word: UInt64 = 0
    while bytes.count < count {
      if word == 0 { word = generator.next(through: .max) | 1 << 63 }
      bytes.append(0x61 + UInt8(truncatingIfNeeded: word & 15))
      word >>= 4
    }
    return bytes
  }
}

/// When a callback of the application runs.
enum StreamMoment: String, CaseIterable, Sendable {
  /// The machine seeks a link: it dials, or waits to.
  case connecting
  /// A link is open.
  case open
  /// A link has ended.
  case closed
  /// A message has ended.
  case end
}

/// What must be so at that moment.
enum StreamExpectation: Sendable {
  case state(String)
  case outcome([String], String)
  /// Sockets that the client's programs hold.
  case live(Int)
}
