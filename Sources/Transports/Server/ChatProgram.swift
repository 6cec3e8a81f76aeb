package import ConnectionFSM

/// Runs a chat's room.
package final class ChatProgram: ServerProgram {
  private var room = ChatRoom<Int>()
  private let isBare: Bool

  /// Makes a program with an empty room.
  package init(isBare: Bool) { self.isBare = isBare }

  package func arrived(_ client: Int) { room.arrived(client) }

  package func left(_ client: Int) { room.left(client) }

  package func received(_ message: Message, from client: Int) -> [ServerDeed] {
    var effects: [ChatRoom<Int>.Effect] = []
    room.handle(ChatCommand(message.text, isBare: isBare), from: client, into: &effects)
    return effects.map { effect in
      switch effect {
      case .send(let line, let client): .send(Message(line), to: client)
      case .drop(let client): .close(client)
      }
    }
  }
}
