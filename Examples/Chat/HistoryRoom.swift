package import ConnectionFSM
package import Transports

/// The server's side of the chat, which remembers what was said.
package final class HistoryRoom: ServerProgram {
  private struct Member {
    let name: String
    let run: String
    var hasJoined = false
  }

  /// How many lines are remembered.
  private static let limit = 1000

  private var members: [Int: Member] = [:]
  private var lines: [(number: UInt64, text: String)] = []
  private var nextNumber: UInt64
  /// How far each run of a client has been heard.
  private var heard: [String: UInt64] = [:]

  /// Makes an empty room.
  /// - Parameter number: The number of its first line. It must be above all of the room's earlier
  ///   lives, whose lines are forgotten, or a client would take its lines for old ones.
  package init(firstNumber number: UInt64) { nextNumber = number }

  package func left(_ client: Int) { members[client] = nil }

  package func received(_ message: Message, from client: Int) -> [ServerDeed] {
    let words = message.text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    switch (words[0], words.count) {
    case ("ping", 1): return [.send(Message("pong"), to: client)]
    case ("iam", 3): return enter(client, String(words[1]), run: String(words[2]))
    case ("join", 1): return join(client)
    case ("leave", 1):
      members[client]?.hasJoined = false
      return [.send(Message("left"), to: client)]
    case ("since", 2):
      guard let number = UInt64(words[1]) else { return [.close(client)] }
      return history(after: number, for: client)
    case ("say", 3):
      guard let count = UInt64(words[1]), let member = members[client] else {
        return [.close(client)]
      }
      return say(String(words[2]), count, member, client)
    default: return [.close(client)]
    }
  }

  private func enter(_ client: Int, _ name: String, run: String) -> [ServerDeed] {
    guard !name.isEmpty, !members.values.contains(where: { $0.name == name && $0.run != run })
    else { return [.send(Message("refused that name is taken"), to: client), .close(client)] }
    // The same run again: its last connection is dead, even if that was not noticed here yet.
    let former = members.filter { $0.value.name == name }.keys.sorted()
    for other in former { members[other] = nil }
    members[client] = Member(name: name, run: run)
    return former.map { .close($0) } + [.send(Message("welcome"), to: client)]
  }

  private func join(_ client: Int) -> [ServerDeed] {
    guard members[client] != nil else { return [.close(client)] }
    members[client]?.hasJoined = true
    let last = lines.last.map { Message("line \($0.number) \($0.text)") }
    // Whoever missed something sees it by the last line's number.
    return ([Message("joined")] + (last.map { [$0] } ?? [])).map { .send($0, to: client) }
  }

  private func history(after number: UInt64, for client: Int) -> [ServerDeed] {
    let missed = lines.drop { $0.number <= number }
    return missed.enumerated().map { place, line in
      let isWhole = place > 0 || line.number == number + 1
      return .send(
        Message("\(isWhole ? "line" : "anew") \(line.number) \(line.text)"), to: client)
    }
  }

  private func say(
    _ text: String, _ count: UInt64, _ member: Member, _ client: Int
  ) -> [ServerDeed] {
    let taken = ServerDeed.send(Message("taken \(count)"), to: client)
    let run = "\(member.name) \(member.run)"
    // Said again by a client that did not hear that it was taken.
    if let last = heard[run], count <= last { return [taken] }
    heard[run] = count
    let line = "\(member.name): \(text)"
    lines.append((nextNumber, line))
    if lines.count > Self.limit { lines.removeFirst() }
    let words = Message("line \(nextNumber) \(line)")
    nextNumber += 1
    let listeners = members.filter { $0.value.hasJoined }.keys.sorted()
    return listeners.map { .send(words, to: $0) } + [taken]
  }
}
