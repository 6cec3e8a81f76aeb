/// Keeps the messages of one lane until they have ended, beyond the life of the process: what was
/// taken while there was no link is sent when the application runs again (RC199).
///
/// A connection keeps a message before its lane takes it, and forgets it at its end. What waits or
/// is in doubt when the connection is closed or released is not forgotten: it is in
/// ``recovered`` of the next outbox on the same store.
public protocol Outbox: AnyObject, Sendable {
  /// What an earlier process left, oldest first. The same for the life of this value.
  var recovered: [KeptMessage] { get }

  /// Keeps a message, behind all that were kept before.
  ///
  /// The completion is called once the message is safe, in the order of the calls, from any thread,
  /// never inside this call; with its number, or with why it is not kept.
  func keep(
    _ message: Message,
    completion: @escaping @Sendable (Result<UInt64, OutboxError>) -> Void)

  /// The message of that number has ended: it need not survive. Callable from anywhere.
  func forget(_ number: UInt64)
}

/// A message in an outbox.
public struct KeptMessage: Equatable, Sendable {
  /// Which it is: rises from message to message, also from process to process.
  public let number: UInt64
  /// What was kept.
  public let message: Message

  /// Makes an entry.
  public init(number: UInt64, message: Message) {
    self.number = number
    self.message = message
  }
}

/// Why a message is not kept.
public enum OutboxError: Error, Equatable, Sendable {
  /// The outbox holds as much as it may.
  case full
  /// The message alone is larger than the outbox may hold.
  case tooLarge
  /// The store failed, in the words of the system.
  case store(String)
}

extension OutboxError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full: "the outbox is full: wait until messages have ended, or make it larger"
    case .tooLarge: "the message is larger than the outbox: make the outbox larger"
    case .store(let reason): "the outbox cannot write: \(reason)"
    }
  }
}
