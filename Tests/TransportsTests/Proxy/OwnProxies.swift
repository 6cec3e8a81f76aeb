import ConnectionFSM
import Foundation
import Transports

extension TestServer {
  /// An HTTP proxy that gives everybody a tunnel to one port of this machine.
  static func connectProxy(to port: UInt16) throws -> TestServer {
    try TestServer { client in
      var head: [UInt8] = []
      while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
        let byte = client.read(1)
        if byte.isEmpty { return }
        head += byte
      }
      relay(client, to: port, answer: Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    }
  }

  /// A SOCKS5 proxy that does the same, for names of so many bytes.
  static func socksProxy(to port: UInt16, nameLength: Int) throws -> TestServer {
    try TestServer { client in
      _ = client.read(3)
      client.write([5, 0])
      _ = client.read(5 + nameLength + 2)
      relay(client, to: port, answer: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }
  }

  private static func relay(_ client: Peer, to port: UInt16, answer: [UInt8]) {
    let target = Peer.connected(to: Endpoint(host: "127.0.0.1", port: port))
    client.write(answer)
    let back = try? SystemThread.start("test-proxy") { pump(target, client) }
    pump(client, target)
    back?.join()
    target.close()
  }

  private static func pump(_ from: Peer, _ to: Peer) {
    while true {
      let byte = from.read(1)
      if byte.isEmpty { return to.finishWriting() }
      to.write(byte)
    }
  }
}

/// tinyproxy on a free port of loopback.
enum Tinyproxy {
  /// Lets tunnels lead to the given ports alone; with credentials they are “ada” and “s3cr3t”.
  static func start(
    _ directory: SocketDirectory, to ports: [UInt16], credentials: Bool = true
  ) async throws -> (PeerProgram, Endpoint) {
    let (holder, port) = Peer.bound("127.0.0.1")
    holder.close()
    var lines = [
      "Port \(port)", "Listen 127.0.0.1", "Allow 127.0.0.1", "Timeout 60", "MaxClients 50",
    ]
    if credentials { lines.append("BasicAuth ada s3cr3t") }
    lines += ports.map { "ConnectPort \($0)" }
    let file = directory.file("tinyproxy.conf")
    try (lines.joined(separator: "\n") + "\n").write(
      toFile: file, atomically: false, encoding: .utf8)
    let program = try await PeerProgram.start(
      "tinyproxy", ["-d", "-c", file], readiness: .port(port))
    return (program, Endpoint(host: "127.0.0.1", port: port))
  }
}
