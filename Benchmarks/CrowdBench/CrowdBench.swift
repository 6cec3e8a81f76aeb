import ConnectionFSM
import Transports

/// Ten thousand connections of one process on one loop, a server in another that is killed and
/// started again, and what all that costs.
@main
struct CrowdBench {
  /// So long each part may take at most: what has not happened by then is told as missing.
  private static let patience = TimeSpan.seconds(90)

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    ProcessFacts.raiseDescriptorLimit()
    if arguments.count == 2, arguments[0] == "serve", let port = UInt16(arguments[1]) {
      return try await serve(port)
    }
    guard arguments.count <= 1, let count = Int(arguments.first ?? "10000"), count > 0 else {
      print("usage: crowd-bench [CONNECTIONS] | crowd-bench serve PORT")
      return
    }
    guard try await run(count) else { ProcessFacts.fail("not everything came back, see above") }
  }

  /// Echoes lines until the standard input ends, as it does with the parent.
  private static func serve(_ port: UInt16) async throws {
    let loop = try SocketEventLoop()
    let bound: Result<UInt16, ListenError> = await withCheckedContinuation { continuation in
      loop.execute {
        let server = EchoServer(loop: loop)
        running = server
        do throws(ListenError) {
          continuation.resume(returning: .success(try server.start(port: port)))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    ServerProcess.announce(try bound.get())
    ServerProcess.waitForParent()
  }

  /// Keeps the server while its process lives.
  nonisolated(unsafe) private static var running: EchoServer?

  private static func run(_ count: Int) async throws -> Bool {
    let loop = try SocketEventLoop()
    var server = try ServerProcess(port: 0)
    let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
    let before = ProcessFacts.residentBytes
    let crowd = try Crowd(count, on: loop)
    print("\(count) connections of one process on one loop, to an echo server in another")

    crowd.mark()
    crowd.connect(to: endpoint)
    var isWhole = await crowd.wait(for: .open, patience)
    print("opened:     \(crowd.story(of: .open))")
    print("            \(crowd.dialStory)")
    isWhole = await echo(crowd) && isWhole
    let grown = Double(ProcessFacts.residentBytes - before) / Double(count) / 1024
    print("memory:     \(tenths(grown)) KiB resident a connection, buffers of messages and all")

    server.kill()
    isWhole = await crowd.wait(for: .lost, patience) && isWhole
    print("killed:     \(crowd.story(of: .lost))")
    server = try ServerProcess(port: server.port)
    // Dials from the loss on, times from when there was a server again.
    crowd.mark(forgettingDials: false)
    isWhole = await crowd.wait(for: .open, patience) && isWhole
    print("restarted:  \(crowd.story(of: .open))")
    print("            \(crowd.dialStory)")
    isWhole = await echo(crowd) && isWhole

    let closing = ContinuousClock.now
    await crowd.close()
    let took = ContinuousClock.now - closing
    print("closed:     all in \(tenths(took / .seconds(1))) s")
    server.kill()
    loop.stop()
    let sockets = ProcessFacts.sockets
    print("left:       \(sockets) sockets, at most \(ProcessFacts.peakResidentBytes >> 20) MiB")
    return isWhole && sockets == 0
  }

  private static func echo(_ crowd: Crowd) async -> Bool {
    crowd.mark()
    crowd.send()
    let isWhole = await crowd.wait(for: .echoed, patience)
    print("echo each:  \(crowd.story(of: .echoed))")
    return isWhole
  }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
