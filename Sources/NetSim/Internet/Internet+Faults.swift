public import ConnectionFSM

extension Internet {
  /// Lets a fault befall at an instant, or at once if that is past.
  public mutating func inject(_ fault: Fault, at instant: Instant) {
    schedule(.fault(fault), at: max(now, instant))
  }

  mutating func apply(_ fault: Fault) {
    switch fault {
    case .serve(let host, let port, let service): listen(host, port: port, service)
    case .refuse(let host, let port): stopListening(host, port: port)
    case .resetAll(let host, let port, let window):
      forEachServed(host, port, within: window) { .resetByServer($0) }
    case .sayAll(let host, let port, let words, let window):
      forEachServed(host, port, within: window) { .sayByServer($0, words, thenCloses: false) }
    case .closeAll(let host, let port, let words, let window):
      forEachServed(host, port, within: window) { .sayByServer($0, words, thenCloses: true) }
    case .loseShare(let host, let share): loseShare(of: host, share)
    case .crash(let host): crash(host)
    case .restart(let host): self[host].isUnreachable = false
    case .crowd(let host, let server, let port, let count, let span):
      crowd(host, server, port, count, over: span)
    case .deaf(let address): deafAddresses.insert(address)
    case .heard(let address): deafAddresses.remove(address)
    case .unknownName(let name): change(name) { $0.answer = .unknown }
    case .silentName(let name): change(name) { $0.answer = .silence }
    case .slowName(let name, let delay): change(name) { $0.delay = delay }
    case .moveName(let name, let addresses, let span): move(name, to: addresses, staleFor: span)
    case .block(let from, let to, let mode): blocks.append(Block(from: from, to: to, mode: mode))
    case .unblock(let from, let to): unblock(from: from, to: to)
    case .sever(let host): sever(host)
    case .cut(let host): cut(host)
    case .link(let host, let profile): relink(host, profile)
    case .chunking(let chunking): self.chunking = chunking
    case .corrupt(let host): corrupted.append(host)
    case .failLocally(let host, let error): self[host].localFailure = error
    case .limitDescriptors(let host, let limit): self[host].descriptorLimit = limit
    case .claimPath(let host, let path): tell(.pathChanged(host, path))
    case .leaveNetwork(let host, let fate): leaveNetwork(host, fate)
    case .join(let host, let number, let fate): join(host, interface: number, fate)
    case .portal(let host, let portal): self[host].portal = portal
    case .sleep(let host): sleep(host)
    case .suspend(let host): tell(.fellAsleep(host))
    case .wake(let host, let fate): wake(host, fate)
    }
  }
}

// MARK: Servers and names

extension Internet {
  /// One dial now, and the rest of the crowd later.
  private mutating func crowd(
    _ host: HostID, _ server: HostID, _ port: UInt16, _ count: Int, over span: TimeSpan
  ) {
    guard count > 0, let address = addresses(of: server).last else { return }
    _ = dial(from: host, to: address, port: port, at: now)
    let pace = TimeSpan.nanoseconds(max(0, span.nanoseconds) / Int64(count))
    guard count > 1 else { return }
    let rest = Fault.crowd(host, to: server, port: port, count: count - 1, over: span - pace)
    schedule(.more(rest), at: now + pace)
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

  /// Something that the server's program does on each connection to a port, at a moment drawn from
  /// the window.
  private mutating func forEachServed(
    _ host: HostID, _ port: UInt16, within window: TimeSpan, _ event: (SocketID) -> Event
  ) {
    for socket in sockets(of: host, port: port) {
      schedule(event(socket), at: now + sweeps.span(through: window), for: socket)
    }
  }

  /// A server's program says something as far as there is room, and perhaps lets go.
  mutating func say(_ words: [UInt8], by socket: SocketID, _ closes: Bool) {
    guard isOpen(socket) else { return }
    _ = writeAll(words.span.bytes, socket)
    guard closes else { return }
    // What is unread would turn the end into a reset.
    self[from: socket.peer].skip(self[from: socket.peer].readable)
    close(socket, at: now)
  }

  private mutating func loseShare(of host: HostID, _ share: Int) {
    for socket in sockets(of: host) where sweeps.next(through: 9_999) < UInt64(max(0, share)) {
      self[connection: socket].passage = .severed
    }
  }

  /// Without a word: the peers notice by the silence, or by the reset of what they send later.
  private mutating func crash(_ host: HostID) {
    self[host].isUnreachable = true
    for socket in sockets(of: host) { end(socket) }
  }

  private mutating func move(_ name: String, to addresses: [String], staleFor span: TimeSpan) {
    let until = now + span
    change(name) {
      $0.stale = ($0.answer, until)
      $0.answer = .addresses(addresses)
    }
  }
}

// MARK: The way

extension Internet {
  private mutating func unblock(from: HostID?, to: HostID?) {
    let lifted = blocks.filter { $0.from == from && $0.to == to }
    blocks.removeAll { $0.from == from && $0.to == to }
    if lifted.contains(where: { $0.mode == .hold }) { release() }
  }

  private mutating func sever(_ host: HostID) {
    for socket in sockets(of: host) { self[connection: socket].passage = .severed }
  }

  private mutating func cut(_ host: HostID) {
    for socket in sockets(of: host) {
      self[connection: socket].passage = .forgotten
      // A dial has no other end yet, and perhaps nobody to have one.
      for end in [socket, socket.peer] where self[end].stage != .gone {
        schedule(.reset(end), at: now, for: end)
      }
    }
  }

  /// Connections keep their way and their streams; what is on it is not overtaken.
  private mutating func relink(_ host: HostID, _ profile: LinkProfile) {
    guard let interface = self[host].active else { return }
    self[host].interfaces[interface].profile = profile
    linkChanges += 1
    for peer in (0..<UInt32(hosts.count)).map(HostID.init) + [Self.resolver] {
      let key = LinkKey(host: host, interface: interface, peer: peer)
      guard let number = linkNumbers[key] else { continue }
      links[number] = linkState(key, profile)
    }
  }

  mutating func corruptIfAsked(_ socket: SocketID, from place: Int) {
    guard !corrupted.isEmpty, let asked = corrupted.firstIndex(of: self[socket.peer].host) else {
      return
    }
    let new = max(place, self[from: socket].read)
    let count = min(self[from: socket].arrived, self[from: socket].written) - new
    guard count > 0 else { return }
    corrupted.remove(at: asked)
    let chosen = new + Int(sweeps.next(through: UInt64(count - 1)))
    self[from: socket].flip(bit: UInt8(sweeps.next(through: 7)), at: chosen)
  }
}

// MARK: The device

extension Internet {
  private mutating func leaveNetwork(_ host: HostID, _ fate: SocketFate) {
    if let active = self[host].active { self[host].interfaces[active].isUp = false }
    self[host].active = nil
    befall(fate, host)
    tell(.pathChanged(host, .down))
  }

  private mutating func join(_ host: HostID, interface number: UInt16, _ fate: SocketFate) {
    guard let place = self[host].interfaces.firstIndex(where: { $0.number == number }) else {
      return
    }
    if let active = self[host].active, active != place {
      self[host].interfaces[active].isUp = false
    }
    self[host].interfaces[place].isUp = true
    self[host].active = place
    befall(fate, host)
    tell(.pathChanged(host, Path(.up, interface: number)))
  }

  private mutating func sleep(_ host: HostID) {
    guard self[host].asleepSince == nil else { return }
    self[host].isUnreachable = true
    self[host].asleepSince = now
    tell(.fellAsleep(host))
  }

  private mutating func wake(_ host: HostID, _ fate: SocketFate) {
    if let since = self[host].asleepSince {
      self[host].isUnreachable = false
      self[host].asleepSince = nil
      shiftTimers(of: host, by: now - since)
    }
    befall(fate, host)
    tell(.woke(host))
  }

  private mutating func befall(_ fate: SocketFate, _ host: HostID) {
    guard case .failed(let error) = fate else { return }
    for socket in sockets(of: host) { fail(socket, .system(error)) }
  }
}
