import ConnectionFSM

// The one timer of each end, as its system keeps it. It stands still while the device sleeps.

extension Internet {
  mutating func setTimer(of socket: SocketID, to instant: Instant) {
    self[from: socket].timer = instant
    schedule(.timer(socket), at: instant, for: socket)
  }

  /// An instant has come at which a timer was due, unless it was set anew meanwhile.
  mutating func timerIsDue(_ socket: SocketID) {
    guard has(socket), self[from: socket].timer == now,
      self[self[socket].host].asleepSince == nil
    else { return }
    self[from: socket].timer = nil
    switch self[socket].stage {
    case .dialling: knock(socket)
    case .greeting: greet(socket)
    case .queued, .open, .orphaned:
      if self[from: socket].lostSince == nil { probe(socket) } else { retransmit(socket) }
    case .gone: return
    }
  }

  /// The device of these sockets has slept for so long: for its system, that time did not pass.
  mutating func shiftTimers(of host: HostID, by span: TimeSpan) {
    for socket in sockets(of: host) {
      if socket.side == .client {
        self[connection: socket].dialledAt = self[connection: socket].dialledAt + span
      } else {
        self[connection: socket].greetedAt = self[connection: socket].greetedAt + span
      }
      self[from: socket].lostSince = self[from: socket].lostSince.map { $0 + span }
      self[from: socket].probingSince = self[from: socket].probingSince.map { $0 + span }
      if let timer = self[from: socket].timer { setTimer(of: socket, to: timer + span) }
    }
  }
}

// MARK: Silence

extension Internet {
  /// What has left the socket will not arrive; its system notices by the silence.
  mutating func lose(_ socket: SocketID) {
    guard isAlive(socket), self[from: socket].lostSince == nil else { return }
    let since = self[self[socket].host].asleepSince ?? now
    self[from: socket].lostSince = since
    self[from: socket].stopTiming()
    setTimer(of: socket, to: since + ladder(of: socket).first)
  }

  private mutating func retransmit(_ socket: SocketID) {
    guard let since = self[from: socket].lostSince else { return }
    let ladder = ladder(of: socket)
    guard now - since < ladder.giveUp else { return fail(socket, .system(.timedOut)) }
    setTimer(of: socket, to: since + (ladder.next(after: now - since) ?? ladder.giveUp))
    resend(socket)
  }

  private func ladder(of socket: SocketID) -> RetransmissionLadder {
    self[self[socket].host].system.retransmission.timed(by: self[from: socket].roundTrip)
  }
}

// MARK: No room

extension Internet {
  /// The receiver has no room, and all that was sent has arrived: it is asked from time to time, as
  /// its word that there is room again may be lost (RFC 9293 section 3.8.6.1).
  mutating func probeIfStuck(_ socket: SocketID) {
    guard self[from: socket].departed < self[from: socket].length else {
      self[from: socket].probingSince = nil
      return
    }
    guard !self[from: socket].isInDoubt, self[from: socket].timer == nil else { return }
    setProbeTimer(socket, since: self[from: socket].probingSince ?? now)
  }

  private mutating func setProbeTimer(_ socket: SocketID, since: Instant) {
    self[from: socket].probingSince = since
    let ladder = ladder(of: socket)
    setTimer(
      of: socket, to: ladder.next(after: now - since).map { since + $0 } ?? now + ladder.longest)
  }

  private mutating func probe(_ socket: SocketID) {
    guard let since = self[from: socket].probingSince,
      self[from: socket].departed == self[from: socket].limit
    else { return }
    // Nobody waits for an orphan: its system does not wait for ever, either.
    if self[socket].stage == .orphaned, now - since >= ladder(of: socket).giveUp {
      return end(socket)
    }
    setProbeTimer(socket, since: since)
    // A question that is lost is like bytes that are.
    if !resend(socket) { lose(socket) }
  }
}
