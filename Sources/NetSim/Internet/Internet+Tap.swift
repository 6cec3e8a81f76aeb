import ConnectionFSM

// Where a capture listens. Without one, each of these places costs a look at an optional.

/// What a capture on a host has heard and not handed over.
struct Tap: Sendable {
  let host: HostID
  var segments: [Segment] = []
  /// Looked up, never walked through.
  var flows: [SocketID: Segment.Flow] = [:]
  var dials: UInt32 = 0
}

extension Internet {
  /// Captures from now on what connections send and receive that this host dials from now on.
  package mutating func capture(on host: HostID) { tap = Tap(host: host) }

  /// What was captured since the last time.
  package mutating func takeSegments() -> [Segment] {
    guard let segments = tap?.segments, !segments.isEmpty else { return [] }
    tap?.segments.removeAll(keepingCapacity: true)
    return segments
  }

  /// A host dials.
  mutating func tapDial(_ socket: SocketID, to address: String) {
    guard let tap, tap.host == self[socket].host else { return }
    let isVersion6 = address.contains(":")
    // A host without an address of version 6 is shown with the one that it would have.
    let own =
      addresses(of: tap.host).first { $0.contains(":") == isVersion6 }
      ?? "fd00::\(String(tap.host.number + 1, radix: 16))"
    let interface = self[connection: socket].interface
    let flow = Segment.Flow(
      number: tap.dials, local: own, localPort: 49_152 + UInt16(tap.dials % 16_384),
      remote: address, remotePort: self[connection: socket].port,
      interface: self[tap.host].interfaces[interface].name, interfacePlace: interface)
    self.tap?.flows[socket] = flow
    self.tap?.dials &+= 1
  }

  /// A packet without payload leaves.
  mutating func tapDeparture(of packet: Event, from socket: SocketID) {
    guard tap != nil, socket.side == .client else { return }
    switch packet {
    case .knocked: tapLeaving(socket, .syn, at: -1)
    case .confirmed: tapLeaving(socket, .ack, at: 0)
    case .reset: tapLeaving(socket, [.rst, .ack], at: self[from: socket].departed)
    case .timer, .refusedLocally, .answered, .depart, .arrive, .acknowledge, .cutOff, .reap,
      .resume, .accept, .answerLookup, .sayByServer, .resetByServer, .fault, .more:
      return
    }
  }

  /// Bytes leave, and perhaps a FIN behind them; or nothing, to ask for room.
  mutating func tapDeparture(of socket: SocketID, from start: Int, through end: Int) {
    guard tap != nil, socket.side == .client else { return }
    guard start < end else { return tapLeaving(socket, .ack, at: start - 1) }
    for piece in self[from: socket].pieces(from: start, through: end) {
      tapLeaving(socket, piece.flags, at: piece.place, piece.payload)
    }
  }

  /// The host acknowledges what the other end sent.
  mutating func tapAcknowledgement(from socket: SocketID) {
    guard tap != nil, socket.side == .client else { return }
    tapLeaving(socket, .ack, at: self[from: socket].departed)
  }

  private mutating func tapLeaving(
    _ socket: SocketID, _ flags: Segment.Flags, at place: Int, _ payload: [UInt8] = []
  ) {
    let other = self[from: socket.peer]
    let received = other.arrived + (other.isCutOff ? 1 : 0)
    let window =
      flags.contains(.syn)
      ? self[self[socket].host].system.receiveBuffer : edge(for: socket.peer) - other.arrived
    tell(
      socket, isOutgoing: true, flags, sequence: place + 1, acknowledgement: received + 1,
      window: window, payload)
  }
}

// MARK: What arrives

extension Internet {
  /// The answer to a dial.
  mutating func tapAnswer(to socket: SocketID, isRefusal: Bool) {
    guard tap != nil else { return }
    tell(
      socket, isOutgoing: false, isRefusal ? [.rst, .ack] : [.syn, .ack], sequence: 0,
      acknowledgement: 1, window: isRefusal ? 0 : self[from: socket].edge)
  }

  /// Bytes that a server sent, and perhaps its FIN.
  mutating func tapArrival(from sender: SocketID, from start: Int, through end: Int) {
    guard tap != nil, sender.side == .server, start < end else { return }
    for piece in self[from: sender].pieces(from: start, through: end) {
      tapArriving(sender.peer, piece.flags, at: piece.place, piece.payload)
    }
  }

  /// An acknowledgement of what the host sent.
  mutating func tapAcknowledgement(at socket: SocketID, through place: Int, edge: Int) {
    guard tap != nil, socket.side == .client else { return }
    let acknowledged = max(place, self[from: socket].acknowledged)
    tell(
      socket, isOutgoing: false, .ack, sequence: self[from: socket.peer].arrived + 1,
      acknowledgement: acknowledged + 1, window: edge - acknowledged)
  }

  /// A reset, or a box's FIN.
  mutating func tapEnd(at socket: SocketID, _ flag: Segment.Flags) {
    guard tap != nil, socket.side == .client else { return }
    tapArriving(socket, [flag, .ack], at: self[from: socket.peer].arrived)
  }

  private mutating func tapArriving(
    _ socket: SocketID, _ flags: Segment.Flags, at place: Int, _ payload: [UInt8] = []
  ) {
    let own = self[from: socket]
    tell(
      socket, isOutgoing: false, flags, sequence: place + 1,
      acknowledgement: own.acknowledged + 1, window: own.edge - own.acknowledged, payload)
  }

  private mutating func tell(
    _ socket: SocketID, isOutgoing: Bool, _ flags: Segment.Flags, sequence: Int,
    acknowledgement: Int, window: Int, _ payload: [UInt8] = []
  ) {
    // No packet leaves a device that sleeps or an interface that is down, and none gets there.
    guard let flow = tap?.flows[socket], !isCutOff(socket) else { return }
    tap?.segments.append(
      Segment(
        instant: now, flow: flow, isOutgoing: isOutgoing, flags: flags, sequence: sequence,
        acknowledgement: acknowledgement, window: max(0, window), payload: payload))
  }
}

extension Pipe {
  /// The bytes of these places that are still there (what is acknowledged and read is gone), and a
  /// FIN by itself behind them: those were sent before there was one.
  fileprivate func pieces(
    from start: Int, through end: Int
  ) -> [(place: Int, flags: Segment.Flags, payload: [UInt8])] {
    var pieces: [(place: Int, flags: Segment.Flags, payload: [UInt8])] = []
    let first = max(start, bytes.start)
    let last = min(end, written)
    if first < last {
      let flags: Segment.Flags = last == written ? [.psh, .ack] : .ack
      pieces.append((first, flags, bytes.bytes(from: first, count: last - first)))
    }
    if end > written { pieces.append((written, [.fin, .ack], [])) }
    return pieces
  }
}
