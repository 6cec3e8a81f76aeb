import ConnectionFSM

// Servers whose program is a list of acts.

extension Internet {
  /// Goes on with a script as far as it gets.
  mutating func runScript(_ socket: SocketID) {
    while isOpen(socket), let script = self[socket].script, !script.isWaiting {
      if self[socket].isDead { return close(socket, at: now) }
      guard script.next < script.acts.count else { return linger(socket) }
      guard perform(script.acts[script.next], socket) else { return }
      guard has(socket) else { return }
      self[socket].script?.next += 1
      self[socket].script?.sent = 0
    }
  }

  /// Does one act.
  /// - Returns: Whether it is done; if not, an occurrence or the end of a wait brings it on.
  private mutating func perform(_ act: ServerAct, _ socket: SocketID) -> Bool {
    switch act {
    case .receive(let count):
      guard self[from: socket.peer].readable >= count else { return false }
      skip(count, socket)
      return true
    case .send(let bytes):
      let sent = self[socket].script?.sent ?? 0
      let count = writeAll(bytes.span.bytes.extracting(sent...), socket)
      self[socket].script?.sent = sent + count
      return sent + count == bytes.count
    case .wait(let span):
      self[socket].script?.isWaiting = true
      schedule(.resume(socket), at: now + span, for: socket)
      return true
    case .echo: return echo(socket)
    case .finish:
      finishWriting(socket, at: now)
      return true
    case .close:
      close(socket, at: now)
      return false
    case .reset:
      reset(socket, at: now)
      return false
    case .hang: return false
    }
  }

  /// Writes until there is no room.
  /// - Returns: How many bytes were taken.
  mutating func writeAll(_ bytes: RawSpan, _ socket: SocketID) -> Int {
    var sent = 0
    while sent < bytes.byteCount,
      case .wrote(let count) = write(bytes.extracting(sent...), to: socket, at: now)
    {
      sent += count
    }
    return sent
  }

  private mutating func echo(_ socket: SocketID) -> Bool {
    while self[from: socket.peer].readable > 0 {
      let start = self[from: socket.peer].read
      let bytes = self[from: socket.peer].bytes.bytes(
        from: start, count: self[from: socket.peer].readable)
      guard case .wrote(let count) = write(bytes.span.bytes, to: socket, at: now) else {
        return false
      }
      skip(count, socket)
    }
    return self[from: socket.peer].endHasArrived
  }

  /// After the last act: reads what comes, and ends when the peer does.
  private mutating func linger(_ socket: SocketID) {
    skip(self[from: socket.peer].readable, socket)
    if self[from: socket.peer].endHasArrived { close(socket, at: now) }
  }

  private mutating func skip(_ count: Int, _ socket: SocketID) {
    self[from: socket.peer].skip(count)
    announceRoom(to: socket.peer)
  }
}
