import ConnectionFSM
import NetSim

/// A client and a server on an internet, and what the programs on them hear.
struct Rig {
  var internet: Internet
  let client: HostID
  let server: HostID
  let port: UInt16 = 443
  var now = Instant.origin
  /// What happened, with its time in milliseconds: `opened 2`.
  private(set) var log: [String] = []
  private(set) var sockets: [SocketID] = []

  init(
    seed: UInt64 = 1, link: LinkProfile = .constant(.milliseconds(10)),
    system: OperatingSystem = .linux, service: Service? = Service(),
    serverSystem: OperatingSystem = .linux
  ) {
    internet = Internet(seed: seed)
    client = internet.addHost("client", link: link, system: system)
    server = internet.addHost("server", system: serverSystem, hasVersion6: true)
    if let service { internet.listen(server, port: port, service) }
  }

  /// The address of version 4.
  var address: String { internet.addresses(of: server)[1] }

  mutating func dial() -> SocketID {
    internet.dial(from: client, to: address, port: port, at: now)
  }

  /// Dials and waits until both ends are there; the server's is the second.
  mutating func connected() -> (SocketID, SocketID) {
    let socket = dial()
    run(for: .seconds(1))
    log = []
    return (socket, sockets.last ?? socket)
  }

  /// Lets so much time pass.
  mutating func run(for span: TimeSpan) {
    let end = now + span
    while let occurrence = internet.next(through: end) {
      now = max(now, internet.now)
      hear(occurrence)
    }
    now = end
  }

  private mutating func hear(_ occurrence: Occurrence) {
    let milliseconds = (now - .origin).nanoseconds / 1_000_000
    switch occurrence {
    case .opened: log.append("opened \(milliseconds)")
    case .failed(_, let cause): log.append("failed \(cause) \(milliseconds)")
    case .readable(let socket):
      log.append("\(sockets.contains(socket) ? "server" : "client") readable \(milliseconds)")
    case .writable: log.append("writable \(milliseconds)")
    case .accepted(let socket, _, _):
      sockets.append(socket)
      log.append("accepted \(milliseconds)")
    case .resolved(_, let addresses, let cause):
      log.append("resolved \(addresses) \(cause.map { "\($0)" } ?? "") \(milliseconds)")
    case .pathChanged(_, let path): log.append("path \(path.status) \(milliseconds)")
    case .fellAsleep: log.append("asleep \(milliseconds)")
    case .woke: log.append("awake \(milliseconds)")
    case .befell: break
    }
  }

  mutating func takeLog() -> [String] {
    defer { log = [] }
    return log
  }

  /// What one read gives: a text, or the result.
  mutating func read(_ socket: SocketID, upTo limit: Int = 65_536) -> String {
    var storage = [UInt8](repeating: 0, count: limit)
    var span = storage.mutableSpan
    var bytes = span.mutableBytes
    switch internet.read(socket, into: &bytes, at: now) {
    case .bytes(let count): return String(decoding: storage[..<count], as: UTF8.self)
    case .wouldBlock: return "(wouldBlock)"
    case .end: return "(end)"
    case .failed(let cause): return "(\(cause))"
    }
  }

  /// All that can be read.
  mutating func readAll(_ socket: SocketID) -> String {
    var text = ""
    while true {
      let piece = read(socket)
      if piece.hasPrefix("(") { return text + piece }
      text += piece
    }
  }

  @discardableResult
  mutating func write(_ text: String, to socket: SocketID) -> WriteResult {
    write(Array(text.utf8), to: socket)
  }

  mutating func write(_ bytes: [UInt8], to socket: SocketID) -> WriteResult {
    internet.write(bytes.span.bytes, to: socket, at: now)
  }
}
