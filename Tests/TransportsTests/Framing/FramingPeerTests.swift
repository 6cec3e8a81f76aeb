import ConnectionFSM
import Foundation
import Testing
import Transports

/// The 7-byte frame spoken by programs not of our making.
extension RealSockets {
  @Suite("F29, F31: the 7-byte frame against other implementations")
  struct FramingPeerTests {
    /// Reads frames with `struct`, `zlib` and `json`, and answers each in all four ways; one that
    /// asks for a size, with a text that makes a plain frame of it. At a link's end it prints how
    /// many bytes it has received and sent.
    private static let program = """
      import json, socket, struct, sys, zlib
      key = b"Veeco"
      def mask(data):
          whole = key * (len(data) // len(key) + 1)
          return bytes(a ^ b for a, b in zip(data, whole))
      def gzip(data):
          packer = zlib.compressobj(wbits=31)
          return packer.compress(data) + packer.flush()
      def frame(data, encoding, compression):
          if encoding: data = mask(data)
          if compression == 1: data = gzip(data) if encoding else zlib.compress(data)
          return struct.pack(">IBBB", len(data) + 7, 1, encoding, compression) + data
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1], flush=True)
      while True:
          link, _ = listener.accept()
          stream = link.makefile("rb")
          received = sent = 0
          while head := stream.read(7):
              length, kind, encoding, compression = struct.unpack(">IBBB", head)
              body = stream.read(length - 7)
              received += length
              if compression: body = zlib.decompress(body, wbits=31)
              if encoding: body = mask(body)
              value = json.loads(body)
              if kind != 1 or type(value) not in (dict, list): sys.exit("no object")
              if value == ["poison"]:
                  link.sendall(bytes([0, 0, 0, 3]))
                  break
              if "size" in value: value = ["x" * (value["size"] - 7 - 4)]
              answer = json.dumps(value).encode()
              for encoding in (0, 1):
                  for compression in (0, 1):
                      data = frame(answer, encoding, compression)
                      link.sendall(data)
                      sent += len(data)
          print("counted", received, sent, flush=True)
          stream.close()
          link.close()
      """

    private struct Item: Codable, Equatable {
      var name = "Veeco"
      var price = 12.5
      var tags: [String?] = ["a/b", "ü", "\u{1F600}", nil]
    }

    private static func policy() throws -> Policy {
      try Policy(
        backoff: Backoff(first: .seconds(60), base: .seconds(60), cap: .seconds(60), jitter: .none),
        heartbeat: nil)
    }

    private struct Link {
      let connection: Connection
      let loop: SocketEventLoop
      let peer: PeerProgram
    }

    private func withPeer(
      _ engine: SevenByteFraming, trace: (@Sendable (TraceRecord) -> Void)? = nil,
      _ body: (Link) async throws -> Void
    ) async throws {
      let peer = try await PeerProgram.start(
        "python3", ["-c", Self.program], readiness: .output("port "))
      defer { peer.kill() }
      let port = try #require(peer.line(after: "port ").flatMap { UInt16($0) })
      let loop = try SocketEventLoop()
      defer { loop.stop() }
      let connection = try Connection(
        StreamTransport(TCPDialer(loop: loop)) { engine }, policy: Self.policy(), seed: 1,
        trace: trace)
      connection.connect(to: Endpoint(host: "127.0.0.1", port: port))
      try await body(Link(connection: connection, loop: loop, peer: peer))
    }

    @Test(
      "F29, F30, F31, F32, F33: Python reads ours in all four ways, we read its, and counts agree",
      arguments: [nil, "Veeco"], [SevenByteFraming.Compression.none, .gzip])
    func objects(key: String?, compression: SevenByteFraming.Compression) async throws {
      let engine = try SevenByteFraming(
        encoding: key.map { .xor(key: $0) } ?? .plain, compression: compression,
        decodingKey: "Veeco", maximumFrame: 4 << 20, maximumInflated: 4 << 20)
      try await withPeer(engine) { link in
        let connection = link.connection
        var heard = connection.messages().makeAsyncIterator()
        try await connection.send(Message(encoding: ["item": Item()]))
        for _ in 0..<4 {
          let message = try await heard.next()
          #expect(try message?.decoded(as: [String: Item].self) == ["item": Item()])
        }
        for size in [65_535, 65_536, 70_000, 1 << 20] {
          try await connection.send(Message(encoding: ["size": size]))
          for index in 0..<4 {
            let message = try await heard.next()
            let text = try message?.decoded(as: [String].self)
            #expect(text == [String(repeating: "x", count: size - 11)])
            if index % 2 == 0 { #expect(message?.wireLength == size) }
          }
        }
        let mine = try #require(await connection.traffic())
        #expect(mine.messagesSent == 5 && mine.messagesReceived == 20)
        await connection.close()
        let peer = link.peer
        await link.loop.until { peer.line(after: "counted ") != nil }
        #expect(peer.line(after: "counted ") == "\(mine.bytesSent) \(mine.bytesReceived)")
      }
    }

    @Test("F34, B1.2: poison from the peer ends the link as a protocol error")
    func poison() async throws {
      let journal = Journal()
      let trace: @Sendable (TraceRecord) -> Void = { journal.record($0) }
      try await withPeer(try SevenByteFraming(), trace: trace) { link in
        try await link.connection.send(Message(encoding: ["poison"]))
        await link.loop.until { !journal.causes.isEmpty }
        #expect(journal.causes == [.protocolError])
        await link.connection.close()
      }
    }

    @Test("F31: gzip reads what we deflate, and we inflate what gzip makes, at each of its levels")
    func systemGzip() async throws {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("gzip-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      var random = SplitMix64(seed: 31)
      let texts: [[UInt8]] = [
        [], Array("{\n  \"name\" : \"Veeco\"\n}".utf8),
        (0..<200_000).map { _ in UInt8(random.next(through: 255)) },
        [UInt8](repeating: 65, count: 1_000_000),
      ]
      for (index, text) in texts.enumerated() {
        try Data(text).write(to: folder.appendingPathComponent("\(index).txt"))
        try Data(Gzip.deflate(text)).write(to: folder.appendingPathComponent("\(index).ours"))
      }
      let script = """
        cd '\(folder.path)' || exit 1
        for i in 0 1 2 3; do
          gzip -dc < $i.ours | cmp - $i.txt || exit 1
          for level in 1 6 9; do gzip -$level -c $i.txt > $i.$level; done
        done
        echo done; exec sleep 600
        """
      let gzip = try await PeerProgram.start("sh", ["-c", script], readiness: .output("done"))
      defer { gzip.kill() }
      for (index, text) in texts.enumerated() {
        for level in [1, 6, 9] {
          let theirs = try Data(contentsOf: folder.appendingPathComponent("\(index).\(level)"))
          #expect(try Gzip.inflate(Array(theirs), limit: text.count) == text)
        }
      }
    }
  }
}
