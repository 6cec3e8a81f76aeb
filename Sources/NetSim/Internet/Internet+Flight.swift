import ConnectionFSM

// What the two systems do with bytes on the way.

extension Internet {
  // The largest piece that travels as one: sixteen segments. A whole buffer as one piece would
  // arrive all at once however slow the link is.
  private static var largestPiece: Int { 16 * ChannelState.segmentSize }

  /// Sends what may be sent.
  mutating func pump(_ socket: SocketID) {
    guard has(socket), isAlive(socket) else { return }
    // After a loss nothing new is sent before the old has come through.
    while self[from: socket].lostSince == nil, !self[from: socket].isWaitingForRoom {
      let departed = self[from: socket].departed
      let limit = self[from: socket].limit
      guard departed < limit else { return probeIfStuck(socket) }
      let count = min(cut(limit - departed), Self.largestPiece)
      if let instant = self[way: socket].roomAt(byteCount: count, now: now) {
        self[from: socket].isWaitingForRoom = true
        return schedule(.depart(socket), at: max(instant, now), for: socket)
      }
      if self[from: socket].probingSince != nil { stopProbing(socket) }
      self[from: socket].departed += count
      tapDeparture(of: socket, from: departed, through: departed + count)
      depart(socket, count, behind: limit - departed - count)
    }
  }

  private mutating func stopProbing(_ socket: SocketID) {
    self[from: socket].probingSince = nil
    self[from: socket].timer = nil
  }

  private mutating func depart(_ socket: SocketID, _ count: Int, behind rest: Int) {
    let transit = self[way: socket].send(byteCount: count, at: now)
    switch passes(from: socket) {
    case .open: break
    case .severed: return lose(socket)
    case .forgotten: return answerWithReset(socket)
    }
    let stall = self[way: socket].stall(
      byteCount: count, bytesBehind: rest, roundTrip: self[from: socket].roundTrip,
      ladder: self[self[socket].host].system.retransmission)
    guard let stall else { return lose(socket) }
    let arrival = transit.arrives + stall
    if stall > .zero {
      self[from: socket].stopTiming()
    } else if arrival >= self[from: socket].lastArrival {
      self[from: socket].startTiming(at: now)
    }
    arrive(socket, at: arrival)
  }

  /// All that has departed will be there, and not before what was sent earlier.
  private mutating func arrive(_ socket: SocketID, at instant: Instant) {
    let arrival = max(instant, self[from: socket].lastArrival)
    self[from: socket].lastArrival = arrival
    schedule(.arrive(socket, through: self[from: socket].departed), at: arrival, for: socket)
  }

  /// Tries again to bring over what is lost: the bytes, or the news that they arrived.
  /// - Returns: Whether there will be an answer, unless that is lost.
  @discardableResult
  mutating func resend(_ socket: SocketID) -> Bool {
    guard isAlive(socket) else { return false }
    // What was written meanwhile comes along.
    let place = max(self[from: socket].departed, self[from: socket].limit)
    tapDeparture(of: socket, from: self[from: socket].acknowledged, through: place)
    switch passes(from: socket) {
    case .open: break
    case .severed: return false
    case .forgotten:
      answerWithReset(socket)
      return true
    }
    guard self[way: socket].losses() == 0 else { return false }
    self[from: socket].departed = place
    let transit = self[way: socket].send(byteCount: place - self[from: socket].arrived, at: now)
    arrive(socket, at: transit.arrives)
    return true
  }

  /// What a socket sent reaches the other end.
  mutating func arrive(_ socket: SocketID, through place: Int) {
    guard has(socket) else { return }
    guard !isBlocked(from: socket), self[connection: socket].passage != .severed else {
      return lose(socket)
    }
    let receiver = socket.peer
    // The first bytes say that the client is open, too.
    if self[receiver].stage == .greeting { confirmed(socket) }
    guard has(socket), self[receiver].stage != .greeting else { return lose(socket) }
    guard !self[receiver].isDead else { return answerToNobody(socket) }
    let old = self[from: socket].arrived
    self[from: socket].arrive(through: place)
    let isNew = self[from: socket].arrived > old
    guard isPresent(receiver, for: socket) else {
      tapArrival(from: socket, from: old, through: self[from: socket].arrived)
      return answerToNobody(socket)
    }
    if isNew { corruptIfAsked(socket, from: old) }
    tapArrival(from: socket, from: old, through: self[from: socket].arrived)
    sendAcknowledgement(to: socket)
    if isNew { tell(.readable(receiver), to: receiver) }
  }

  private mutating func answerToNobody(_ sender: SocketID) {
    // Who is not told asks again.
    if !sendReset(to: sender) { lose(sender) }
  }

  /// Whether someone is there for what arrived: a program, or the system that still ends in order.
  private func isPresent(_ receiver: SocketID, for sender: SocketID) -> Bool {
    switch self[receiver].stage {
    case .open, .queued: return true
    case .orphaned: return self[from: sender].readable == 0
    case .dialling, .greeting: return false
    case .gone:
      // Nobody needs what comes after both have finished.
      return !isForgotten(receiver) && self[from: sender].endHasArrived
        && self[from: sender].readable == 0
    }
  }

  /// Whether the system knows nothing of this end any more: it is gone, and not in order.
  func isForgotten(_ socket: SocketID) -> Bool {
    self[socket].stage == .gone && !self[from: socket].isSettled
  }

  /// Whether the system still sends for this end.
  func isAlive(_ socket: SocketID) -> Bool {
    switch self[socket].stage {
    case .open, .queued, .orphaned: !self[socket].isDead
    case .dialling, .greeting, .gone: false
    }
  }
}

// MARK: Acknowledgements

extension Internet {
  private mutating func sendAcknowledgement(to sender: SocketID) {
    let receiver = sender.peer
    tapAcknowledgement(from: receiver)
    guard passes(from: receiver) == .open else { return loseAcknowledgement(to: sender) }
    let arrival = now + delay(from: receiver)
    schedule(
      .acknowledge(sender, through: self[from: sender].arrived, edge: edge(for: sender)),
      at: arrival, for: sender)
    self[from: sender].announce(edge(for: sender))
  }

  /// Who waits for it sends again; news of room alone is asked for by a probe.
  private mutating func loseAcknowledgement(to sender: SocketID) {
    if self[from: sender].isInDoubt || self[from: sender].probingSince != nil { lose(sender) }
  }

  /// How far the sender may go.
  func edge(for sender: SocketID) -> Int {
    self[from: sender].read + self[self[sender.peer].host].system.receiveBuffer
  }

  /// The reader has made room; the sender hears of it once that is worth a packet
  /// (RFC 9293 section 3.8.6.2.2).
  mutating func announceRoom(to sender: SocketID) {
    let window = self[self[sender.peer].host].system.receiveBuffer
    guard edge(for: sender) - self[from: sender].announced >= window / 2 else { return }
    sendAcknowledgement(to: sender)
  }

  mutating func acknowledged(_ socket: SocketID, through place: Int, edge: Int) {
    guard has(socket) else { return }
    guard !isBlocked(from: socket.peer) else { return loseAcknowledgement(to: socket) }
    tapAcknowledgement(at: socket, through: place, edge: edge)
    guard isAlive(socket) else {
      if isForgotten(socket) { sendReset(to: socket.peer) }
      return
    }
    self[from: socket].measure(through: place, at: now)
    self[from: socket].acknowledge(through: place)
    self[from: socket].edge = max(self[from: socket].edge, edge)
    if self[from: socket].lostSince != nil, !self[from: socket].isInDoubt {
      self[from: socket].lostSince = nil
      self[from: socket].timer = nil
    }
    pump(socket)
    // Linux tells of room once a third of the buffer is free.
    let isRoomy = room(socket) * 3 >= self[self[socket].host].system.sendBuffer
    if self[from: socket].writerWaits, isRoomy {
      self[from: socket].writerWaits = false
      tell(.writable(socket), to: socket)
    }
    endIfSettled(socket)
  }
}

// MARK: Ends without order

extension Internet {
  /// A reset leaves for a socket, from its peer or in its name, behind what the peer has sent.
  /// - Returns: Whether it is on its way.
  @discardableResult
  mutating func sendReset(to socket: SocketID) -> Bool { send(.reset(socket), from: socket.peer) }

  /// A box on the way does not know the connection any more.
  private mutating func answerWithReset(_ socket: SocketID) {
    schedule(.reset(socket), at: now + delay(from: socket), for: socket)
  }

  mutating func resetArrived(at socket: SocketID) {
    guard has(socket), !self[socket].isDead else { return }
    guard !isCutOff(socket) else {
      if self[from: socket].isInDoubt { lose(socket) }
      return
    }
    tapEnd(at: socket, .rst)
    guard self[socket].stage != .dialling else {
      return failDial(socket, .system(.connectionRefused))
    }
    // Linux: who has read the end already is told of a broken pipe.
    let hadEnd = self[from: socket.peer].endHasArrived
    fail(socket, .system(hadEnd ? .brokenPipe : .connectionReset))
    guard has(socket), self[self[socket].host].system.resetDiscardsUnread else { return }
    self[from: socket.peer].skip(self[from: socket.peer].readable)
  }

  /// The system gives the connection up on this end; the other is told nothing.
  mutating func fail(_ socket: SocketID, _ cause: Cause) {
    guard has(socket), !self[socket].isDead else { return }
    switch self[socket].stage {
    case .dialling: return failDial(socket, cause)
    case .greeting: return end(socket)
    case .queued, .open, .orphaned: break
    case .gone: return
    }
    self[socket].isDead = true
    self[socket].pendingError = cause
    self[from: socket].lostSince = nil
    self[from: socket].timer = nil
    tell(.readable(socket), to: socket)
    // Who waits for room hears of an error, too, as poll's POLLOUT has it; a script may be gone.
    if has(socket), self[from: socket].writerWaits {
      self[from: socket].writerWaits = false
      tell(.writable(socket), to: socket)
    }
    endIfSettled(socket)
  }
}
