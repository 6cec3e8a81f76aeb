import ConnectionFSM
import NetSim

/// The server's program: does a list of acts with each connection, and notes what it sees. Lives on
/// its loop. `ServerAct.wait` waits until the client lets it go on, however long that takes.
final class StoryServer<Stream: StoryStream>: @unchecked Sendable {
  let loop: any EventLoop
  private let scripts: [[ServerAct]]
  private var connections: [StoryServerConnection<Stream>] = []
  private(set) var permits = 0

  init(loop: any EventLoop, scripts: [[ServerAct]]) {
    self.loop = loop
    self.scripts = scripts
  }

  /// What was noted, by connection.
  var notes: [[String]] { connections.map(\.notes) }
  var bytesRead: Int { connections.reduce(0) { $0 + $1.bytesRead } }

  func accept(_ stream: Stream) -> any ByteStreamObserver {
    let script = scripts[min(connections.count, scripts.count - 1)]
    let connection = StoryServerConnection(stream, script, of: self)
    connections.append(connection)
    loop.execute { connection.goOn() }
    return connection
  }

  /// From any loop.
  func letGoOn() {
    loop.execute {
      self.permits += 1
      for connection in self.connections { connection.goOn() }
    }
  }

  func close() {
    for connection in connections { connection.close() }
  }
}

final class StoryServerConnection<Stream: StoryStream>: @unchecked Sendable {
  private let stream: Stream
  private let acts: [ServerAct]
  private unowned let server: StoryServer<Stream>
  private var next = 0
  private var used = 0
  private var isOver = false
  private(set) var notes: [String] = []
  private(set) var bytesRead = 0
  /// What the present act has sent, and what was read since the last note.
  private var sent = 0
  private var taken: [UInt8] = []
  private var echo: [UInt8] = []
  private var received = 0

  init(_ stream: Stream, _ acts: [ServerAct], of server: StoryServer<Stream>) {
    self.stream = stream
    self.acts = acts
    self.server = server
  }

  func goOn() {
    while !isOver {
      guard next < acts.count else { return linger() }
      guard perform(acts[next]) else { return }
      next += 1
      (sent, received) = (0, 0)
    }
  }

  private func perform(_ act: ServerAct) -> Bool {
    switch act {
    case .receive(let count): return receive(count)
    case .send(let bytes): return send(bytes)
    case .wait:
      guard used < server.permits else { return false }
      used += 1
      return true
    case .echo: return playEcho()
    case .finish:
      stream.finishWriting()
      return true
    case .close:
      close()
      return false
    case .reset:
      noteTaken()
      isOver = true
      stream.reset()
      return false
    case .hang: return false
    }
  }

  func close() {
    noteTaken()
    isOver = true
    stream.close()
  }

  private func receive(_ count: Int) -> Bool {
    while received < count {
      switch read(upTo: count - received) {
      case .bytes(let bytes): received += bytes.count
      case .nothing: return waitForBytes()
      case .end: return over("end")
      case .failed(let cause): return over("read failed: \(cause)")
      }
    }
    return true
  }

  private func send(_ bytes: [UInt8]) -> Bool {
    while sent < bytes.count {
      switch stream.write(bytes.span.bytes.extracting(droppingFirst: sent)) {
      case .wrote(let count): sent += count
      case .wouldBlock: return false
      case .failed(let cause): return over("write failed: \(cause)")
      }
    }
    return true
  }

  private func playEcho() -> Bool {
    while true {
      guard send(echo) else { return false }
      (sent, echo) = (0, [])
      switch read(upTo: 65_536) {
      case .bytes(let bytes): echo = bytes
      case .nothing: return waitForBytes()
      case .end: return note("end")
      case .failed(let cause): return over("read failed: \(cause)")
      }
    }
  }

  /// After the last act: reads what comes, and ends when the peer does.
  private func linger() {
    while !isOver {
      switch read(upTo: 65_536) {
      case .bytes: continue
      case .nothing:
        _ = waitForBytes()
        return
      case .end:
        // An echo has noted it already.
        if notes.last != "end" { _ = note("end") }
        close()
      case .failed(let cause): _ = over("read failed: \(cause)")
      }
    }
  }

  private func read(upTo limit: Int) -> Piece {
    let piece = stream.piece(upTo: limit)
    if case .bytes(let bytes) = piece {
      taken += bytes
      bytesRead += bytes.count
    }
    return piece
  }

  private func waitForBytes() -> Bool {
    stream.setReading(true)
    return false
  }

  private func over(_ what: String) -> Bool {
    _ = note(what)
    close()
    return false
  }

  private func note(_ what: String) -> Bool {
    noteTaken()
    notes.append(what)
    return true
  }

  private func noteTaken() {
    if !taken.isEmpty { notes.append("read \(Pattern.describe(taken))") }
    taken = []
  }
}

extension StoryServerConnection: ByteStreamObserver {
  func streamOpened() {}
  func streamFailed(_ cause: Cause) {}

  func streamReadable() {
    // Heard again while an act waits for bytes.
    stream.setReading(false)
    goOn()
  }

  func streamWritable() { goOn() }
}
