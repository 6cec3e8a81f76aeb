/// A packet of MQTT 3.1.1, as far as it is spoken here: QoS 0 and 1, without wills.
package enum MQTTPacket: Equatable, Sendable {
  case connect(MQTTConnect)
  case connack(isSessionPresent: Bool, code: UInt8)
  /// With a packet id it is of QoS 1.
  case publish(MQTTPublication, id: UInt16?, isRepeated: Bool)
  case puback(id: UInt16)
  case subscribe(id: UInt16, [MQTTSubscription])
  /// For each subscription the QoS that is granted, or 0x80.
  case suback(id: UInt16, codes: [UInt8])
  case pingreq
  case pingresp
  case disconnect
}

/// What a client says first.
package struct MQTTConnect: Equatable, Sendable {
  /// Empty has the broker choose.
  package var clientID: String
  /// Whether the broker forgets what it knew of this client.
  package var isClean = true
  /// In seconds: within one and a half of it the broker wants to hear something; 0 is never.
  package var keepAlive: UInt16
  package var userName: String?
  package var password: [UInt8]?

  package init(clientID: String, keepAlive: UInt16) {
    self.clientID = clientID
    self.keepAlive = keepAlive
  }
}

/// A filter, and the highest QoS that is wanted.
package struct MQTTSubscription: Equatable, Sendable {
  package var filter: String
  package var qualityOfService: UInt8

  package init(_ filter: String, qualityOfService: UInt8) {
    self.filter = filter
    self.qualityOfService = qualityOfService
  }
}

// MARK: Writing

extension MQTTPacket {
  /// The packet as it travels.
  package var bytes: [UInt8] {
    let body = body
    var bytes = [type << 4 | flags]
    var length = body.count
    repeat {
      bytes.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
      length >>= 7
    } while length > 0
    return bytes + body
  }

  private var type: UInt8 {
    switch self {
    case .connect: 1
    case .connack: 2
    case .publish: 3
    case .puback: 4
    case .subscribe: 8
    case .suback: 9
    case .pingreq: 12
    case .pingresp: 13
    case .disconnect: 14
    }
  }

  private var flags: UInt8 {
    switch self {
    case .publish(let publication, let id, let isRepeated):
      (isRepeated ? 8 : 0) | (id == nil ? 0 : 2) | (publication.isRetained ? 1 : 0)
    case .subscribe: 2
    case .connect, .connack, .puback, .suback, .pingreq, .pingresp, .disconnect: 0
    }
  }

  private var body: [UInt8] {
    var body: [UInt8] = []
    switch self {
    case .connect(let connect): body = connect.body
    case .connack(let isSessionPresent, let code): body = [isSessionPresent ? 1 : 0, code]
    case .publish(let publication, let id, _):
      body.appendField(publication.topic.utf8)
      if let id { body.append(id) }
      body += publication.payload
    case .puback(let id): body.append(id)
    case .subscribe(let id, let subscriptions):
      body.append(id)
      for subscription in subscriptions {
        body.appendField(subscription.filter.utf8)
        body.append(subscription.qualityOfService)
      }
    case .suback(let id, let codes):
      body.append(id)
      body += codes
    case .pingreq, .pingresp, .disconnect: break
    }
    return body
  }

  /// What it is called in the specification.
  package var name: String {
    switch self {
    case .connect: "CONNECT"
    case .connack: "CONNACK"
    case .publish: "PUBLISH"
    case .puback: "PUBACK"
    case .subscribe: "SUBSCRIBE"
    case .suback: "SUBACK"
    case .pingreq: "PINGREQ"
    case .pingresp: "PINGRESP"
    case .disconnect: "DISCONNECT"
    }
  }
}

extension MQTTConnect {
  fileprivate var body: [UInt8] {
    var body: [UInt8] = []
    body.appendField("MQTT".utf8)
    body.append(4 as UInt8)
    body.append(
      (userName == nil ? 0 : 0x80) | (password == nil ? 0 : 0x40) | (isClean ? 2 : 0) as UInt8)
    body.append(keepAlive)
    body.appendField(clientID.utf8)
    if let userName { body.appendField(userName.utf8) }
    if let password { body.appendField(password) }
    return body
  }
}
