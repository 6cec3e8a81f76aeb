public import ConnectionFSM

// From the first packet of a dial to two open ends.

extension Internet {
  /// Whoever has an address that nobody has.
  private static var nobody: HostID { HostID(number: .max) }

  /// Starts to connect; the answer is an occurrence, never inside this call.
  ///
  /// An address that nobody has answers nothing.
  public mutating func dial(
    from host: HostID, to address: String, port: UInt16, at now: Instant
  ) -> SocketID {
    let owner = deafAddresses.contains(address) ? nil : owners[address]
    let peer = owner.map { self[host].portal ?? $0 } ?? Self.nobody
    let interface = self[host].active ?? 0
    let socket = insert(
      TCPConnection(
        generation: 0, port: port, link: link(from: host, interface: interface, to: peer),
        interface: interface, client: TCPConnection.End(host: host, stage: .dialling),
        server: TCPConnection.End(host: peer, stage: .gone),
        up: Pipe(window: 0), down: Pipe(window: self[host].system.receiveBuffer), reapers: [],
        dialledAt: now))
    self[host].sockets += 1
    if let failure = localFailure(of: host) {
      schedule(.answered(socket, .system(failure)), at: now, for: socket)
    } else {
      schedule(.knock(socket), at: now, for: socket)
    }
    return socket
  }

  /// What the host's own system says before any packet leaves.
  private func localFailure(of host: HostID) -> SystemError? {
    if let failure = self[host].localFailure { return failure }
    if let limit = self[host].descriptorLimit, self[host].sockets > limit {
      return .tooManyOpenFiles
    }
    guard let active = self[host].active, self[host].interfaces[active].isUp else {
      return .networkUnreachable
    }
    return nil
  }

  private mutating func insert(_ new: TCPConnection) -> SocketID {
    guard let slot = freeSlots.popLast() else {
      connections.append(new)
      return SocketID(slot: UInt32(connections.count - 1), generation: 0, side: .client)
    }
    let generation = connections[Int(slot)].generation
    connections[Int(slot)] = new
    connections[Int(slot)].generation = generation
    return SocketID(slot: slot, generation: generation, side: .client)
  }

  /// Gives the slot back once nothing is left of either end.
  mutating func releaseIfGone(_ socket: SocketID) {
    guard has(socket), self[socket].stage == .gone, self[socket.peer].stage == .gone else {
      return
    }
    let slot = Int(socket.slot)
    connections[slot].generation &+= 1
    connections[slot].up = Pipe(window: 0)
    connections[slot].down = Pipe(window: 0)
    freeSlots.append(socket.slot)
  }

  /// Nothing is left of this end; its host has one socket less.
  mutating func end(_ socket: SocketID) {
    guard self[socket].stage != .gone else { return }
    let host = self[socket].host
    if socket.side == .server {
      self[host].listeners[self[connection: socket].port]?.unqueue(socket)
    }
    self[host].sockets -= 1
    self[socket].stage = .gone
    releaseIfGone(socket)
  }
}

// MARK: Packets of a dial

extension Internet {
  /// The dial's packet leaves, again and again until it is answered or given up.
  mutating func knock(_ socket: SocketID) {
    guard has(socket), self[socket].stage == .dialling else { return }
    let start = self[connection: socket].dialledAt
    let ladder = self[self[socket].host].system.dialling
    guard now - start < ladder.giveUp else { return answered(socket, .system(.timedOut)) }
    let next = ladder.next(after: now - start) ?? ladder.giveUp
    schedule(.knock(socket), at: start + next, for: socket)
    guard let arrival = crossing(from: socket) else { return }
    schedule(.knocked(socket), at: arrival, for: socket)
  }

  /// When a packet without payload arrives at the other end if it leaves now; nil if it is lost.
  mutating func crossing(from socket: SocketID) -> Instant? {
    guard passes(from: socket) == .open, self[way: socket].losses() == 0 else { return nil }
    return now + self[way: socket].delay(at: now)
  }

  mutating func knocked(_ socket: SocketID) {
    guard has(socket), !isBlocked(from: socket) else { return }
    let server = socket.peer
    // Its answer was lost: here it is again.
    guard self[server].stage == .gone else { return answerKnock(socket, nil) }
    guard self[socket].stage == .dialling else { return }
    let host = self[server].host
    guard host.number < hosts.count else { return }
    let port = self[connection: socket].port
    guard let listener = self[host].listeners[port] else {
      return answerKnock(socket, .system(.connectionRefused))
    }
    // Linux holds one more than the backlog says.
    guard listener.queue.count <= listener.service.backlog else {
      if listener.service.overflow == .refused {
        answerKnock(socket, .system(.connectionRefused))
      }
      return
    }
    self[server].stage = .queued
    self[host].sockets += 1
    self[host].listeners[port]?.queue.append(server)
    self[from: socket] = Pipe(window: self[host].system.receiveBuffer)
    answerKnock(socket, nil)
    guard listener.service.accepts else { return }
    let begin = max(now, listener.freeAt)
    let done = begin + listener.service.handshakeWork
    self[host].listeners[port]?.freeAt = done
    schedule(.accept(server), at: done, for: server)
  }

  private mutating func answerKnock(_ socket: SocketID, _ refusal: Cause?) {
    guard let arrival = crossing(from: socket.peer) else { return }
    // What the server says as soon as it has accepted must not overtake this.
    self[from: socket.peer].lastArrival = arrival
    schedule(.answered(socket, refusal), at: arrival, for: socket)
  }

  mutating func answered(_ socket: SocketID, _ refusal: Cause?) {
    guard has(socket), self[socket].stage != .open else { return }
    guard self[socket].stage == .dialling else {
      // Given up meanwhile: nobody is here.
      if refusal == nil { sendReset(to: socket.peer) }
      return
    }
    if let refusal {
      tell(.failed(socket, refusal))
      return end(socket)
    }
    self[socket].stage = .open
    noteHandshake(socket)
    connections[Int(socket.slot)].reapers = (reapersBehind(socket) + reapersBefore(socket.peer))
      .map { ReaperState(reaper: $0, expiry: now + $0.idle) }
    windReapers(socket)
    tell(.opened(socket))
  }

  /// The handshake is the first round trip that both ends measure, unless a packet of it was sent
  /// twice (RFC 6298 section 3).
  private mutating func noteHandshake(_ socket: SocketID) {
    let elapsed = now - self[connection: socket].dialledAt
    guard elapsed < self[self[socket].host].system.dialling.first else { return }
    self[from: socket].roundTrip = RoundTrip(first: elapsed)
    self[from: socket.peer].roundTrip = RoundTrip(first: elapsed)
  }

  private func reapersBehind(_ client: SocketID) -> [IdleReaper] {
    let host = self[self[client].host]
    return host.reapers + host.interfaces[self[connection: client].interface].reapers
  }

  private func reapersBefore(_ server: SocketID) -> [IdleReaper] {
    self[self[server].host].reapers
  }

  /// The server's program takes the connection out of the queue.
  mutating func accept(_ server: SocketID) {
    guard has(server), self[server].stage == .queued else { return }
    let host = self[server].host
    let port = self[connection: server].port
    self[host].listeners[port]?.unqueue(server)
    self[server].stage = .open
    if let script = self[host].listeners[port]?.service.script {
      self[server].script = ScriptState(acts: script)
      return runScript(server)
    }
    tell(.accepted(server, host, port: port))
    if self[server].isDead || self[from: server.peer].readable > 0 {
      tell(.readable(server), to: server)
    }
  }
}
