/// What the owner of a session must do, in the order given.
package enum SessionAction: Equatable {
  /// Give this message to that link at once, ahead of the lanes.
  case send(Epoch, Message)
  /// Tell the machine.
  case report(Epoch, SessionEvent)
  /// Give this to the consumers; with the topic it belongs to, if any.
  case deliver(Message, topic: String?)
  /// The peer has taken our numbered message, and all before it, that this link carried.
  case acknowledged(Epoch, through: UInt64)
  /// The request has ended with this answer.
  case answered(UInt64, Message)
  /// The request has ended without an answer.
  case requestFailed(UInt64, RequestFailure)
  /// The peer gives no such topic: nobody is subscribed to it any more, however often it was asked
  /// for.
  case topicRefused(String, reason: String)
}

/// Why a request has no answer.
package enum RequestFailure: Equatable, Sendable {
  /// None came in time. The peer may have acted on it or not.
  case timedOut
  /// The link that carried it has ended. The peer may have acted on it or not.
  case linkLost
}
