import ConnectionFSM

// Packets without payload, on their way.

extension Internet {
  /// Sends a packet without payload to the other end: the event is its arrival. It may be lost, or
  /// held for as long as a block holds it.
  /// - Returns: Whether it is on its way, neither lost nor held.
  @discardableResult
  mutating func send(_ packet: Event, from socket: SocketID) -> Bool {
    tapDeparture(of: packet, from: socket)
    return launch(packet, from: socket)
  }

  @discardableResult
  private mutating func launch(_ packet: Event, from socket: SocketID) -> Bool {
    if block(from: socket) == .hold {
      held.append((packet, socket))
      return false
    }
    guard passes(from: socket) == .open, self[way: socket].losses() == 0 else { return false }
    // Not before what was sent earlier.
    let arrival = max(now + delay(from: socket), self[from: socket].lastArrival)
    schedule(packet, at: arrival, for: socket)
    return true
  }

  /// Whether a packet that the socket sent gets to the other end now that it is there. What meets a
  /// block that holds is held.
  mutating func arrives(_ packet: Event, from socket: SocketID) -> Bool {
    guard let mode = block(from: socket) else { return true }
    if mode == .hold { held.append((packet, socket)) }
    return false
  }

  /// A block that held is gone: all that it held goes on at once.
  mutating func release() {
    for (slot, connection) in connections.enumerated() {
      for side in [Side.client, .server] where connection[from: side].lostSince != nil {
        resend(SocketID(slot: UInt32(slot), generation: connection.generation, side: side))
      }
    }
    let packets = held
    held = []
    for (packet, socket) in packets where has(socket) { launch(packet, from: socket) }
  }

  /// How long a packet without payload takes that leaves the socket now.
  mutating func delay(from socket: SocketID) -> TimeSpan {
    self[way: socket].delay(at: now)
  }
}
