public import ConnectionFSM

extension Internet {
  /// Lets a fault befall at an instant, or at once if that is past.
  public mutating func inject(_ fault: Fault, at instant: Instant) {
    faults.append(fault)
    schedule(.fault(faults.count - 1), at: max(now, instant))
  }

  mutating func apply(_ fault: Fault) {
    switch fault {
    case .serve(let host, let port, let service): listen(host, port: port, service)
    case .refuse(let host, let port): self[host].listeners[port] = nil
    case .resetAll(let host, let port, let window):
      for socket in sockets(of: host, port: port) {
        schedule(.endByServer(socket, nil), at: now + sweeps.span(through: window), for: socket)
      }
    case .closeAll(let host, let port, let words, let window):
      for socket in sockets(of: host, port: port) {
        schedule(
          .endByServer(socket, words), at: now + sweeps.span(through: window), for: socket)
      }
    case .loseShare(let host, let share):
      for socket in sockets(of: host) where sweeps.next(through: 9_999) < UInt64(max(0, share)) {
        self[connection: socket].passage = .severed
      }
    case .crash(let host):
      self[host].isUnreachable = true
      // Without a word: the peers notice by the silence, or by the reset of what they send later.
      for socket in sockets(of: host) { end(socket) }
    case .restart(let host): self[host].isUnreachable = false
    case .deaf(let address): deafAddresses.insert(address)
    case .heard(let address): deafAddresses.remove(address)
    case .unknownName(let name): change(name) { $0.answer = .unknown }
    case .silentName(let name): change(name) { $0.answer = .silence }
    case .slowName(let name, let delay): change(name) { $0.delay = delay }
    case .moveName(let name, let addresses, let span):
      let until = now + span
      change(name) {
        $0.stale = ($0.answer, until)
        $0.answer = .addresses(addresses)
      }
    case .block, .unblock, .sever, .cut, .link, .chunking, .corrupt: applyToWay(fault)
    case .failLocally, .limitDescriptors, .claimPath, .leaveNetwork, .join, .portal, .sleep,
      .suspend, .wake:
      applyToDevice(fault)
    }
  }

  private mutating func change(_ name: String, _ change: (inout NameRecord) -> Void) {
    change(&names[name, default: NameRecord(answer: .unknown)])
  }

  /// The ends that a host has, in order of their slots.
  func sockets(of host: HostID, port: UInt16? = nil) -> [SocketID] {
    var found: [SocketID] = []
    for (slot, connection) in connections.enumerated() {
      for side in [Side.client, .server] where connection[side].host == host {
        guard connection[side].stage != .gone else { continue }
        if let port, side != .server || connection.port != port { continue }
        found.append(
          SocketID(slot: UInt32(slot), generation: connection.generation, side: side))
      }
    }
    return found
  }

  /// A server's program ends a connection: with a reset, or with last words.
  mutating func endByServer(_ socket: SocketID, lastWords: [UInt8]?) {
    guard isOpen(socket) else { return }
    guard let lastWords else { return reset(socket, at: now) }
    _ = write(lastWords.span.bytes, to: socket, at: now)
    // What is unread would turn the end into a reset.
    self[from: socket.peer].skip(self[from: socket.peer].readable)
    close(socket, at: now)
  }
}

// MARK: The way

extension Internet {
  private mutating func applyToWay(_ fault: Fault) {
    switch fault {
    case .block(let from, let to, let mode):
      blocks.append(Block(from: from, to: to, mode: mode))
    case .unblock(let from, let to):
      let lifted = blocks.filter { $0.from == from && $0.to == to }
      blocks.removeAll { $0.from == from && $0.to == to }
      if lifted.contains(where: { $0.mode == .hold }) { release() }
    case .sever(let host):
      for socket in sockets(of: host) { self[connection: socket].passage = .severed }
    case .cut(let host):
      for socket in sockets(of: host) {
        self[connection: socket].passage = .forgotten
        for end in [socket, socket.peer] { schedule(.reset(end), at: now, for: end) }
      }
    case .link(let host, let profile):
      guard let active = self[host].active else { return }
      relink(host, active, profile)
    case .chunking(let chunking): self.chunking = chunking
    case .corrupt(let host): corrupted.append(host)
    default: preconditionFailure("apply sends only faults of the way here")
    }
  }

  /// What was held is delivered at once.
  private mutating func release() {
    for (slot, connection) in connections.enumerated() {
      for side in [Side.client, .server] where connection[from: side].lostSince != nil {
        resend(SocketID(slot: UInt32(slot), generation: connection.generation, side: side))
      }
    }
  }

  /// Connections keep their way and their streams; what is on it is not overtaken.
  private mutating func relink(_ host: HostID, _ interface: Int, _ profile: LinkProfile) {
    self[host].interfaces[interface].profile = profile
    linkChanges += 1
    for peer in (0..<UInt32(hosts.count)).map(HostID.init) + [Self.resolver] {
      let key = LinkKey(host: host, interface: interface, peer: peer)
      guard let number = linkNumbers[key] else { continue }
      links[number] = linkState(key, profile)
    }
  }

  mutating func corruptIfAsked(_ socket: SocketID, from place: Int) {
    guard !corrupted.isEmpty, self[from: socket].readable > 0,
      let asked = corrupted.firstIndex(of: self[socket.peer].host)
    else { return }
    corrupted.remove(at: asked)
    let new = max(place, self[from: socket].read)
    let count = min(self[from: socket].arrived, self[from: socket].written) - new
    guard count > 0 else { return }
    let chosen = new + Int(sweeps.next(through: UInt64(count - 1)))
    self[from: socket].flip(bit: UInt8(sweeps.next(through: 7)), at: chosen)
  }
}

// MARK: The device

extension Internet {
  private mutating func applyToDevice(_ fault: Fault) {
    switch fault {
    case .failLocally(let host, let error): self[host].localFailure = error
    case .limitDescriptors(let host, let limit): self[host].descriptorLimit = limit
    case .claimPath(let host, let path): say(path, of: host)
    case .leaveNetwork(let host, let fate):
      if let active = self[host].active { self[host].interfaces[active].isUp = false }
      self[host].active = nil
      befall(fate, host)
      say(.down, of: host)
    case .join(let host, let number, let fate):
      guard let place = self[host].interfaces.firstIndex(where: { $0.number == number }) else {
        return
      }
      if let active = self[host].active, active != place {
        self[host].interfaces[active].isUp = false
      }
      self[host].interfaces[place].isUp = true
      self[host].active = place
      befall(fate, host)
      say(Path(.up, interface: number), of: host)
    case .portal(let host, let portal): self[host].portal = portal
    case .sleep(let host):
      self[host].isUnreachable = true
      tell(.fellAsleep(host))
    case .suspend(let host): tell(.fellAsleep(host))
    case .wake(let host, let fate):
      self[host].isUnreachable = false
      befall(fate, host)
      tell(.woke(host))
    default: preconditionFailure("apply sends only faults of the device here")
    }
  }

  private mutating func say(_ path: Path, of host: HostID) {
    self[host].path = path
    tell(.pathChanged(host, path))
  }

  private mutating func befall(_ fate: SocketFate, _ host: HostID) {
    guard case .failed(let error) = fate else { return }
    for socket in sockets(of: host) {
      if self[socket].stage == .dialling {
        answered(socket, .system(error))
      } else {
        fail(socket, .system(error))
      }
    }
  }
}
