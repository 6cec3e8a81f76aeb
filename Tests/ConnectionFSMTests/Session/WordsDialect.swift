import ConnectionFSM

/// A protocol of words parted by spaces, with everything that a session knows.
struct WordsDialect: SessionDialect {
  var logsIn = true
  var recovers = true
  var acknowledges = true

  func login(resuming token: ResumeToken?, with credentials: Credentials?) -> Message? {
    guard logsIn else { return nil }
    let words = ["login"] + [token?.text, credentials?.token].compactMap { $0 }
    return Message(words.joined(separator: " "))
  }

  func subscribe(to topics: [String]) -> Message {
    Message("sub " + topics.joined(separator: ","))
  }

  func unsubscribe(from topics: [String]) -> Message {
    Message("unsub " + topics.joined(separator: ","))
  }

  func recover(_ topic: String, after sequence: UInt64) -> Message? {
    recovers ? Message("recover \(topic) \(sequence)") : nil
  }

  func number(_ message: Message, as number: UInt64) -> Message {
    Message("\(number):\(message.text)")
  }

  func request(_ message: Message, id: UInt64) -> Message { Message("ask \(id) \(message.text)") }

  func acknowledgement(through number: UInt64) -> Message? {
    acknowledges ? Message("ack \(number)") : nil
  }

  func read(_ message: Message) -> SessionMessage {
    let words = message.text.split(separator: " ").map(String.init)
    let token = words.count > 1 ? ResumeToken(words[1]) : nil
    switch words.first {
    case "accepted": return .accepted(token)
    case "resumed": return .resumed(token)
    case "expired": return .resumeRefused
    case "refused": return .refused(.denied)
    case "token": return .token(ResumeToken(words[1]))
    case "subbed": return .subscribed(words[1].split(separator: ",").map(String.init))
    case "unsubbed": return .unsubscribed(words[1].split(separator: ",").map(String.init))
    case "nosuch": return .topicRefused(words[1], reason: "no such topic")
    case "pub": return published(words, message)
    case "snap": return .snapshot(topic: words[1], sequence: UInt64(words[2]) ?? 0, message)
    case "num": return .numbered(UInt64(words[1]) ?? 0, message)
    case "acked": return .acknowledged(through: UInt64(words[1]) ?? 0)
    case "answer": return .response(id: UInt64(words[1]) ?? 0, message)
    case "hum": return .nothing
    default: return .application(message)
    }
  }

  private func published(_ words: [String], _ message: Message) -> SessionMessage {
    .published(topic: words[1], sequence: words.count > 2 ? UInt64(words[2]) : nil, message)
  }
}
