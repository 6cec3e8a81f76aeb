/// The messages that arrive on a connection, for one consumer, from the moment that it was asked
/// for; over all links.
///
/// It has a buffer of its own, so that a slow consumer holds up neither the connection nor other
/// consumers; what happens when that is full was chosen with ``SlowConsumerPolicy``. It ends when
/// the connection is released or its loop stops. Letting go of it, and of its iterators, ends the
/// interest.
public struct Messages: AsyncSequence, Sendable {
  public typealias Element = Message
  public typealias Failure = SlowConsumer

  private let interest: Interest

  init(_ interest: Interest) { self.interest = interest }

  public func makeAsyncIterator() -> Iterator { Iterator(interest: interest) }

  /// What this consumer did not get because it was slow.
  public var missed: Missed { interest.buffer.missed }

  /// Goes through the messages. Several may share one sequence; each message is given once.
  public struct Iterator: AsyncIteratorProtocol {
    let interest: Interest

    /// The next message; nil at the end, or when the task is cancelled.
    /// - Throws: ``SlowConsumer`` once, behind the messages that were in time, if a message was
    ///   lost by ``SlowConsumerPolicy/disconnect``.
    public mutating func next(
      isolation: isolated (any Actor)? = #isolation
    ) async throws(SlowConsumer) -> Message? {
      if let ready = interest.buffer.pop() { return try ready.get() }
      return try await interest.buffer.wait(isolation: isolation).get()
    }

    public mutating func next() async throws(SlowConsumer) -> Message? {
      try await next(isolation: nil)
    }
  }

  /// What a consumer missed.
  public struct Missed: Equatable, Sendable {
    /// Messages that made room for later ones.
    public var dropped = 0
    /// Messages that a later one of the same key took the place of.
    public var conflated = 0
  }

  /// Ends the interest when nobody holds it any more.
  final class Interest: Sendable {
    let buffer: MessageBuffer
    private let ended: @Sendable () -> Void

    init(_ buffer: MessageBuffer, ended: @escaping @Sendable () -> Void) {
      self.buffer = buffer
      self.ended = ended
    }

    deinit { ended() }
  }
}

/// What happens when a consumer's buffer is full.
public enum SlowConsumerPolicy: Sendable {
  /// The consumer ends with ``SlowConsumer``: better than a gap that nobody hears of.
  case disconnect
  /// The oldest message makes room.
  case dropOldest
  /// A message takes the place of an earlier one of the same key that still waits, so that the
  /// consumer gets the latest of each: prices for a screen. Nil is a key of its own for each
  /// message. When the buffer is full nevertheless, the oldest makes room.
  case conflate(by: @Sendable (Message) -> String?)
  /// The connection stops reading until half of the buffer is free again, and the peer has to wait:
  /// with it all other consumers and, behind what is unread, the peer's pings. Meanwhile the peer's
  /// silence does not count against it.
  ///
  /// Over a transport that cannot make its peer wait (``Transport/setReceiving(_:on:)``) the
  /// consumer ends with ``SlowConsumer`` at twice its limit.
  case suspendReading
}

/// A consumer of messages fell behind by more than its buffer holds; it missed at least one
/// message.
public struct SlowConsumer: Error, CustomStringConvertible {
  public var description: String {
    "a consumer of messages fell behind by more than its buffer: read faster, ask for more, or "
      + "choose another policy for a slow consumer"
  }
}
