/// What a session says in the words of its protocol, and what the peer's messages mean to it.
///
/// A dialect knows the words, a session the order: login and its answer first, then what is
/// subscribed to, and only then anything of the application (I14). A dialect keeps nothing: the
/// same value serves every link, also two at once. All but ``read(_:)`` have a default, that of a
/// protocol without the thing.
public protocol SessionDialect: Sendable {
  /// The message that a link begins with; nil, the default, where nothing is said: the session is
  /// then ready without an answer.
  ///
  /// - Parameters:
  ///   - token: What the peer gave to resume the last session by; nil begins anew.
  ///   - credentials: Those of this link; nil where the connection has no provider.
  func login(resuming token: ResumeToken?, with credentials: Credentials?) -> Message?

  /// The message that subscribes to topics, at most ``SessionSettings/topicsPerMessage`` of them.
  func subscribe(to topics: [String]) -> Message

  /// The message that ends subscriptions.
  func unsubscribe(from topics: [String]) -> Message

  /// The message that asks for all that a topic has brought after a number, up to now; nil, the
  /// default, has the session subscribe anew after a gap.
  ///
  /// Where it is answered, a topic's numbers outlive the link; otherwise a new link begins with
  /// whatever number comes first. The peer sends again what it sent after the gap: that was dropped
  /// so as to keep the order.
  func recover(_ topic: String, after sequence: UInt64) -> Message?

  /// A message of the application with a number that says which it is, also when it is sent again:
  /// in lanes at least once. The default leaves it as it is; the peer can then not tell a message
  /// from its repetition.
  func number(_ message: Message, as number: UInt64) -> Message

  /// A message of the application as a request, whose answer names the same id.
  func request(_ message: Message, id: UInt64) -> Message

  /// The message that confirms a numbered message of the peer's, and all before it; nil, the
  /// default, for any number where nothing is confirmed.
  func acknowledgement(through number: UInt64) -> Message?

  /// What a message of the peer's means.
  func read(_ message: Message) -> SessionMessage
}

extension SessionDialect {
  public func login(resuming token: ResumeToken?, with credentials: Credentials?) -> Message? {
    nil
  }
  public func recover(_ topic: String, after sequence: UInt64) -> Message? { nil }
  public func number(_ message: Message, as number: UInt64) -> Message { message }
  public func acknowledgement(through number: UInt64) -> Message? { nil }
}

/// What a message of the peer's means to a session.
public enum SessionMessage: Equatable, Sendable {
  /// The login is accepted, and a new session begins; the token, if any, resumes it later.
  case accepted(ResumeToken?)
  /// The session of the link before goes on.
  case resumed(ResumeToken?)
  /// The peer does not know the old session any more: the session logs in anew on the same link.
  case resumeRefused
  /// The login is refused.
  case refused(Refusal)
  /// A later token takes the place of the one that was given.
  case token(ResumeToken)
  /// These topics are subscribed to. What is sent on a link is answered in its order.
  case subscribed([String])
  /// These topics are not subscribed to any more.
  case unsubscribed([String])
  /// The peer gives no such topic, and why.
  case topicRefused(String, reason: String)
  /// A message of a topic. With a sequence each number is given once and rises by one. It belongs
  /// to the topic, not to the link: where two links live, both bring the same ones.
  case published(topic: String, sequence: UInt64?, Message)
  /// The whole of a topic as of that sequence: what comes next is one above it.
  case snapshot(topic: String, sequence: UInt64, Message)
  /// A message with a number of its session's that rises by one, and is the same when it is sent
  /// again.
  case numbered(UInt64, Message)
  /// The peer has taken this numbered message of ours, and all before it.
  case acknowledged(through: UInt64)
  /// The answer to a request.
  case response(id: UInt64, Message)
  /// A message for the application as it is.
  case application(Message)
  /// The session's own affair: nobody is told.
  case nothing
}

/// What resumes a session, in the peer's own words. It never shows in a description, a dump or a
/// trace: whoever has it has the session.
public struct ResumeToken: Hashable, Sendable {
  /// The token, as it came from the peer.
  public let text: String

  /// Makes a token.
  public init(_ text: String) { self.text = text }
}

extension ResumeToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "resume token (hidden)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The measures of a session.
public struct SessionSettings: Sendable {
  /// How many topics one message names at most: 1 to 1,000,000. Default 100.
  public var topicsPerMessage: Int
  /// How many messages a second the session itself sends (subscriptions, recoveries,
  /// acknowledgements, but not the login), on average: 1 to 1,000,000; nil, the default, knows no
  /// limit. Within one second it may be ``burst`` more. Exchanges ban clients above theirs: Binance
  /// allows 5.
  public var messagesPerSecond: Int?
  /// How many it may send at once when it was quiet for long: 1 to 1,000,000. Default 5.
  public var burst: Int
  /// How long a subscription may go unconfirmed before it is asked for again. Default 5 s; nil
  /// takes each for confirmed once it is sent, where the protocol has no such word, and asks for
  /// all again when a session is resumed. As long, or 5 s where it is nil, a recovery may bring
  /// nothing before the topic is subscribed to anew.
  public var confirmationTimeout: TimeSpan?
  /// How many numbers of the peer's messages are remembered above one that is missing, to drop what
  /// comes twice: 1 to 1,000,000. Then the missing one is given up. Default 1024.
  public var deduplicationWindow: Int
  /// How many requests may be without an answer at a time: 1 to 1,000,000. Default 1024.
  public var requestLimit: Int

  /// Makes the measures.
  public init(
    topicsPerMessage: Int = 100, messagesPerSecond: Int? = nil, burst: Int = 5,
    confirmationTimeout: TimeSpan? = .seconds(5), deduplicationWindow: Int = 1024,
    requestLimit: Int = 1024
  ) {
    self.topicsPerMessage = topicsPerMessage
    self.messagesPerSecond = messagesPerSecond
    self.burst = burst
    self.confirmationTimeout = confirmationTimeout
    self.deduplicationWindow = deduplicationWindow
    self.requestLimit = requestLimit
  }
}
