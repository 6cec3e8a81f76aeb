import ConnectionFSM
import Foundation
import Synchronization
import Testing
import Transports

/// A server that writes and reads frames by hand.
private struct WirePeer: Sendable {
  /// A frame of the client, unmasked.
  struct Frame: Equatable {
    let first: UInt8
    let payload: [UInt8]
  }

  let peer: Peer

  /// Accepts the upgrade; false if there was none.
  func shakeHands() -> Bool {
    var handshake = ServerHandshake()
    while true {
      let byte = peer.read(1)
      guard !byte.isEmpty else { return false }
      switch handshake.receive(byte.span.bytes) {
      case .goesOn: continue
      case .refused: return false
      case .asked(let request, _):
        peer.write(
          ServerHandshake.acceptance(of: request, subprotocol: nil, extensions: nil))
        return true
      }
    }
  }

  /// Reads up to the client's close and answers it.
  func answerClose() {
    while let frame = frame() {
      guard frame.first == 0x88 else { continue }
      return peer.write(ServerBytes.frame(0x88, frame.payload))
    }
  }

  /// The next frame; nil at the end of the stream.
  func frame() -> Frame? {
    let start = peer.read(2)
    guard start.count == 2, start[1] & 0x80 != 0 else { return nil }
    var count = Int(start[1] & 0x7F)
    if count >= 126 {
      let length = peer.read(count == 126 ? 2 : 8)
      count = length.reduce(0) { $0 << 8 | Int($1) }
    }
    let key = peer.read(4)
    let payload = peer.read(count)
    guard key.count == 4, payload.count == count else { return nil }
    return Frame(
      first: start[0], payload: payload.enumerated().map { $1 ^ key[$0 % 4] })
  }
}

extension RealSockets {
  @Suite("F23, F48: a WebSocket client and the frames it answers, over loopback")
  struct WebSocketWireTests {
    /// A connection to a server by hand, which is served on a thread of its own.
    private func connected(
      _ journal: WebSocketJournal = WebSocketJournal(),
      _ serve: @escaping @Sendable (WirePeer) -> Void
    ) throws -> (SocketEventLoop, Connection, TestServer) {
      let server = try TestServer { peer in
        let wire = WirePeer(peer: peer)
        if wire.shakeHands() { serve(wire) }
      }
      let loop = try SocketEventLoop()
      let options = try WebSocketOptions(
        WebSocketURL("ws://127.0.0.1:\(server.port)/"), notice: { journal.clientHeard($0) })
      let connection = try Connection(
        StreamTransport(TCPDialer(loop: loop)) { WebSocketEngine(options) },
        policy: WebSocketRig.policy(), seed: 1
      ) { journal.record($0) }
      return (loop, connection, server)
    }

    private func end(
      _ loop: SocketEventLoop, _ connection: Connection, _ server: TestServer
    ) async {
      await connection.close()
      loop.stop()
      server.stop()
    }

    @Test("F23, F48: a consumer that sleeps delays no pong, though 1,000 messages are unread")
    func sleepingConsumer() async throws {
      let frames = Mutex<[WirePeer.Frame?]>([])
      let (loop, connection, server) = try connected { wire in
        for round in UInt8(0)..<3 {
          for _ in 0..<1000 { wire.peer.write(ServerBytes.frame(0x82, [1, 2, 3])) }
          wire.peer.write(ServerBytes.frame(0x89, [round, 0xFF, 0]))
          let frame = wire.frame()
          frames.withLock { $0.append(frame) }
        }
        wire.answerClose()
      }
      // Nobody reads from it.
      let messages = connection.messages(bufferingUpTo: 10)
      connection.connect(to: server.endpoint)
      await loop.until { frames.withLock { $0.count } == 3 }
      let expected = (UInt8(0)..<3).map { WirePeer.Frame(first: 0x8A, payload: [$0, 0xFF, 0]) }
      #expect(frames.withLock { $0 } == expected)
      await #expect(throws: MessagesError.fellBehind) { for try await _ in messages {} }
      await end(loop, connection, server)
    }

    @Test("F23: a ping between the fragments of a message is answered before its end arrives")
    func amidMessage() async throws {
      let answer = Mutex<WirePeer.Frame?>(nil)
      let (loop, connection, server) = try connected { wire in
        wire.peer.write(ServerBytes.frame(0x01, "be".utf8) + ServerBytes.frame(0x89, "?".utf8))
        let frame = wire.frame()
        answer.withLock { $0 = frame }
        wire.peer.write(ServerBytes.frame(0x8A, "unasked".utf8))
        wire.peer.write(ServerBytes.frame(0x80, "gun".utf8))
        wire.answerClose()
      }
      var heard = connection.messages(bufferingUpTo: 10).makeAsyncIterator()
      connection.connect(to: server.endpoint)
      #expect(try await heard.next() == Message("begun"))
      #expect(answer.withLock { $0 } == WirePeer.Frame(first: 0x8A, payload: Array("?".utf8)))
      await end(loop, connection, server)
    }

    @Test(
      "F23, I21: of pings that flood in while nobody reads the answers the latest has one"
    )
    func flood() async throws {
      let count = 200_000
      let pongs = Mutex<(count: Int, last: [UInt8])>((0, []))
      let isDone = Atomic(false)
      let (loop, connection, server) = try connected { wire in
        // Small, or the system would keep all the answers.
        wire.peer.setOption(SO_RCVBUF, Int32(64 << 10))
        let filler = [UInt8](repeating: 0, count: 121)
        for start in stride(from: 0, to: count, by: 1000) {
          wire.peer.write(
            (start..<start + 1000).flatMap { number in
              ServerBytes.frame(0x89, withUnsafeBytes(of: UInt32(number)) { Array($0) } + filler)
            })
        }
        let last = withUnsafeBytes(of: UInt32(count - 1)) { Array($0) } + filler
        while let frame = wire.frame(), frame.first == 0x8A {
          pongs.withLock { $0 = ($0.count + 1, frame.payload) }
          if frame.payload == last { break }
        }
        isDone.store(true, ordering: .sequentiallyConsistent)
        wire.answerClose()
      }
      connection.connect(to: server.endpoint)
      await loop.until { isDone.load(ordering: .sequentiallyConsistent) }
      let (answered, payload) = pongs.withLock { $0 }
      #expect(answered < count / 2, "\(answered)")
      #expect(payload.prefix(4).elementsEqual(withUnsafeBytes(of: UInt32(count - 1)) { Array($0) }))
      await end(loop, connection, server)
    }

    @Test("F23: a pong overtakes messages that wait behind a peer that does not read")
    func overtaking() async throws {
      let order = Mutex<[UInt8]>([])
      let isRead = Atomic(false)
      let (loop, connection, server) = try connected { wire in
        wire.peer.setOption(SO_RCVBUF, Int32(64 << 10))
        // The client's messages have begun; it has more of them than the system takes.
        guard let first = wire.frame() else { return }
        wire.peer.write(ServerBytes.frame(0x89, "now".utf8))
        var firsts = [first.first]
        while let frame = wire.frame() {
          firsts.append(frame.first)
          if frame.payload == [0xFF] { break }
        }
        let all = firsts
        order.withLock { $0 = all }
        isRead.store(true, ordering: .sequentiallyConsistent)
        wire.answerClose()
      }
      connection.connect(to: server.endpoint)
      for _ in 0..<24 {
        connection.post(Message(bytes: [UInt8](repeating: 7, count: 300_000)))
      }
      connection.post(Message(bytes: [0xFF]))
      await loop.until { isRead.load(ordering: .sequentiallyConsistent) }
      let firsts = order.withLock { $0 }
      let pong = try #require(firsts.firstIndex(of: 0x8A))
      #expect(pong < firsts.count - 6, "\(firsts)")
      await end(loop, connection, server)
    }

    // MARK: Closing

    @Test("F24: of two closes that cross each side hears the other's code, and none is answered")
    func crossingCloses() async throws {
      let journal = WebSocketJournal()
      let frames = Mutex<[WirePeer.Frame]>([])
      let (loop, connection, server) = try connected(journal) { wire in
        wire.peer.write(ServerBytes.frame(0x81, "open".utf8))
        // The client's close has come; ours is none that answers it.
        while let frame = wire.frame() {
          frames.withLock { $0.append(frame) }
          if frame.first == 0x88 { wire.peer.write(ServerBytes.close(4000, "mine")) }
          if frame.first == 0x88 { wire.peer.finishWriting() }
        }
      }
      var heard = connection.messages(bufferingUpTo: 10).makeAsyncIterator()
      connection.connect(to: server.endpoint)
      #expect(try await heard.next() == Message("open"))
      await end(loop, connection, server)
      #expect(journal.atClient == WebSocketJournal.Close(4000, "mine"))
      #expect(journal.cause == .closedByUser)
      #expect(frames.withLock { $0 } == [WirePeer.Frame(first: 0x88, payload: [0x03, 0xE8])])
    }

    @Test("F24: a close that a reset follows, because bytes of ours were not read, is that close")
    func resetBehindClose() async throws {
      let journal = WebSocketJournal()
      let (loop, connection, server) = try connected(journal) { wire in
        _ = wire.peer.read(1)
        wire.peer.write(ServerBytes.close(1009, "too big"))
        // With unread bytes, closing is a reset.
      }
      connection.connect(to: server.endpoint)
      connection.post(Message(bytes: [UInt8](repeating: 7, count: 4 << 20)))
      await loop.until { journal.cause != nil }
      #expect(journal.cause == .closedByPeer(CloseCode(1009)))
      #expect(journal.atClient == WebSocketJournal.Close(1009, "too big"))
      await end(loop, connection, server)
    }
  }
}
