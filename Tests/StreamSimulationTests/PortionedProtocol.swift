import ConnectionFSM

/// Messages in portions of some bytes, echoed and acknowledged with that; pings between them.
///
/// A portion is a letter, its length in two bytes, and its bytes: `m` of a message that goes on,
/// `M` of one that ends, `?` a ping, `!` its answer, `.` the end.
struct PortionedProtocol: ProtocolEngine {
  private enum Kind: UInt8 {
    case goesOn = 0x6D
    case ends = 0x4D
    case ping = 0x3F
    case pong = 0x21
    case end = 0x2E
  }

  private struct Waiting {
    var bytes: [UInt8]
    var written = 0
    let id: MessageID?
  }

  private let portion: Int
  /// Where the link is sent to when it starts first.
  private var redirection: Endpoint?
  private var isOpen = false
  private var isClosing = false
  private var isOver = false
  private var waiting: [Waiting] = []
  private var urgent: [(Kind, [UInt8])] = []
  private var unanswered: [MessageID?] = []
  private var arrived: [UInt8] = []
  private var message: [UInt8] = []

  init(portion: Int, redirection: Endpoint? = nil) {
    self.portion = portion
    self.redirection = redirection
  }

  var canPing: Bool { true }
  var nextDeadline: Instant? { nil }
  var backlog: Int { waiting.count }
  var hasMore: Bool {
    !isOver && isOpen && (!urgent.isEmpty || !waiting.isEmpty || isClosing)
  }

  func admits(_ message: Message) -> Bool { true }

  mutating func start(at now: Instant, into output: inout EngineOutput) {
    if let endpoint = redirection.take() {
      return output.events.append(.redirected(to: endpoint))
    }
    isOpen = true
    output.events.append(.opened)
  }

  mutating func receive(_ bytes: RawSpan, at now: Instant, into output: inout EngineOutput) {
    bytes.withUnsafeBytes { arrived += $0 }
    var start = 0
    while !isOver, arrived.count >= start + 3 {
      let length = Int(arrived[start + 1]) << 8 | Int(arrived[start + 2])
      guard arrived.count >= start + 3 + length else { break }
      guard let kind = Kind(rawValue: arrived[start]) else {
        isOver = true
        return output.events.append(.failed(.protocolError))
      }
      take(kind, arrived[(start + 3)..<(start + 3 + length)], &output)
      start += 3 + length
    }
    arrived.removeFirst(start)
  }

  private mutating func take(
    _ kind: Kind, _ bytes: ArraySlice<UInt8>, _ output: inout EngineOutput
  ) {
    switch kind {
    case .goesOn: message += bytes
    case .ends:
      output.events.append(.message(Message(bytes: message + bytes, kind: .text)))
      message = []
      if !unanswered.isEmpty, let id = unanswered.removeFirst() {
        output.events.append(.acknowledged(through: id))
      }
    case .ping: urgent.append((.pong, Array(bytes)))
    case .pong: output.events.append(.pong(bytes.reduce(0) { $0 << 8 | UInt32($1) }))
    case .end:
      isOver = true
      output.events.append(.closed(nil))
    }
  }

  mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    isOver = true
    output.events.append(arrived.isEmpty ? .closed(nil) : .failed(.truncated))
  }

  mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    guard !isOver, !isClosing else { return }
    waiting.append(Waiting(bytes: message.bytes, id: id))
  }

  mutating func writeOn(into output: inout EngineOutput) {
    for (kind, bytes) in urgent { write(kind, bytes[...], &output) }
    urgent = []
    guard let first = waiting.first else {
      guard isClosing else { return }
      isOver = true
      write(.end, [], &output)
      return output.events.append(.finished)
    }
    let end = min(first.written + portion, first.bytes.count)
    let isLast = end == first.bytes.count
    write(isLast ? .ends : .goesOn, first.bytes[first.written..<end], &output)
    waiting[0].written = end
    guard isLast else { return }
    unanswered.append(first.id)
    waiting.removeFirst()
  }

  private func write(_ kind: Kind, _ bytes: ArraySlice<UInt8>, _ output: inout EngineOutput) {
    output.bytes += [kind.rawValue, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
    output.bytes += bytes
  }

  mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    guard !isOver, !isClosing else { return }
    urgent.append((.ping, (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }))
  }

  mutating func close(at now: Instant, into output: inout EngineOutput) { isClosing = true }

  mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}
}
