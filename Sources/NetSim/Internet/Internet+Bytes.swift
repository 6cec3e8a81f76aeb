public import ConnectionFSM

// What a program does with a socket. The same rules as a kernel's, and the same answers.

extension Internet {
  /// Reads what is there into the buffer.
  public mutating func read(
    _ socket: SocketID, into buffer: inout MutableRawSpan, at now: Instant
  ) -> ReadResult {
    come(to: now)
    guard isOpen(socket) else { return .failed(.system(.notConnected)) }
    let available = self[from: socket.peer].readable
    guard available > 0 else { return readEnd(socket) }
    let count = min(cut(available), buffer.byteCount)
    guard count > 0 else { return .wouldBlock }
    self[from: socket.peer].read(count, into: &buffer)
    announceRoom(to: socket.peer)
    return .bytes(count)
  }

  private mutating func readEnd(_ socket: SocketID) -> ReadResult {
    // Linux: the end outranks an error that a write has met behind it. Where a reset discards what
    // was not read, the end alone would hide that.
    let discards = self[self[socket].host].system.resetDiscardsUnread
    if self[from: socket.peer].endHasArrived, !discards { return .end }
    // A system keeps an error for one call, of either kind, and plays the end after it.
    if let error = takeError(of: socket) { return .failed(error) }
    let isOver = self[socket].isDead || self[from: socket.peer].endHasArrived
    return isOver ? .end : .wouldBlock
  }

  /// The error that has come, which is told once (`SO_ERROR`).
  mutating func takeError(of socket: SocketID) -> Cause? {
    guard isOpen(socket), let error = self[socket].pendingError else { return nil }
    self[socket].pendingError = nil
    return error
  }

  /// Whether a read would not block.
  public func isReadable(_ socket: SocketID) -> Bool {
    guard isOpen(socket) else { return false }
    return self[from: socket.peer].readable > 0 || self[from: socket.peer].endHasArrived
      || self[socket].isDead
  }

  /// Writes as much as there is room for; the occurrence `writable` follows a `wouldBlock`.
  public mutating func write(
    _ bytes: RawSpan, to socket: SocketID, at now: Instant
  ) -> WriteResult {
    come(to: now)
    guard isOpen(socket) else { return .failed(.system(.notConnected)) }
    if self[socket].isDead { return .failed(takeError(of: socket) ?? .system(.brokenPipe)) }
    guard !self[from: socket].isFinished else { return .failed(.system(.brokenPipe)) }
    guard bytes.byteCount > 0 else { return .wrote(0) }
    let room = room(socket)
    guard room > 0 else {
      self[from: socket].writerWaits = true
      return .wouldBlock
    }
    let count = cut(min(room, bytes.byteCount))
    self[from: socket].write(bytes.extracting(first: count))
    pump(socket)
    return .wrote(count)
  }

  func room(_ socket: SocketID) -> Int {
    let pipe = self[from: socket]
    return self[self[socket].host].system.sendBuffer - (pipe.written - pipe.acknowledged)
  }

  /// Sends a FIN behind what was written.
  public mutating func finishWriting(_ socket: SocketID, at now: Instant) {
    come(to: now)
    guard isOpen(socket), !self[from: socket].isFinished else { return }
    self[from: socket].finish()
    pump(socket)
  }

  /// Lets go of a socket: what was written is still sent, unless something is left unread, which
  /// turns the end into a reset (RFC 2525 section 2.17).
  public mutating func close(_ socket: SocketID, at now: Instant) {
    come(to: now)
    guard has(socket) else { return }
    switch self[socket].stage {
    case .dialling:
      end(socket)
    case .open:
      if self[from: socket.peer].readable > 0, !self[socket].isDead {
        return reset(socket, at: now)
      }
      self[from: socket].finish()
      self[socket].stage = .orphaned
      unsay(of: socket)
      pump(socket)
      endIfSettled(socket)
    case .greeting, .queued, .orphaned, .gone: return
    }
  }

  /// Lets go of a socket with a reset.
  public mutating func reset(_ socket: SocketID, at now: Instant) {
    come(to: now)
    guard isOpen(socket) else { return }
    if !self[socket].isDead { sendReset(to: socket.peer) }
    end(socket)
  }

  /// An orphan whose FIN is acknowledged, or whose peer is gone, is no more.
  mutating func endIfSettled(_ socket: SocketID) {
    guard has(socket), self[socket].stage == .orphaned else { return }
    if self[from: socket].isSettled || self[socket].isDead { end(socket) }
  }

  func isOpen(_ socket: SocketID) -> Bool { has(socket) && self[socket].stage == .open }

  /// How many of so many bytes go into the next piece; at least one of them.
  mutating func cut(_ count: Int) -> Int {
    switch chunking {
    case .whole: return count
    case .single: return min(1, count)
    case .atMost(let most):
      let largest = min(count, max(1, most))
      guard largest > 1 else { return largest }
      return 1 + Int(chunks.next(through: UInt64(largest - 1)))
    }
  }
}
