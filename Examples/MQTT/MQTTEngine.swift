package import ConnectionFSM

/// What a client of MQTT is, on every link alike.
package struct MQTTOptions: Sendable {
  /// Who we are to the broker, which ends an older connection of the same name.
  package let clientID: String
  /// What we want to hear, at QoS 1; subscribed to anew on each link before it counts as open.
  package let filters: [String]
  /// How long the broker may hear nothing of us, in seconds: 2 and above.
  package let keepAlive: UInt16
  /// Goes with the token of the connection's credentials, which is the password.
  package let userName: String?

  /// - Throws: ``MQTTError`` if a filter is none.
  package init(
    clientID: String, filters: [String] = [], keepAlive: UInt16 = 60, userName: String? = nil
  ) throws(MQTTError) {
    if let odd = filters.first(where: { !MQTTTopic.isFilter($0) }) { throw MQTTError(.topic(odd)) }
    self.clientID = clientID
    self.filters = filters
    self.keepAlive = max(2, keepAlive)
    self.userName = userName
  }
}

/// The client's side of MQTT 3.1.1 (OASIS, 2014), for one link.
///
/// - CONNECT, CONNACK, SUBSCRIBE and SUBACK are the handshake: what is open is subscribed, too.
/// - A message is an ``MQTTPublication``. In lane 1 it goes at QoS 1, and PUBACK is its
///   acknowledgement, so that the connection sends it again on the next link if the broker did not
///   say that it has it. In other lanes it goes at QoS 0.
/// - PINGREQ and PINGRESP are the ping. The machine pings when it hears nothing, the broker wants
///   to hear something of us: that is another clock, which is kept here.
///
/// The session at the broker is always a clean one: what is to survive a link is kept on this side.
package struct MQTTEngine: ProtocolEngine, Sendable {
  /// The lane whose messages go at QoS 1.
  package static let qualityOne = LaneID(1)

  private enum Stage {
    case connecting
    case subscribing(id: UInt16)
    case open
    case finished
    case over
  }

  private struct InFlight {
    let packetID: UInt16
    let message: MessageID
    var isAcknowledged = false
  }

  private let options: MQTTOptions
  private var password: [UInt8]?
  private var reader = MQTTReader()
  private var stage = Stage.connecting
  /// What was sent at QoS 1 and not reported yet, oldest first.
  private var inFlight: [InFlight] = []
  private var lastPacketID: UInt16 = 0
  /// Pings without an answer, oldest first; nil is one of the keep-alive.
  private var pings: [UInt32?] = []
  /// Nothing was written since the last look.
  private var wasQuiet = false

  package private(set) var nextDeadline: Instant?
  package private(set) var diagnosis: (any Error)?

  package init(_ options: MQTTOptions) { self.options = options }

  package var canPing: Bool { true }

  package var canAuthenticate: Bool { options.userName != nil }

  package mutating func authenticate(with credentials: Credentials) {
    password = Array(credentials.token.utf8)
  }

  package func admits(_ message: Message) -> Bool {
    do throws(MQTTError) { _ = try MQTTPublication(message) } catch { return false }
    return true
  }

  package mutating func start(at now: Instant, into output: inout EngineOutput) {
    var connect = MQTTConnect(clientID: options.clientID, keepAlive: options.keepAlive)
    connect.userName = options.userName
    connect.password = password
    write(.connect(connect), &output)
    look(at: now)
  }

  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    if case .over = stage { return }
    reader.append(bytes)
    do throws(MQTTError) {
      while let packet = try reader.next() { try take(packet, &output) }
    } catch {
      fail(error, &output)
    }
  }

  package mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    if case .over = stage { return }
    end(reader.isInsidePacket ? .failed(.truncated) : .closed(nil), &output)
  }

  package mutating func send(
    _ message: Message, id: MessageID?, into output: inout EngineOutput
  ) {
    guard case .open = stage else { return }
    do throws(MQTTError) {
      let publication = try MQTTPublication(message)
      guard let id, id.lane == Self.qualityOne else {
        return write(.publish(publication, id: nil, isRepeated: false), &output)
      }
      let packetID = nextPacketID()
      inFlight.append(InFlight(packetID: packetID, message: id))
      // To this session of the broker's it is new, also if another link has carried it before.
      write(.publish(publication, id: packetID, isRepeated: false), &output)
    } catch {
      fail(error, &output)
    }
  }

  package mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    guard case .open = stage else { return }
    ask(number, &output)
  }

  package mutating func close(at now: Instant, into output: inout EngineOutput) {
    switch stage {
    case .finished, .over: return
    case .connecting, .subscribing, .open: break
    }
    write(.disconnect, &output)
    stage = .finished
    nextDeadline = nil
    output.events.append(.finished)
  }

  package mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {
    guard let due = nextDeadline, now >= due else { return }
    if wasQuiet { ask(nil, &output) }
    look(at: now)
  }
}

// MARK: What arrives

extension MQTTEngine {
  private mutating func take(
    _ packet: MQTTPacket, _ output: inout EngineOutput
  ) throws(MQTTError) {
    switch (packet, stage) {
    case (.connack(_, code: 0), .connecting): subscribe(&output)
    case (.connack(_, let code), .connecting): throw MQTTError(.refused(code: code))
    case (.suback(let id, let codes), .subscribing(let asked)) where id == asked:
      guard codes.count == options.filters.count else { throw MQTTError(.unexpected(packet.name)) }
      if let refused = codes.firstIndex(of: 0x80) {
        throw MQTTError(.subscriptionRefused(options.filters[refused]))
      }
      open(&output)
    // What was kept for a topic may come ahead of the word that it is subscribed to.
    case (.publish(let publication, let id, _), .open),
      (.publish(let publication, let id, _), .subscribing):
      output.events.append(.message(publication.message))
      if let id { write(.puback(id: id), &output) }
    case (.puback(let id), .open), (.puback(let id), .finished):
      try acknowledged(id, &output)
    case (.pingresp, .open), (.pingresp, .subscribing):
      guard !pings.isEmpty else { throw MQTTError(.unexpected(packet.name)) }
      if let number = pings.removeFirst() { output.events.append(.pong(number)) }
    // Behind our DISCONNECT nothing counts but what tells the end of a message.
    case (.publish, .finished), (.pingresp, .finished), (.suback, .finished),
      (.connack, .finished):
      break
    default: throw MQTTError(.unexpected(packet.name))
    }
  }

  private mutating func subscribe(_ output: inout EngineOutput) {
    guard !options.filters.isEmpty else { return open(&output) }
    let id = nextPacketID()
    stage = .subscribing(id: id)
    let wanted = options.filters.map { MQTTSubscription($0, qualityOfService: 1) }
    write(.subscribe(id: id, wanted), &output)
  }

  private mutating func open(_ output: inout EngineOutput) {
    stage = .open
    output.events.append(.opened)
  }

  /// A connection is told how far its messages came; an acknowledgement out of order waits for
  /// those before it. Brokers keep the order (MQTT-4.6.0-2).
  private mutating func acknowledged(
    _ id: UInt16, _ output: inout EngineOutput
  ) throws(MQTTError) {
    guard let place = inFlight.firstIndex(where: { $0.packetID == id && !$0.isAcknowledged }) else {
      throw MQTTError(.unknownPacketID(id))
    }
    inFlight[place].isAcknowledged = true
    let done = inFlight.prefix { $0.isAcknowledged }
    guard let last = done.last else { return }
    output.events.append(.acknowledged(through: last.message))
    inFlight.removeFirst(done.count)
  }

  private mutating func fail(_ error: MQTTError, _ output: inout EngineOutput) {
    diagnosis = error
    let cause: Cause =
      switch error.problem {
      // Numbers of section 3.2.2.3.
      case .refused(code: 3): .sessionRefused(.unavailable)
      case .refused(code: 4), .refused(code: 5): .sessionRefused(.credentials)
      case .refused, .subscriptionRefused: .sessionRefused(.denied)
      default: .protocolError
      }
    end(.failed(cause), &output)
  }

  private mutating func end(_ event: EngineEvent, _ output: inout EngineOutput) {
    stage = .over
    nextDeadline = nil
    output.events.append(event)
  }
}

// MARK: What is written

extension MQTTEngine {
  private mutating func write(_ packet: MQTTPacket, _ output: inout EngineOutput) {
    if case .finished = stage { return }
    output.bytes += packet.bytes
    wasQuiet = false
  }

  private mutating func ask(_ number: UInt32?, _ output: inout EngineOutput) {
    pings.append(number)
    write(.pingreq, &output)
  }

  /// Twice in the broker's time, so that it never passes between two looks.
  private mutating func look(at now: Instant) {
    wasQuiet = true
    nextDeadline = now + .milliseconds(500 * Int64(options.keepAlive))
  }

  /// An id that no message in flight has; a lane's window is far below their number.
  private mutating func nextPacketID() -> UInt16 {
    repeat {
      lastPacketID = lastPacketID == .max ? 1 : lastPacketID + 1
    } while inFlight.contains { $0.packetID == lastPacketID }
    return lastPacketID
  }
}
