package import ConnectionFSM

/// The words of this chat, one line each.
///
/// | client | server |
/// | --- | --- |
/// | `iam NAME RUN` | `welcome`, or `refused REASON` |
/// | `join` | `joined`, then the last line said |
/// | `since NUMBER` | all lines after that number |
/// | `say COUNT TEXT` | `taken COUNT` |
/// | | `line NUMBER NAME: TEXT` |
/// | | `anew NUMBER NAME: TEXT`: the lines before this one are forgotten |
///
/// Lines have a number each, so that a client that was away sees the gap and asks for it. What a
/// client says is counted, so that the server knows what it was sent twice. That is all: when to
/// say what is the session's affair.
package struct ChatDialect: SessionDialect {
  /// The one topic: what is said in the room.
  package static let room = "room"

  private let name: String
  private let run: UInt64

  /// - Parameters:
  ///   - name: Who joins: one word.
  ///   - run: Tells this run of the client from its others: its count begins anew.
  package init(name: String, run: UInt64) {
    self.name = name
    self.run = run
  }

  package func login(resuming token: ResumeToken?, with credentials: Credentials?) -> Message? {
    Message("iam \(name) \(run)")
  }

  package func subscribe(to topics: [String]) -> Message { Message("join") }

  package func unsubscribe(from topics: [String]) -> Message { Message("leave") }

  package func recover(_ topic: String, after sequence: UInt64) -> Message? {
    Message("since \(sequence)")
  }

  package func number(_ message: Message, as number: UInt64) -> Message {
    Message("say \(number) \(message.text)")
  }

  package func request(_ message: Message, id: UInt64) -> Message { message }

  package func read(_ message: Message) -> SessionMessage {
    let words = message.text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    let number = words.count > 1 ? UInt64(words[1]) : nil
    switch (words[0], number) {
    case ("welcome", _): return .accepted(nil)
    case ("refused", _): return .refused(.denied)
    case ("joined", _): return .subscribed([Self.room])
    case ("left", _): return .unsubscribed([Self.room])
    case ("taken", let count?): return .acknowledged(through: count)
    case ("line", let number?) where words.count == 3:
      return .published(topic: Self.room, sequence: number, Message(String(words[2])))
    case ("anew", let number?) where words.count == 3:
      return .snapshot(topic: Self.room, sequence: number, Message(String(words[2])))
    // A newer server may know more words.
    default: return .nothing
    }
  }
}
