import ConnectionFSM
import NetSim
import Testing

/// What a client and a server do with bytes, as data, and what the programs on both sides see.
/// Played in simulation and over loopback sockets, it must come out the same.
struct ByteStory: Sendable, CustomTestStringConvertible {
  /// What stands at the server's port.
  enum Port: Sendable {
    /// A program; the second list is for the second connection, and the last one for all that
    /// follow.
    case serves([[ServerAct]])
    /// Nothing.
    case refuses
    /// A listener whose program never accepts.
    case zombie
    /// A listener whose accept queue is full.
    case full
  }

  /// What the client's machine is like.
  enum Machine: Sendable {
    case healthy
    /// The address it dials has no route.
    case withoutRoute
    /// It has no descriptor left.
    case withoutDescriptors
  }

  /// As the table in Docs/Reality.md has it.
  let name: String
  let kinds: [FaultKind]
  let port: Port
  let machine: Machine
  /// Played at the same time.
  let clients: [[ClientAct]]
  /// What each client sees.
  let seen: [[String]]
  /// What the server sees, by connection; nil where no program is.
  let served: [[String]]?

  /// A story of one client and one connection.
  init(
    _ name: String, kinds: [FaultKind] = [], port: Port, machine: Machine = .healthy,
    client: [ClientAct], sees: [String], server: [String]? = nil
  ) {
    self.init(
      name, kinds: kinds, port: port, machine: machine, clients: [client], see: [sees],
      servers: server.map { [$0] })
  }

  init(
    _ name: String, kinds: [FaultKind] = [], port: Port, machine: Machine = .healthy,
    clients: [[ClientAct]], see: [[String]], servers: [[String]]?
  ) {
    self.name = name
    self.kinds = kinds
    self.port = port
    self.machine = machine
    self.clients = clients
    seen = see
    served = servers
  }

  var testDescription: String { name }

  /// Its line in Docs/Reality.md.
  var line: String {
    let numbers = kinds.map { "\($0.number) \($0.name)" }.joined(separator: ", ")
    let clients = seen.map { $0.joined(separator: " · ") }.joined(separator: " ∥ ")
    let server = served.map { connections in
      connections.map { $0.isEmpty ? "nothing" : $0.joined(separator: " · ") }
        .joined(separator: " ∥ ")
    }
    return "| \(name) | \(numbers) | \(clients) | \(server ?? "") |"
      .replacing("\r\n", with: "↵")
  }

  /// The one list of acts, if there are no others.
  var script: [ServerAct]? {
    guard case .serves(let scripts) = port, scripts.count == 1 else { return nil }
    return scripts[0]
  }

  /// What a run of it is to come to.
  var expected: Outcome { Outcome(clients: seen, server: served) }

  /// What a run of it came to.
  struct Outcome: Equatable {
    var clients: [[String]]
    var server: [[String]]?
    /// No byte is missing where the server has read to the end.
    var isConserved = true
  }
}

/// Where a client dials.
enum Target: Sendable {
  case server
  /// A name of two addresses: nobody listens at the first, the server at the second.
  case secondAddress
  /// A name of two addresses at which nobody listens.
  case twoDeadAddresses
  case endpoint(Endpoint)
}

/// One thing that the client's program does, or waits for.
enum ClientAct: Sendable {
  /// Dials, and waits for the answer.
  case dial(Target)
  /// Dials, and gives up after so long.
  case dialAtMost(TimeSpan)
  /// Dials, and is held up until the server's reset has come, before it can see the answer.
  case dialHeldUp
  /// Writes all of it, in as many pieces as it takes.
  case write([UInt8])
  /// Writes once, what is taken of it.
  case writeOnce([UInt8])
  /// Writes until nothing more is taken, also later, until the server may go on.
  case fill
  case untilWritable
  /// Reads so many bytes, or to the end or an error.
  case read(Int)
  /// Reads to the end or an error.
  case readToEnd
  /// The same, and gives up after so long.
  case readAtMost(TimeSpan)
  /// Reads once.
  case readOnce
  /// Writes all of it and reads as many bytes, both at the same time.
  case exchange([UInt8])
  case finish
  case close
  case reset
  /// The server goes on behind its next `wait`.
  case letServerGoOn
  /// Waits until something has come about, of which the program is told nothing.
  case until(Hidden)

  /// What happens in the systems, or with the server's program.
  enum Hidden: Sendable {
    /// So many bytes lie unread at the client.
    case bytes(Int)
    /// The peer's FIN has arrived.
    case end
    /// The peer's reset has arrived.
    case reset
    /// The server does not listen any more.
    case serverStops
    /// It does again.
    case serverListens
  }
}

/// Bytes of which any piece shows whether it stands at its place.
enum Pattern {
  private static let period = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }

  static func bytes(_ count: Int, from start: Int = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let place = (start + bytes.count) % period.count
      bytes += period[place..<min(period.count, place + count - bytes.count)]
    }
    return bytes
  }

  /// A text, or whether many bytes are those of the pattern. How many they are depends on the
  /// buffers, and is compared by whoever knows.
  static func describe(_ bytes: [UInt8]) -> String {
    guard bytes.count > 200 else { return "“\(String(decoding: bytes, as: UTF8.self))”" }
    return bytes == Self.bytes(bytes.count) ? "many bytes in order" : "many bytes in disorder"
  }
}

extension ByteStory.Outcome {
  init<Stream>(_ clients: [any StoryProgram], _ server: StoryServer<Stream>?) {
    self.clients = clients.map(\.seen)
    guard let server else { return }
    self.server = server.notes
    guard server.notes.allSatisfy({ $0.last == "end" }) else { return }
    let written = clients.compactMap(\.written)
    isConserved = written.count < clients.count || server.bytesRead == written.reduce(0, +)
  }
}
