import ConnectionFSM
import Foundation
import Testing
import Transports

/// A directory of its own, with a short name: a socket's path has few bytes.
struct SocketDirectory {
  let path: String

  init() throws {
    path = "/tmp/fsm-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func exists(_ name: String) -> Bool {
    (try? FileManager.default.attributesOfItem(atPath: file(name))) != nil
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// Writes back what arrives, until the end.
private final class Echo: ByteStreamObserver {
  private var stream: TCPStream?
  private var buffer = [UInt8](repeating: 0, count: 4096)

  init(_ stream: TCPStream) { self.stream = stream }

  func streamOpened() {}
  func streamFailed(_ cause: Cause) {}
  func streamWritable() {}
  func streamReadable() {
    var span = buffer.mutableSpan
    var bytes = span.mutableBytes
    guard let stream else { return }
    switch stream.read(into: &bytes) {
    case .bytes(let count):
      let echo = Array(buffer[..<count])
      _ = stream.write(echo.span.bytes)
    case .wouldBlock: break
    case .end, .failed:
      stream.close()
      self.stream = nil
    }
  }
}

extension RealSockets {
  @Suite("Unix domain sockets")
  struct UnixSocketTests {
    let loop: SocketEventLoop
    let directory: SocketDirectory

    init() throws {
      loop = try SocketEventLoop()
      directory = try SocketDirectory()
    }

    private func client(_ endpoint: Endpoint) async -> TestClient {
      let client = TestClient(loop)
      await client.dialled(endpoint)
      return client
    }

    /// Starts a listener that echoes; the error if that fails.
    private func listen(_ path: String) async -> (Confined<TCPListener?>, ListenError?) {
      let kept = Confined<TCPListener?>(nil)
      let observers = Confined<[Echo]>([])
      let error = await loop.run { [loop] () -> ListenError? in
        let listener = TCPListener(loop: loop) { stream in
          observers.value.append(Echo(stream))
          return observers.value.last!
        }
        do throws(ListenError) { try listener.start(path: path) } catch { return error }
        kept.value = listener
        return nil
      }
      return (kept, error)
    }

    private func stop(_ listener: Confined<TCPListener?>) async {
      await loop.run {
        listener.value?.stop()
        listener.value = nil
      }
    }

    @Test("a path is dialled and carries bytes both ways; stopping the listener removes its file")
    func echo() async throws {
      let (listener, error) = await listen(directory.file("s"))
      #expect(error == nil)
      let client = await client(try Endpoint("unix://\(directory.file("s"))"))
      await loop.run { client.write("over a path") }
      await loop.until { client.received == Array("over a path".utf8) }
      await loop.run { client.stream?.finishWriting() }
      await loop.until { client.events.last == .end }
      #expect(client.events == [.opened, .end])
      #expect(directory.exists("s"))
      await stop(listener)
      #expect(!directory.exists("s"))
      loop.stop()
      directory.remove()
    }

    @Test("a file that nobody listens on is replaced, one that is served is an error")
    func stale() async throws {
      let path = directory.file("s")
      // Bound and never listened on, then closed: what a killed program leaves.
      leaveSocketFile(path)
      #expect(directory.exists("s"))
      let gone = await client(Endpoint(unixSocket: path))
      #expect(gone.events == [.failed(.system(.connectionRefused))])
      let (first, none) = await listen(path)
      #expect(none == nil)
      let (_, second) = await listen(path)
      #expect(second?.problem == .system(Errno(EADDRINUSE)))
      #expect(second?.description.contains("another program listens there") == true)
      let third = await client(Endpoint(unixSocket: path))
      #expect(third.events == [.opened])
      // The name is another program's by now: it stays.
      try FileManager.default.removeItem(atPath: path)
      leaveSocketFile(path)
      await stop(first)
      #expect(directory.exists("s"))
      loop.stop()
      directory.remove()
    }

    @Test("a file that is no socket is left alone, and so is a path that is too long")
    func refusals() async throws {
      let path = directory.file("notes")
      try Data("keep".utf8).write(to: URL(fileURLWithPath: path))
      let (_, error) = await listen(path)
      #expect(error?.problem == .isNoSocket)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "keep")
      let long = directory.file(String(repeating: "x", count: 120))
      let (_, tooLong) = await listen(long)
      #expect(tooLong?.problem == .pathTooLong)
      #expect(tooLong?.description.contains("shorter") == true)
      let (_, nowhere) = await listen(directory.file("no/such/directory"))
      #expect(nowhere?.problem == .system(Errno(ENOENT)))
      loop.stop()
      directory.remove()
    }

    @Test("the listener's file goes when the loop stops, and when the listener is dropped")
    func fileGoes() async throws {
      let (dropped, _) = await listen(directory.file("a"))
      await loop.run { dropped.value = nil }
      #expect(!directory.exists("a"))
      let (kept, _) = await listen(directory.file("b"))
      loop.stop()
      #expect(!directory.exists("b"))
      withExtendedLifetime(kept) {}
      directory.remove()
    }

    @Test("a path where there is nothing refuses, and says so; one that is too long is terminal")
    func dialErrors() async throws {
      let missing = Endpoint(unixSocket: directory.file("missing"))
      let client = await client(missing)
      #expect(client.events == [.failed(.system(.connectionRefused))])
      let nothing = client.stream?.diagnosis as? DialError
      #expect(nothing?.endpoint == missing && nothing?.problem == .nothingAtPath)
      for count in [107, 108, 200] {
        let path = "/" + String(repeating: "x", count: count - 1)
        let long = await self.client(Endpoint(unixSocket: path))
        #if os(Linux)
          let limit = 107
        #else
          let limit = 103
        #endif
        guard count > limit else {
          #expect(long.events == [.failed(.system(.connectionRefused))])
          continue
        }
        #expect(long.events == [.failed(.unsupportedEndpoint)])
        let error = long.stream?.diagnosis as? DialError
        #expect(error?.problem == .pathTooLong(limit: limit))
        #expect(error?.description.contains("choose a shorter one") == true)
      }
      loop.stop()
      directory.remove()
    }

    #if os(Linux)
      @Test("a path whose queue is full refuses; nothing waits for a room that nobody tells of")
      func fullQueue() async throws {
        let path = directory.file("s")
        let listener = listeningSocket(path, backlog: 0)
        var clients: [TestClient] = []
        for _ in 0..<3 { clients.append(await client(Endpoint(unixSocket: path))) }
        #expect(clients[0].events == [.opened])
        #expect(clients[2].events == [.failed(.system(.connectionRefused))])
        loop.stop()
        listener.close()
        directory.remove()
      }
    #endif

    @Test("a server not of our making echoes at a path (socat)")
    func socat() async throws {
      let path = directory.file("s")
      let socat = try await PeerProgram.start(
        "socat", ["-d", "-d", "UNIX-LISTEN:\(path),fork", "EXEC:cat"],
        readiness: .output("listening on"))
      defer { socat.kill() }
      let dialled = await client(Endpoint(unixSocket: path))
      let sent = [UInt8](repeating: 7, count: 200_000)
      await loop.run { dialled.write(sent) }
      await loop.until { dialled.received.count == sent.count }
      #expect(dialled.received == sent)
      await loop.run { dialled.stream?.finishWriting() }
      await loop.until { dialled.events.last == .end }
      loop.stop()
      directory.remove()
    }
  }
}

/// A blocking socket bound to a path.
private func boundSocket(_ path: String) -> Peer {
  #if canImport(Glibc)
    let type = Int32(SOCK_STREAM.rawValue)
  #else
    let type = SOCK_STREAM
  #endif
  let peer = Peer(descriptor: socket(AF_UNIX, type, 0))
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { bytes in
    for (place, byte) in path.utf8.enumerated() { bytes[place] = byte }
  }
  let result = withUnsafeBytes(of: address) { bytes in
    bytes.withMemoryRebound(to: sockaddr.self) {
      bind(peer.descriptor, $0.baseAddress!, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  precondition(result == 0, "no socket could be bound at \(path)")
  return peer
}

private func leaveSocketFile(_ path: String) { boundSocket(path).close() }

private func listeningSocket(_ path: String, backlog: Int32) -> Peer {
  let peer = boundSocket(path)
  listen(peer.descriptor, backlog)
  return peer
}
