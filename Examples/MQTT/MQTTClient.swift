package import ConnectionFSM

/// A client of MQTT: an engine on a connection, and the words of MQTT on its calls.
package struct MQTTClient: Sendable {
  package let connection: Connection

  /// What brings a client through bad networks: messages at QoS 1 wait for the broker's word, and
  /// those at QoS 0 are worth nothing when they are old.
  package static func policy() throws(PolicyError) -> Policy {
    try Policy(
      backoff: Backoff(first: .seconds(1), base: .seconds(1), cap: .seconds(30)),
      heartbeat: Heartbeat(interval: .seconds(20), timeout: .seconds(5)),
      lanes: [
        Lane(.atMostOnce, timeToLive: .seconds(5), overflow: .dropOldest),
        Lane(.atLeastOnce, timeToLive: nil),
      ])
  }

  /// Makes a client at rest.
  /// - Parameter transport: What carries it, with an ``MQTTEngine``.
  package init(_ transport: sending some Transport, seed: UInt64? = nil) throws {
    connection = try Connection(transport, policy: Self.policy(), seed: seed)
  }

  /// Publishes, and waits for the end: at QoS 1 for the broker's word that it has the message.
  @discardableResult
  package func publish(
    _ publication: MQTTPublication, acknowledged: Bool
  ) async throws(Rejection) -> Outcome {
    try await connection.send(
      publication.message, in: acknowledged ? MQTTEngine.qualityOne : LaneID(0))
  }

  /// What arrives from now on, of all that the engine subscribes to.
  package func publications() -> AsyncThrowingCompactMapSequence<Messages, MQTTPublication> {
    connection.messages().compactMap { try MQTTPublication($0) }
  }
}
