import ConnectionFSM
import Transports

/// The connections, and what is noted of them. Everything noted lives on their loop.
final class Crowd: Sendable {
  /// What is counted.
  enum Happening: Int, CaseIterable {
    case open, lost, echoed
  }

  private let loop: SocketEventLoop
  private let connections: [Connection]
  private let notes: Notes

  /// Makes connections at rest, by the default policy.
  init(_ count: Int, on loop: SocketEventLoop) throws {
    let notes = Notes(loop)
    let framing = try DelimiterFraming(
      delimiter: .lf, acknowledgement: .echo, pingLine: Array("ping".utf8))
    connections = try (0..<count).map { number in
      try Connection(
        StreamTransport(CountedDialer(loop, notes)) { framing }, policy: Policy(),
        seed: UInt64(number)
      ) { record in
        if record.to == record.from { return }
        if record.to == .open { notes.note(.open) }
        if record.from == .open { notes.note(.lost) }
      }
    }
    self.loop = loop
    self.notes = notes
  }

  func connect(to endpoint: Endpoint) {
    for connection in connections { connection.connect(to: endpoint) }
  }

  /// One message each, to be sent back.
  func send() {
    let message = Message("hello")
    for connection in connections {
      connection.post(message, in: LaneID(1)) { [notes] result in
        if case .success(.acknowledged) = result { notes.note(.echoed) }
      }
    }
  }

  func close() async {
    await withTaskGroup(of: Void.self) { group in
      for connection in connections { group.addTask { await connection.close() } }
    }
  }

  /// Times are counted from now.
  func mark(forgettingDials: Bool = true) {
    loop.execute { [notes] in notes.mark(forgettingDials: forgettingDials) }
  }

  /// Comes back once it has happened to all, true, or the time is over.
  func wait(for happening: Happening, _ patience: TimeSpan) async -> Bool {
    let deadline = loop.now + patience
    while loop.now < deadline {
      let isDone = await withCheckedContinuation { continuation in
        loop.execute { [notes, connections] in
          continuation.resume(returning: notes.count(of: happening) == connections.count)
        }
      }
      if isDone { return true }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  /// How many, and when half, nearly all, and the last of them.
  func story(of happening: Happening) -> String {
    let times = notes.times(of: happening).sorted()
    guard let last = times.last else { return "0 of \(connections.count)" }
    let half = times[(times.count - 1) / 2]
    let nearly = times[(times.count - 1) * 99 / 100]
    return "\(times.count) of \(connections.count); 50 % in \(Self.seconds(half)), "
      + "99 % in \(Self.seconds(nearly)), the last in \(Self.seconds(last))"
  }

  /// How the dials were spread.
  var dialStory: String {
    let dials = notes.dials
    var busiest = 0
    var first = 0
    for index in dials.indices {
      while dials[index] - dials[first] >= .milliseconds(100) { first += 1 }
      busiest = max(busiest, index - first + 1)
    }
    return "\(dials.count) dials, \(busiest) in the busiest 100 ms"
  }

  private static func seconds(_ span: TimeSpan) -> String {
    let milliseconds = span.nanoseconds / 1_000_000
    let rest = milliseconds % 1000
    return "\(milliseconds / 1000).\(rest < 10 ? "00" : rest < 100 ? "0" : "")\(rest) s"
  }
}

/// When what happened. Touched on the loop, and read once nothing happens any more.
private final class Notes: @unchecked Sendable {
  private let loop: SocketEventLoop
  private var origin: Instant
  private var happened = Crowd.Happening.allCases.map { _ in [TimeSpan]() }
  private(set) var dials: [Instant] = []

  init(_ loop: SocketEventLoop) {
    self.loop = loop
    origin = loop.now
  }

  func mark(forgettingDials: Bool) {
    origin = loop.now
    if forgettingDials { dials = [] }
    // What is lost before a restart is told after it.
    for happening in Crowd.Happening.allCases where happening != .lost {
      happened[happening.rawValue] = []
    }
  }

  func note(_ happening: Crowd.Happening) { happened[happening.rawValue].append(loop.now - origin) }

  func noteDial() { dials.append(loop.now) }

  func count(of happening: Crowd.Happening) -> Int { happened[happening.rawValue].count }

  func times(of happening: Crowd.Happening) -> [TimeSpan] { happened[happening.rawValue] }
}

/// Dials and notes it.
private final class CountedDialer: ByteStreamDialer {
  private let base: TCPDialer
  private let notes: Notes

  init(_ loop: SocketEventLoop, _ notes: Notes) {
    base = TCPDialer(loop: loop)
    self.notes = notes
  }

  var eventLoop: any EventLoop { base.eventLoop }

  func dial(_ endpoint: Endpoint, observer: any ByteStreamObserver) -> TCPStream {
    notes.noteDial()
    return base.dial(endpoint, observer: observer)
  }
}
