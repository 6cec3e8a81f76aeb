extension SessionSettings {
  /// Whether they can work; in the manner of a policy's parts.
  package func validate() throws(PolicyError) {
    try Self.require(topicsPerMessage, "session.topicsPerMessage")
    if let messagesPerSecond { try Self.require(messagesPerSecond, "session.messagesPerSecond") }
    try Self.require(burst, "session.burst")
    if let confirmationTimeout {
      try Policy.requirePositive(confirmationTimeout, "session.confirmationTimeout")
    }
    try Self.require(deduplicationWindow, "session.deduplicationWindow")
    try Self.require(requestLimit, "session.requestLimit")
  }

  /// A million is beyond any use, and far from where a product would overflow.
  private static func require(_ count: Int, _ knob: StaticString) throws(PolicyError) {
    guard (1...1_000_000).contains(count) else {
      throw PolicyError(knob, "must be 1 to 1,000,000")
    }
  }
}
