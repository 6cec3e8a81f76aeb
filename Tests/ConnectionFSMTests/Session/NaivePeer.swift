import ConnectionFSM

/// What goes wrong in one run; each seed has some of it and not the rest.
struct SessionWeather {
  var logsIn = true
  var recovers = true
  var confirms = true
  var sendsSnapshots = false
  var ignoresQuestions = false
  var skipsMessages = false
  var repeatsMessages = false
  var throwsOut = false
  var forgetsSessions = false

  init(_ walk: inout Walk) {
    logsIn = walk.chance(80)
    recovers = walk.chance(60)
    confirms = walk.chance(75)
    sendsSnapshots = walk.chance(30)
    // What is ignored is only asked for again where confirmations are expected.
    ignoresQuestions = confirms && walk.chance(40)
    skipsMessages = walk.chance(50)
    repeatsMessages = walk.chance(50)
    throwsOut = confirms && walk.chance(30)
    forgetsSessions = walk.chance(50)
  }

  mutating func clear() {
    (ignoresQuestions, skipsMessages, repeatsMessages) = (false, false, false)
    (throwsOut, forgetsSessions) = (false, false)
  }
}

/// A server as anyone would write it: one message after the other, sets and arrays.
struct NaivePeer {
  struct Conversation {
    var topics: Set<String> = []
    var thrownOut: Set<String> = []
    var sent: UInt64 = 0
    var acknowledged: UInt64 = 0
  }

  struct Link {
    var token: String
    var topics: Set<String> = []
    /// What it has ended by itself; it says so again when the session is resumed.
    var thrownOut: Set<String> = []
    var toPeer: [String] = []
    var toUs: [String] = []
  }

  static let topics = (0..<9).map { "t\($0)" }
  /// There is no such topic.
  static let unheardOf: Set<String> = ["t7", "t8"]

  var weather: SessionWeather
  var walk: Walk
  var links: [UInt64: Link] = [:]
  var conversations: [String: Conversation] = ["common": Conversation()]
  var published: [String: UInt64] = [:]
  /// The first thing it was told that makes no sense.
  var complaint: String?

  init(_ weather: SessionWeather, seed: UInt64) {
    self.weather = weather
    walk = Walk(seed: seed)
  }

  mutating func connected(_ link: UInt64) {
    links[link] = Link(token: "common")
    if !weather.logsIn { sendUnacknowledged(on: link) }
  }

  mutating func lost(_ link: UInt64) {
    // What was on its way arrives in part.
    let arrived = links[link].map { walk.below($0.toPeer.count + 1) } ?? 0
    for _ in 0..<arrived { read(link) }
    guard let gone = links.removeValue(forKey: link) else { return }
    if gone.token != "common" {
      conversations[gone.token]?.topics = gone.topics
      conversations[gone.token]?.thrownOut = gone.thrownOut
    }
  }

  mutating func publish(_ topic: String) {
    let number = published[topic, default: 0] + 1
    published[topic] = number
    for link in links.keys.sorted() where links[link]?.topics.contains(topic) == true {
      if weather.skipsMessages, walk.chance(15) { continue }
      say("pub \(topic) \(number)", on: link)
    }
  }

  /// Sends the next numbered message.
  mutating func tell(_ link: UInt64) {
    guard let token = links[link]?.token, token != "common" || !weather.logsIn else { return }
    // Where all links are one session, the newest has taken over what the others have not got.
    if token == "common", link != links.keys.max() { return }
    conversations[token]?.sent += 1
    say("num \(conversations[token]?.sent ?? 0) \(token)", on: link)
  }

  mutating func throwOut(_ link: UInt64) {
    guard weather.throwsOut, let topic = links[link]?.topics.sorted().first else { return }
    links[link]?.topics.remove(topic)
    links[link]?.thrownOut.insert(topic)
    say("unsubbed \(topic)", on: link)
  }

  private mutating func say(_ words: String, on link: UInt64) {
    links[link]?.toUs.append(words)
    let isRepeatable = words.hasPrefix("pub") || words.hasPrefix("num")
    if isRepeatable, weather.repeatsMessages, walk.chance(15) { links[link]?.toUs.append(words) }
  }

  private mutating func sendUnacknowledged(on link: UInt64) {
    guard let token = links[link]?.token, let conversation = conversations[token] else { return }
    for number in conversation.acknowledged..<conversation.sent {
      say("num \(number + 1) \(token)", on: link)
    }
  }
}

extension NaivePeer {
  /// Reads the next message of that link.
  mutating func read(_ link: UInt64) {
    guard links[link]?.toPeer.isEmpty == false, let text = links[link]?.toPeer.removeFirst()
    else { return }
    let words = text.split(separator: " ").map(String.init)
    let topics = words.count > 1 ? words[1].split(separator: ",").map(String.init) : []
    switch words[0] {
    case "login": login(words.count > 1 ? words[1] : nil, on: link)
    case "sub": subscribe(topics, on: link)
    case "unsub":
      links[link]?.topics.subtract(topics)
      if weather.confirms { say("unsubbed \(words[1])", on: link) }
    case "recover": recover(words[1], after: UInt64(words[2]) ?? 0, on: link)
    case "ack": acknowledge(UInt64(words[1]) ?? 0, on: link)
    default: complaint = complaint ?? "the peer was told \(text)"
    }
  }

  private mutating func login(_ token: String?, on link: UInt64) {
    if let token {
      guard let conversation = conversations[token], !(weather.forgetsSessions && walk.chance(60))
      else {
        conversations[token] = nil
        return say("expired", on: link)
      }
      links[link]?.token = token
      links[link]?.topics = conversation.topics
      links[link]?.thrownOut = conversation.thrownOut
      say("resumed", on: link)
      for topic in conversation.thrownOut.sorted() { say("unsubbed \(topic)", on: link) }
      sendUnacknowledged(on: link)
    } else {
      let token = "s\(conversations.count)-\(link)"
      conversations[token] = Conversation()
      links[link]?.token = token
      say("accepted \(token)", on: link)
    }
  }

  private mutating func subscribe(_ topics: [String], on link: UInt64) {
    if weather.ignoresQuestions, walk.chance(30) { return }
    for topic in topics {
      if Self.unheardOf.contains(topic) {
        say("nosuch \(topic)", on: link)
      } else {
        links[link]?.topics.insert(topic)
        links[link]?.thrownOut.remove(topic)
        if weather.confirms { say("subbed \(topic)", on: link) }
        let number = published[topic] ?? 0
        if weather.sendsSnapshots { say("snap \(topic) \(number)", on: link) }
      }
    }
  }

  private mutating func recover(_ topic: String, after number: UInt64, on link: UInt64) {
    if weather.ignoresQuestions, walk.chance(30) { return }
    let last = published[topic] ?? 0
    guard links[link]?.topics.contains(topic) == true, number < last else { return }
    for missed in (number + 1)...last { say("pub \(topic) \(missed)", on: link) }
  }

  private mutating func acknowledge(_ number: UInt64, on link: UInt64) {
    guard let token = links[link]?.token, let conversation = conversations[token] else { return }
    if number > conversation.sent { complaint = "acknowledged \(number), which was not sent" }
    conversations[token]?.acknowledged = max(conversation.acknowledged, number)
  }
}
