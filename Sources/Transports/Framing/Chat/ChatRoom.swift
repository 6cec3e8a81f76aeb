/// What a client of a chat wants, as its command says.
package enum ChatCommand: Equatable, Sendable {
  /// Its name from now on, and a password if it gave one.
  case iam(name: String, password: String?)
  /// What it says to all.
  case msg(String)
  /// Nothing that is known.
  case unknown

  /// Reads a command.
  /// - Parameter isBare: Split at every colon and use the first fields, as the published server
  ///   did, which cuts a text at its colon.
  package init(_ command: String, isBare: Bool) {
    // By bytes: a mark that combines with what stands before it would hide a colon.
    func split(_ text: Substring.UTF8View, _ most: Int) -> [Substring.UTF8View] {
      text.split(separator: UInt8(ascii: ":"), maxSplits: most, omittingEmptySubsequences: false)
    }
    let fields = split(Substring(command).utf8, isBare ? .max : 1)
    guard fields.count > 1 else {
      self = .unknown
      return
    }
    switch String(Substring(fields[0])) {
    case "iam":
      let parts = isBare ? Array(fields.dropFirst()) : split(fields[1], 1)
      self = .iam(
        name: String(Substring(parts[0])),
        password: parts.count > 1 ? String(Substring(parts[1])) : nil)
    case "msg": self = .msg(String(Substring(fields[1])))
    default: self = .unknown
    }
  }
}

/// The people of a chat, and who hears what: no clock and no socket, so that servers on sockets and
/// simulated ones share it.
package struct ChatRoom<Client: Hashable & Sendable>: Sendable {
  /// What is to be done.
  package enum Effect: Equatable, Sendable {
    /// Send a line.
    case send(String, to: Client)
    /// End the connection.
    case drop(Client)
  }

  private let maximumLength: Int
  /// In order of arrival, so that a run repeats.
  private var clients: [(id: Client, name: String?)] = []

  /// Makes an empty room.
  /// - Parameter maximumLength: The most bytes of a line, without its end. Who would make a longer
  ///   one is dropped: it would break the links of all others.
  package init(maximumLength: Int = 65_536) { self.maximumLength = maximumLength }

  /// The names there are, in order of arrival.
  package var names: [String] { clients.compactMap(\.name) }

  /// A client is connected. It hears what is said, and has no name yet.
  package mutating func arrived(_ client: Client) { clients.append((client, nil)) }

  /// A client is gone; nobody is told.
  package mutating func left(_ client: Client) { clients.removeAll { $0.id == client } }

  /// A client asks for something. To speak without a name drops the connection, as does a line too
  /// long; an unknown command is ignored.
  package mutating func handle(
    _ command: ChatCommand, from client: Client, into effects: inout [Effect]
  ) {
    guard let place = clients.firstIndex(where: { $0.id == client }) else { return }
    switch command {
    case .iam(let name, _):
      clients[place].name = name
      broadcast("\(name) has joined", by: client, &effects)
    case .msg(let text):
      guard let name = clients[place].name else { return drop(client, &effects) }
      broadcast("\(name): \(text)", by: client, &effects)
    case .unknown: return
    }
  }

  private mutating func broadcast(_ line: String, by client: Client, _ effects: inout [Effect]) {
    // A bare read can hold a line's end.
    guard line.utf8.count <= maximumLength, !line.utf8.contains(UInt8(ascii: "\n")) else {
      return drop(client, &effects)
    }
    for other in clients { effects.append(.send(line, to: other.id)) }
  }

  private mutating func drop(_ client: Client, _ effects: inout [Effect]) {
    left(client)
    effects.append(.drop(client))
  }
}
