import ConnectionFSM
import Foundation
import Synchronization
import Testing
import Transports

/// A program not of our making on the other side of a test: `openssl s_server`, a proxy, `socat`.
///
/// ```swift
/// let peer = try await PeerProgram.start(
///   "openssl", ["s_server", "-accept", "127.0.0.1:0", …], readiness: .output("ACCEPT "))
/// defer { peer.kill() }
/// ```
///
/// One that is dropped is killed, too: a test that throws leaves nothing running.
final class PeerProgram: Sendable {
  /// How it is known that the program serves.
  enum Readiness {
    /// What it has written, to either of its outputs, has this text, and a line's end behind it.
    case output(String)
    /// Somebody listens on this port of 127.0.0.1.
    case port(UInt16)
  }

  /// Why there is no peer. A test without its peer fails; it is never skipped.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let process: Process
  private let input: Pipe
  private let received = Mutex<[UInt8]>([])

  /// How long a program may take to be ready; a busy machine needs a hundredth of it.
  private static let patience = Duration.seconds(30)

  private init(_ executable: URL, _ arguments: [String]) {
    process = Process()
    input = Pipe()
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = input
  }

  deinit { kill() }

  /// Starts the program, which is looked for in `PATH` and where Debian keeps servers, and comes
  /// back once it is ready.
  static func start(
    _ program: String, _ arguments: [String], readiness: Readiness
  ) async throws -> PeerProgram {
    let peer = PeerProgram(try locate(program), arguments)
    let output = Pipe()
    peer.process.standardOutput = output
    peer.process.standardError = output
    output.fileHandleForReading.readabilityHandler = { [weak peer] handle in
      let data = handle.availableData
      guard !data.isEmpty else {
        handle.readabilityHandler = nil
        return
      }
      peer?.received.withLock { $0 += data }
    }
    try peer.process.run()
    let deadline = ContinuousClock.now + patience
    while !peer.isReady(readiness) {
      guard peer.process.isRunning, ContinuousClock.now < deadline else {
        throw Failure(description: "\(program) \(arguments) is not ready: “\(peer.output)”")
      }
      try await Task.sleep(for: .milliseconds(2))
    }
    return peer
  }

  /// What it has written so far, to both of its outputs.
  var output: String { String(decoding: received.withLock { $0 }, as: UTF8.self) }

  /// What follows this text in the output, up to the line's end; nil while it is not all there.
  func line(after text: String) -> Substring? {
    let output = output
    guard let start = output.range(of: text)?.upperBound,
      let end = output[start...].firstIndex(where: \.isNewline)
    else { return nil }
    return output[start..<end]
  }

  /// Gives the program something to read.
  func write(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }

  /// Ends the program at once.
  func kill() {
    guard process.isRunning else { return }
    // SIGTERM may be ignored; what a test has started must be gone.
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private func isReady(_ readiness: Readiness) -> Bool {
    switch readiness {
    case .output(let text): line(after: text) != nil
    case .port(let port): Self.listens(port)
    }
  }

  private static func listens(_ port: UInt16) -> Bool {
    let socket = Peer.unbound(isIPv6: false)
    defer { socket.close() }
    return Peer.withLoopback(false, port: port) { connect(socket.descriptor, $0, $1) } == 0
  }

  private static func locate(_ program: String) throws -> URL {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders: [Substring] = path.split(separator: ":") + ["/usr/sbin", "/usr/local/sbin"]
    for folder in folders {
      let candidate = "\(folder)/\(program)"
      if access(candidate, X_OK) == 0 {
        return URL(fileURLWithPath: candidate)
      }
    }
    throw Failure(
      description:
        "this test needs the program “\(program)”; install it: apt-get install \(program)"
    )
  }
}

/// A port of 127.0.0.1 that was free a moment ago, for programs that cannot tell which they took.
/// Somebody else may have taken it since: start the program anew with another one then.
func freePort() -> UInt16 {
  let (socket, port) = Peer.bound("127.0.0.1")
  socket.close()
  return port
}
