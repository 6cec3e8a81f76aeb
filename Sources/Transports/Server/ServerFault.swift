package import ConnectionFSM

/// How a ``Server`` misbehaves.
package enum ServerFault: Equatable, Sendable {
  /// Not at all.
  case none
  /// Nobody listens: whoever dials is refused.
  case refuse
  /// Accepts and closes at once.
  case acceptAndDrop
  /// Reads and never answers.
  case mute
  /// Resets the connection at the message of this number, instead of an answer.
  case reset(atMessage: Int)
  /// Answers so many messages, then finishes writing and goes on reading.
  case halfClose(afterMessages: Int)
  /// Acts on each message so much later.
  case slow(TimeSpan)
  /// Sends these bytes, as they are, instead of the answer to the message of this number, and
  /// answers nothing more.
  case poison([UInt8], atMessage: Int)
}
