#if os(Linux)
  import ConnectionFSM
  import Foundation
  import Testing
  import Transports

  /// `openssl s_server`, with an identity of ours.
  struct OpenSSLPeer {
    let program: PeerProgram
    let port: UInt16

    /// - Parameter options: What follows the certificate, the key and the address to listen at.
    init(
      _ identity: TLSIdentity, authority: PEM? = nil, _ options: [String] = []
    ) async throws {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("s_server-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      // All that is needed to start is read by the time it is ready.
      defer { try? FileManager.default.removeItem(at: folder) }
      func file(_ pem: PEM, _ name: String) throws -> String {
        let path = folder.appendingPathComponent(name)
        try pem.content.write(to: path, atomically: true, encoding: .utf8)
        return path.path
      }
      var arguments = [
        "s_server", "-accept", "127.0.0.1:0", "-cert", try file(identity.certificates, "c.pem"),
        "-key", try file(identity.key, "k.pem"),
      ]
      if let authority { arguments += ["-CAfile", try file(authority, "ca.pem")] }
      program = try await PeerProgram.start(
        "openssl", arguments + options, readiness: .output("ACCEPT "))
      let line = try #require(program.line(after: "ACCEPT "))
      port = try #require(UInt16(line.split(separator: ":").last ?? ""))
    }

    /// How many messages of that kind it has sent (`>>>`) or received (`<<<`); to be started with
    /// `-msg`.
    func count(_ direction: String, _ kind: String) -> Int {
      program.output.split(whereSeparator: \.isNewline)
        .count { $0.hasPrefix(direction) && $0.hasSuffix(kind) }
    }

    /// Ends it at once.
    func kill() { program.kill() }
  }

  /// Dials TLS over real sockets.
  final class TLSCaller: Sendable {
    typealias Stream = TLSStream<TCPStream>

    let loop: SocketEventLoop
    private let dialer: Confined<TLSDialer<TCPDialer>>

    init(_ configuration: TLSConfiguration) throws {
      loop = try SocketEventLoop()
      dialer = Confined(TLSDialer(TCPDialer(loop: loop), configuration: configuration))
    }

    func stop() { loop.stop() }

    /// Dials and comes back when it is known how that went.
    func dial(_ port: UInt16, host: String = "127.0.0.1") async -> Talker<Stream> {
      let talker = Talker<Stream>()
      await loop.run { [dialer] in
        talker.stream = dialer.value.dial(
          Endpoint(scheme: "tls", host: host, port: port), observer: talker)
      }
      await loop.until { !talker.events.isEmpty }
      return talker
    }

    /// Says a line and comes back when another has come, or all is over.
    func exchange(_ text: String, _ talker: Talker<Stream>) async {
      let goal = await loop.run { talker.received.count + text.utf8.count }
      await loop.run { talker.write(text) }
      await loop.until { talker.received.count >= goal || talker.isOver }
    }

    func close(_ talker: Talker<Stream>) async {
      await loop.run { talker.stream?.close() }
    }
  }
#endif
