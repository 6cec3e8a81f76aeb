import ConnectionFSM

/// The books of a run over bytes: what was sent, what the server and the application read, and how
/// each message ended. Objects at once where they do not fit.
struct StreamBooks {
  /// How a message ended, as its sender was told.
  typealias End = Result<Outcome, Rejection>

  private struct Entry {
    let message: StreamMessage
    /// Messages whose payload is the same cannot be told apart by who reads them.
    let content: Int
    /// When it was given to the connection; nil before.
    var offeredAt: Instant?
    /// It was taken back before that: nobody may ever hear of it.
    var isCancelled = false
    /// Under which id it was sent, where that is known.
    var id: MessageID?
    /// As which of all it was posted: those come in the order of the calls.
    var posted = 0
    var end: End?
  }

  /// Messages of one payload, taken together.
  private struct Content {
    var name: String
    var isUnique = true
    /// How many may be read once, and how many again and again.
    var once = 0
    var oftener = 0
    var acknowledged = 0
    var read = 0
    var delivered = 0
    /// The message it is, of those that are alone; and where it was read last.
    var lane: UInt8 = 0
    var entry = 0
  }

  private var entries: [Entry] = []
  private var contents: [Content] = []
  // Looked up, never walked through.
  private var places: [String: Int] = [:]
  private var contentOf: [[UInt8]: Int] = [:]
  /// By connection and lane, the message read last.
  private var lastRead: [LinkLane: MessageID] = [:]
  // Looked up, never walked through.
  private var sentAs: [MessageID: Int] = [:]
  private var posts = 0
  private let lanes: [Lane]
  /// What a server reads that is not of the application: pings.
  private let small: Set<[UInt8]>

  private struct LinkLane: Hashable {
    let connection: Int
    let lane: UInt8
  }

  init(_ messages: [StreamMessage], lanes: [Lane], heartbeats: Set<[UInt8]>) {
    self.lanes = lanes
    small = heartbeats
    for message in messages { add(message) }
  }

  private mutating func add(_ message: StreamMessage) {
    let content = contentOf[message.payload] ?? contents.count
    if content == contents.count {
      contentOf[message.payload] = content
      contents.append(Content(name: message.label, lane: message.lane, entry: entries.count))
    } else {
      contents[content].isUnique = false
      contents[content].name += "/" + message.label
    }
    places[message.label] = entries.count
    entries.append(Entry(message: message, content: content))
  }
}

// MARK: What happens

extension StreamBooks {
  mutating func offered(_ label: String, at now: Instant) {
    guard let place = places[label] else { return }
    entries[place].offeredAt = now
    if entries[place].message.way == .post {
      posts += 1
      entries[place].posted = posts
    }
    let lane = Int(entries[place].message.lane)
    guard lane < lanes.count else { return }
    switch lanes[lane].delivery {
    case .atMostOnce: contents[entries[place].content].once += 1
    case .atLeastOnce: contents[entries[place].content].oftener += 1
    }
  }

  mutating func cancelled(_ label: String) {
    guard let place = places[label], entries[place].offeredAt == nil else { return }
    entries[place].isCancelled = true
  }

  mutating func ended(_ label: String, _ end: End, at now: Instant) throws(Violation) {
    guard let place = places[label] else { return }
    if let first = entries[place].end {
      throw Violation("I11", "\(label) ended as \(first), and at \(now) as \(end)")
    }
    entries[place].end = end
    guard !entries[place].isCancelled || end == .success(.cancelled) else {
      throw Violation("I11", "\(label) was cancelled before it was sent, and ended as \(end.word)")
    }
    let content = entries[place].content
    let lane = Int(entries[place].message.lane)
    switch end {
    case .failure, .success(.expired), .success(.evicted), .success(.cancelled):
      guard lane < lanes.count else { break }
      if lanes[lane].delivery == .atMostOnce {
        contents[content].once -= 1
      } else {
        contents[content].oftener -= 1
      }
    case .success(.acknowledged): contents[content].acknowledged += 1
    case .success(.written), .success(.inDoubt): break
    }
    try compare(content, "\(label) ended as \(end.word) at \(now)")
  }

  /// A link was given something to send.
  mutating func sent(_ bytes: [UInt8], as id: MessageID) throws(Violation) {
    guard let content = contentOf[bytes] else {
      throw Violation("I22", "\(id) was sent, and is no message of the application")
    }
    if let before = sentAs.updateValue(content, forKey: id), before != content {
      throw Violation(
        "I22", "\(id) was sent as \(contents[before].name), and as \(contents[content].name)")
    }
    guard contents[content].isUnique else { return }
    let entry = contents[content].entry
    if let before = entries[entry].id, before != id {
      throw Violation("I22", "\(contents[content].name) was sent as \(before), and as \(id)")
    }
    entries[entry].id = id
  }

  /// The server read something.
  /// - Returns: The label; nil for a heartbeat.
  mutating func read(
    _ bytes: [UInt8], on connection: Int, at now: Instant
  ) throws(Violation) -> String? {
    guard let content = contentOf[bytes] else {
      if small.contains(bytes) { return nil }
      throw Violation(
        "I12", "at \(now) the server read \(bytes.count) bytes that nobody sent: \(bytes.words)")
    }
    contents[content].read += 1
    let name = contents[content].name
    try compare(content, "the server read \(name) at \(now) on connection \(connection)")
    guard contents[content].isUnique, let id = entries[contents[content].entry].id else {
      return name
    }
    let key = LinkLane(connection: connection, lane: contents[content].lane)
    if let last = lastRead[key], id <= last {
      throw Violation(
        "I11", "at \(now) the server read \(name) on connection \(connection) behind a later one")
    }
    lastRead[key] = id
    return name
  }

  /// The application read something.
  mutating func delivered(_ bytes: [UInt8], at now: Instant) throws(Violation) -> String {
    guard let content = contentOf[bytes] else {
      throw Violation(
        "I13",
        "at \(now) the application read \(bytes.count) bytes that nobody sent: \(bytes.words)")
    }
    contents[content].delivered += 1
    let name = contents[content].name
    guard contents[content].delivered <= contents[content].read else {
      throw Violation("I22", "\(name) was delivered at \(now), and the server did not send it")
    }
    return name
  }

  private func compare(_ content: Int, _ event: String) throws(Violation) {
    let content = contents[content]
    guard content.oftener > 0 || content.read <= content.once else {
      throw Violation(
        "I11", "\(event), and was read \(content.read) times of \(content.once) allowed")
    }
    guard content.acknowledged <= content.read else {
      throw Violation("I11", "\(event), and was read \(content.read) times")
    }
  }
}

// MARK: What is left

extension StreamBooks {
  func knows(_ label: String) -> Bool { places[label] != nil }

  /// How a message ended; “pending” while it lives, nil if it was not offered.
  func outcome(of label: String) -> String? {
    guard let place = places[label], entries[place].offeredAt != nil else { return nil }
    return entries[place].end.map(\.word) ?? "pending"
  }

  /// What was offered up to an instant and has no end.
  func pending(through instant: Instant) -> String? {
    entries.first { entry in
      entry.end == nil && entry.offeredAt.map { $0 <= instant } ?? false
    }?.message.label
  }

  /// All is over: nothing comes any more.
  func judgeEnd() throws(Violation) {
    for entry in entries where entry.offeredAt != nil && entry.end == nil {
      throw Violation("I11", "\(entry.message.label) has no end after the close")
    }
    for content in contents where content.delivered < content.acknowledged {
      throw Violation("I11", "\(content.name) was acknowledged, and its echo was lost")
    }
    var last: [MessageID?] = Array(repeating: nil, count: lanes.count)
    let posted = entries.filter { $0.posted > 0 }.sorted { $0.posted < $1.posted }
    for entry in posted {
      guard let id = entry.id else { continue }
      if let before = last[Int(id.lane.rawValue)], id < before {
        throw Violation("I17", "\(entry.message.label) was taken before what was posted earlier")
      }
      last[Int(id.lane.rawValue)] = id
    }
  }

  /// Each message that ended, in the story's order: “a written”.
  var outcomes: [String] {
    entries.compactMap { entry in entry.end.map { "\(entry.message.label) \($0.word)" } }
  }
}

extension StreamBooks.End {
  var word: String {
    switch self {
    case .success(let outcome): "\(outcome)"
    case .failure(let rejection): "rejected(\(rejection))"
    }
  }
}

extension [UInt8] {
  /// The beginning, for people.
  fileprivate var words: String {
    "“" + String(decoding: prefix(40), as: UTF8.self) + (count > 40 ? "…”" : "”")
  }
}
