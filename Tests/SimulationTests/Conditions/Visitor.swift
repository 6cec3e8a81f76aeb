import ConnectionFSM
import NetSim
import Testing

/// A client on a stage that dials, asks and listens when the test says so, and a server that sends
/// back what it reads.
struct Visitor {
  var stage: Stage
  private(set) var now = Instant.origin
  /// What the client hears, with its time in milliseconds: `opened 56`.
  private(set) var log: [String] = []
  /// What the server has read so far, with the time of the last byte in milliseconds.
  private(set) var served = ""
  private(set) var servedAt: Int64 = 0
  private var servers: [SocketID] = []
  private var socket: SocketID?

  init(_ name: String, seed: UInt64 = 1) throws {
    let condition = try #require(Condition.named(name))
    stage = condition.stage(seed: seed)
  }

  /// Seconds since the beginning.
  var seconds: Int64 { (now - .origin).nanoseconds / 1_000_000_000 }

  private var milliseconds: Int64 { (now - .origin).nanoseconds / 1_000_000 }

  /// Dials, over the address of version 4 if it is not said otherwise.
  mutating func dial(version6: Bool = false) {
    let address = stage.internet.addresses(of: stage.server)[version6 ? 0 : 1]
    socket = stage.internet.dial(from: stage.client, to: address, port: stage.port, at: now)
  }

  mutating func resolve() { _ = stage.internet.resolve("server", from: stage.client, at: now) }

  mutating func ask(_ text: String) { ask(Array(text.utf8)) }

  mutating func ask(_ bytes: [UInt8]) {
    guard let socket else { return }
    _ = stage.internet.write(bytes.span.bytes, to: socket, at: now)
  }

  /// Lets time pass up to so many seconds after the beginning.
  mutating func run(until seconds: Int64) {
    run(until: .origin + .seconds(seconds))
  }

  mutating func run(until end: Instant) {
    while let occurrence = stage.internet.next(through: end) {
      now = max(now, stage.internet.now)
      hear(occurrence)
    }
    now = end
  }

  mutating func takeLog() -> [String] {
    defer { log = [] }
    return log
  }

  private mutating func hear(_ occurrence: Occurrence) {
    switch occurrence {
    case .opened(let socket): if socket == self.socket { note("opened") }
    case .failed(let socket, let cause): if socket == self.socket { note("failed \(cause)") }
    case .readable(let socket):
      if socket == self.socket { note(read(socket)) } else { echo(socket) }
    case .writable: break
    case .accepted(let socket, _, _): servers.append(socket)
    case .resolved(_, let addresses, let cause):
      note(cause.map { "\($0)" } ?? "\(addresses.count) addresses")
    case .pathChanged(_, let path): note("path \(path.status) \(path.interface)")
    case .fellAsleep: note("asleep")
    case .woke: note("awake")
    case .befell: break
    }
  }

  private mutating func note(_ text: String) { log.append("\(text) \(milliseconds)") }

  private mutating func echo(_ socket: SocketID) {
    let text = read(socket)
    guard !text.hasPrefix("(") else { return stage.internet.close(socket, at: now) }
    served = String((served + text).suffix(16))
    servedAt = milliseconds
    _ = stage.internet.write(Array(text.utf8).span.bytes, to: socket, at: now)
  }

  /// All there is to read: a text, or what came instead.
  private mutating func read(_ socket: SocketID) -> String {
    var storage = [UInt8](repeating: 0, count: 131_072)
    var span = storage.mutableSpan
    var bytes = span.mutableBytes
    switch stage.internet.read(socket, into: &bytes, at: now) {
    case .bytes(let count): return String(decoding: storage[..<count], as: UTF8.self)
    case .wouldBlock: return "(wouldBlock)"
    case .end: return "(end)"
    case .failed(let cause): return "(\(cause))"
    }
  }
}
