package import ConnectionFSM
package import Transports

/// A broker for as much of MQTT as ``MQTTEngine`` speaks: the other side of the example.
///
/// It forgets a client with its connection, sends each message to a subscriber once, and keeps
/// nothing for later.
package final class MQTTBroker: ServerProgram {
  private struct Client {
    var subscriptions: [MQTTSubscription] = []
    var lastPacketID: UInt16 = 0
  }

  private var clients: [Int: Client] = [:]
  private let note: (String) -> Void

  /// - Parameter note: Hears of each packet, but for pings.
  package init(note: @escaping (String) -> Void = { _ in }) { self.note = note }

  package func left(_ client: Int) { clients[client] = nil }

  package func received(_ message: Message, from client: Int) -> [ServerDeed] {
    guard let packet = try? MQTTPacket(message.bytes) else { return [.close(client)] }
    if packet != .pingreq { note("#\(client) \(packet.name)") }
    switch (packet, clients[client]) {
    case (.connect, nil):
      clients[client] = Client()
      return [send(.connack(isSessionPresent: false, code: 0), client)]
    case (.subscribe(let id, let wanted), _?):
      clients[client]?.subscriptions += wanted
      return [send(.suback(id: id, codes: wanted.map { min(1, $0.qualityOfService) }), client)]
    case (.publish(let publication, let id, _), _?):
      let deeds = deliver(publication, acknowledged: id != nil)
      return deeds + (id.map { [send(.puback(id: $0), client)] } ?? [])
    case (.pingreq, _?): return [send(.pingresp, client)]
    case (.puback, _?): return []
    // Also the client's own DISCONNECT.
    default: return [.close(client)]
    }
  }

  private func deliver(_ publication: MQTTPublication, acknowledged: Bool) -> [ServerDeed] {
    clients.keys.sorted().compactMap { client in
      let wanted = clients[client]?.subscriptions.filter {
        MQTTTopic.matches(publication.topic, filter: $0.filter)
      }
      guard let quality = wanted?.map(\.qualityOfService).max() else { return nil }
      guard acknowledged, quality > 0 else {
        return send(.publish(publication, id: nil, isRepeated: false), client)
      }
      let last = clients[client]?.lastPacketID ?? 0
      let id = last == .max ? 1 : last + 1
      clients[client]?.lastPacketID = id
      return send(.publish(publication, id: id, isRepeated: false), client)
    }
  }

  private func send(_ packet: MQTTPacket, _ client: Int) -> ServerDeed {
    .send(Message(bytes: packet.bytes), to: client)
  }
}

/// The broker's side of a link: each message is a packet as it travels.
package struct MQTTBrokerEngine: ProtocolEngine, Sendable {
  private var reader = MQTTReader()
  private var isOver = false
  private var patience: TimeSpan?

  package private(set) var nextDeadline: Instant?
  package private(set) var diagnosis: (any Error)?

  package init() {}

  package var canPing: Bool { false }

  package func admits(_ message: Message) -> Bool { true }

  package mutating func start(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.opened)
  }

  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    guard !isOver else { return }
    reader.append(bytes)
    do throws(MQTTError) {
      while let packet = try reader.next() {
        if case .connect(let connect) = packet, connect.keepAlive > 0 {
          patience = .milliseconds(1500 * Int64(connect.keepAlive))
        }
        output.events.append(.message(Message(bytes: packet.bytes)))
      }
    } catch {
      diagnosis = error
      return end(.failed(.protocolError), &output)
    }
    nextDeadline = patience.map { now + $0 }
  }

  package mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    if !isOver { end(reader.isInsidePacket ? .failed(.truncated) : .closed(nil), &output) }
  }

  package mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    if !isOver { output.bytes += message.bytes }
  }

  package mutating func ping(_ number: UInt32, into output: inout EngineOutput) {}

  /// A broker just ends the stream.
  package mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    isOver = true
    output.events += [.finished, .closed(nil)]
  }

  /// The client was silent for too long.
  package mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    guard !isOver, let due = nextDeadline, now >= due else { return }
    end(.failed(.timedOut(.pong)), &output)
  }

  private mutating func end(_ event: EngineEvent, _ output: inout EngineOutput) {
    isOver = true
    nextDeadline = nil
    output.events.append(event)
  }
}
