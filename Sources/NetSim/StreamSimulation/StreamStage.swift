import ConnectionFSM

/// Where a story over bytes is played: a client with two ways out, and a server with two names.
struct StreamStage: Sendable {
  var internet: Internet
  let client: HostID
  let server: HostID
  /// The numbers of the client's interfaces.
  let wifi: UInt16 = 1
  let cell: UInt16

  static let port: UInt16 = 4000
  /// The names by which the server can be dialled; to take the other one is to connect to another
  /// endpoint.
  static let names = ["server", "other"]

  /// - Parameter buffer: How many bytes the buffers of both systems hold; nil is Linux's sizes.
  init(seed: UInt64, buffer: Int? = nil) {
    internet = Internet(seed: seed)
    var system = OperatingSystem.linux
    if let buffer {
      system.sendBuffer = buffer
      system.receiveBuffer = buffer
    }
    client = internet.addHost("client", system: system)
    server = internet.addHost(Self.names[0], system: system)
    cell = internet.addInterface("cell", to: client, link: .constant(.milliseconds(80)))
    for fault in namesAreWell { internet.apply(fault) }
  }

  static func endpoint(_ number: Int) -> Endpoint {
    Endpoint(host: names[number], port: port)
  }

  /// Every name leads to the server, as soon as resolvers do.
  var namesAreWell: [Fault] {
    Self.names.flatMap {
      [
        .moveName($0, to: internet.addresses(of: server), staleFor: .zero),
        .slowName($0, .zero),
      ]
    }
  }

  /// The packets of both directions go their way.
  var waysAreFree: [Fault] {
    [.unblock(from: client, to: server), .unblock(from: server, to: client)]
  }

  var served: Fault { .serve(server, port: Self.port, Service()) }

  /// Everything is well: what was begun is ended, and nothing is lost or late any more. What has
  /// become of connections stays.
  var health: [Fault] {
    waysAreFree + namesAreWell + internet.addresses(of: server).map { .heard(address: $0) } + [
      .restart(server), served, .failLocally(client, nil), .chunking(.whole),
      .wake(client, sockets: .kept), .join(client, interface: wifi, sockets: .kept),
      .link(client, .perfect),
    ]
  }
}

extension Internet {
  /// How many sockets the programs of a host hold.
  func heldSockets(of host: HostID) -> Int {
    var count = 0
    for connection in connections {
      for side in [Side.client, .server] where connection[side].host == host {
        if connection[side].stage.isHeld { count += 1 }
      }
    }
    return count
  }
}
