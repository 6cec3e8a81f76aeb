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
    come(to: now)
    let peer = whoAnswers(address, from: host)
    let interface = self[host].active ?? 0
    let socket = insert(
      TCPConnection(
        generation: 0, port: port, link: link(from: host, interface: interface, to: peer),
        interface: interface, client: TCPConnection.End(host: host, stage: .dialling),
        server: TCPConnection.End(host: peer, stage: .gone), up: Pipe(), down: Pipe(),
        reapers: [], dialledAt: self.now))
    self[host].sockets += 1
    tapDial(socket, to: address)
    if let failure = localFailure(of: host) {
      schedule(.refusedLocally(socket, failure), at: self.now, for: socket)
    } else {
      setTimer(of: socket, to: self.now)
    }
    return socket
  }

  /// A portal answers for all the world, also for what is not there.
  private func whoAnswers(_ address: String, from host: HostID) -> HostID {
    if let portal = self[host].portal { return portal }
    guard !deafAddresses.contains(address) else { return Self.nobody }
    return owners[address] ?? Self.nobody
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
  private mutating func releaseIfGone(_ socket: SocketID) {
    guard self[socket].stage == .gone, self[socket.peer].stage == .gone else { return }
    let slot = Int(socket.slot)
    tap?.flows[SocketID(slot: socket.slot, generation: socket.generation, side: .client)] = nil
    connections[slot].generation &+= 1
    connections[slot].up = Pipe()
    connections[slot].down = Pipe()
    freeSlots.append(socket.slot)
  }

  /// Nothing is left of this end; its host has one socket less.
  mutating func end(_ socket: SocketID) {
    guard has(socket), self[socket].stage != .gone else { return }
    let host = self[socket].host
    if self[socket].stage == .queued {
      self[host].listeners[self[connection: socket].port]?.unqueue(socket)
    }
    self[host].sockets -= 1
    self[socket].stage = .gone
    self[from: socket].lostSince = nil
    self[from: socket].timer = nil
    unsay(of: socket)
    releaseIfGone(socket)
  }
}

// MARK: The client's part

extension Internet {
  /// The dial's packet leaves, again and again until it is answered or given up.
  mutating func knock(_ socket: SocketID) {
    let start = self[connection: socket].dialledAt
    let ladder = self[self[socket].host].system.dialling
    guard now - start < ladder.giveUp else { return failDial(socket, .system(.timedOut)) }
    setTimer(of: socket, to: start + (ladder.next(after: now - start) ?? ladder.giveUp))
    send(.knocked(socket), from: socket)
  }

  mutating func failDial(_ socket: SocketID, _ cause: Cause) {
    guard has(socket), self[socket].stage == .dialling else { return }
    end(socket)
    tell(.failed(socket, cause))
  }

  mutating func answered(_ socket: SocketID, _ refusal: Cause?) {
    guard has(socket), !isCutOff(socket) else { return }
    tapAnswer(to: socket, isRefusal: refusal != nil)
    let serverWaits = self[socket.peer].stage == .greeting
    switch self[socket].stage {
    case .dialling:
      if let refusal { return failDial(socket, refusal) }
      open(socket)
      send(.confirmed(socket), from: socket)
    case .open, .orphaned:
      // The server has not heard that its answer was heard.
      if serverWaits { send(.confirmed(socket), from: socket) }
    case .gone:
      // Given up meanwhile: nobody is here.
      if serverWaits { sendReset(to: socket.peer) }
    case .greeting, .queued: preconditionFailure("\(socket) dialled, and is a server's end")
    }
  }

  private mutating func open(_ socket: SocketID) {
    self[socket].stage = .open
    self[from: socket].timer = nil
    noteHandshake(socket)
    for reaper in self[self[socket].host].reapers + self[self[socket.peer].host].reapers {
      let state = ReaperState(reaper: reaper, expiry: expiry(of: reaper))
      self[connection: socket].reapers.append(state)
    }
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
}

// MARK: The server's part

extension Internet {
  mutating func knocked(_ socket: SocketID) {
    guard has(socket), arrives(.knocked(socket), from: socket) else { return }
    let server = socket.peer
    if self[server].stage == .greeting {
      send(.answered(socket, nil), from: server)
      return
    }
    // What is late when all is over, or goes on, is not another dial.
    guard self[server].stage == .gone, self[socket].stage == .dialling else { return }
    let host = self[server].host
    let refusal = Event.answered(socket, .system(.connectionRefused))
    guard let listener = self[host].listeners[self[connection: socket].port] else {
      send(refusal, from: server)
      return
    }
    guard !listener.isFull else {
      if listener.service.overflow == .refused { send(refusal, from: server) }
      return
    }
    self[server] = TCPConnection.End(host: host, stage: .greeting)
    self[host].sockets += 1
    self[from: server] = Pipe(window: self[self[socket].host].system.receiveBuffer)
    self[from: socket].open(window: self[host].system.receiveBuffer)
    self[connection: socket].greetedAt = now
    send(.answered(socket, nil), from: server)
    greet(server)
  }

  /// The answer leaves again and again until the client is heard, or given up. A client that still
  /// dials asks by itself.
  mutating func greet(_ server: SocketID) {
    let start = self[connection: server].greetedAt
    guard now - start < RetransmissionLadder.synAck.giveUp else { return end(server) }
    let next = RetransmissionLadder.synAck.next(after: now - start)
    setTimer(of: server, to: start + (next ?? RetransmissionLadder.synAck.giveUp))
    guard now > start, self[server.peer].stage != .dialling else { return }
    send(.answered(server.peer, nil), from: server)
  }

  /// The client's word that it is open reaches the server, by itself or with its first bytes.
  mutating func confirmed(_ socket: SocketID) {
    guard has(socket), arrives(.confirmed(socket), from: socket) else { return }
    let server = socket.peer
    guard self[server].stage == .greeting else {
      if isForgotten(server) { sendReset(to: socket) }
      return
    }
    let host = self[server].host
    let port = self[connection: server].port
    guard let listener = self[host].listeners[port] else {
      sendReset(to: socket)
      end(server)
      return
    }
    guard !listener.isFull else {
      // Linux forgets that it heard this, and asks again.
      guard listener.service.overflow == .refused else { return }
      sendReset(to: socket)
      end(server)
      return
    }
    self[server].stage = .queued
    self[from: server].timer = nil
    self[host].listeners[port]?.queue.append(server)
    if listener.service.accepts { work(on: server) }
  }

  /// The program takes the connection once it has done its work on those before.
  mutating func work(on server: SocketID) {
    let host = self[server].host
    let port = self[connection: server].port
    guard let listener = self[host].listeners[port] else { return }
    let done = max(now, listener.freeAt) + listener.service.handshakeWork
    self[host].listeners[port]?.freeAt = done
    schedule(.accept(server), at: done, for: server)
  }

  /// The server's program takes the connection out of the queue, even a dead one, as Linux does.
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
    if isReadable(server) { tell(.readable(server), to: server) }
  }

  /// Serves a port from now on; connections that are there go on as they are, and those that nobody
  /// has accepted are the new program's.
  public mutating func listen(_ host: HostID, port: UInt16, _ service: Service = Service()) {
    let old = self[host].listeners[port]
    self[host].listeners[port] = Listener(
      service: service, queue: old?.queue ?? [], freeAt: old?.freeAt ?? .longAgo)
    guard let old, !old.service.accepts, service.accepts else { return }
    for server in old.queue { work(on: server) }
  }

  /// Nobody serves the port any more: whoever was not accepted is reset.
  mutating func stopListening(_ host: HostID, port: UInt16) {
    guard let listener = self[host].listeners.removeValue(forKey: port) else { return }
    for server in listener.queue {
      sendReset(to: server.peer)
      end(server)
    }
  }
}

extension Listener {
  /// Linux holds one more than the backlog says.
  fileprivate var isFull: Bool { queue.count > service.backlog }
}
