import ConnectionFSM

// What stands between two hosts: blocks, and boxes that forget.

extension Internet {
  /// Whether packets of the socket get to the other end just now, whatever boxes are there.
  func isBlocked(from socket: SocketID) -> Bool { block(from: socket) != nil }

  /// What becomes of packets that do not get there; nil if they do.
  func block(from socket: SocketID) -> BlockMode? {
    let from = self[socket].host
    let to = self[socket.peer].host
    guard from.number < hosts.count, to.number < hosts.count else { return .drop }
    if isCutOff(socket) || isCutOff(socket.peer) { return .drop }
    var mode: BlockMode?
    for block in blocks where block.covers(from, to) {
      if block.mode == .drop { return .drop }
      mode = .hold
    }
    return mode
  }

  /// Whether the socket's own host is out of reach.
  func isCutOff(_ socket: SocketID) -> Bool {
    let host = self[socket].host
    if self[host].isUnreachable { return true }
    return socket.side == .client
      && !self[host].interfaces[self[connection: socket].interface].isUp
  }

  /// What becomes of a packet that leaves the socket now. Each one winds up the boxes' timers.
  mutating func passes(from socket: SocketID) -> TCPConnection.Passage {
    if isBlocked(from: socket) { return .severed }
    let passage = self[connection: socket].passage
    guard passage == .open else { return passage }
    for number in self[connection: socket].reapers.indices {
      let state = self[connection: socket].reapers[number]
      guard now < state.expiry else {
        switch state.reaper.aftermath {
        case .silence: self[connection: socket].passage = .severed
        case .resetOnNextPacket: self[connection: socket].passage = .forgotten
        // Acts by itself, and has not yet in this instant.
        case .finish, .reset: continue
        }
        return self[connection: socket].passage
      }
      self[connection: socket].reapers[number].expiry = expiry(of: state.reaper)
    }
    return .open
  }

  /// When a box forgets a connection on which nothing passes from now on.
  mutating func expiry(of reaper: IdleReaper) -> Instant {
    now + (reaper.idle - reaper.sweep) + sweeps.span(through: reaper.sweep + reaper.sweep)
  }

  /// Starts the timers of the boxes that act by themselves.
  mutating func windReapers(_ socket: SocketID) {
    for number in self[connection: socket].reapers.indices {
      let state = self[connection: socket].reapers[number]
      switch state.reaper.aftermath {
      case .silence, .resetOnNextPacket: continue
      case .finish, .reset:
        schedule(.reap(socket, reaper: number), at: state.expiry, for: socket)
      }
    }
  }

  mutating func reap(_ socket: SocketID, _ number: Int) {
    guard has(socket), self[connection: socket].passage == .open else { return }
    let state = self[connection: socket].reapers[number]
    // One event at a time, however much passes.
    guard now >= state.expiry else {
      return schedule(.reap(socket, reaper: number), at: state.expiry, for: socket)
    }
    self[connection: socket].passage = .forgotten
    for end in [socket, socket.peer] {
      guard !isBlocked(from: end.peer) else { continue }
      let arrival = now + delay(from: end.peer)
      let event: Event = state.reaper.aftermath == .finish ? .cutOff(end) : .reset(end)
      schedule(event, at: max(arrival, self[from: end.peer].lastArrival), for: end)
    }
  }

  /// A box's FIN reaches the socket: what arrived before can be read.
  mutating func cutOff(_ socket: SocketID) {
    guard has(socket), !self[socket].isDead else { return }
    tapEnd(at: socket, .fin)
    self[from: socket.peer].isCutOff = true
    tell(.readable(socket), to: socket)
  }
}
