/// What a connection sends as its beat, and what answers it (F42); the policy's ``Beat`` says when.
public struct BeatMessage: Sendable {
  /// Makes the message of a beat; called on the loop when one is due. A message that the protocol
  /// cannot carry ends the link with `Cause.protocolError`.
  public var payload: @Sendable () -> Message
  /// Whether a message that arrived is the peer's answer to the last beat; such a message is not
  /// delivered. Nil, the default, where the peer answers nothing.
  public var isAnswer: (@Sendable (Message) -> Bool)?

  /// Makes the words of a beat.
  public init(
    isAnswer: (@Sendable (Message) -> Bool)? = nil, payload: @escaping @Sendable () -> Message
  ) {
    self.payload = payload
    self.isAnswer = isAnswer
  }

  /// Always the same text.
  public init(_ text: String) { self.init { Message(text) } }
}
