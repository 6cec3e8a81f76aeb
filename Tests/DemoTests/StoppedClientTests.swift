import Foundation
import Testing

/// `fsm-demo connect` in a process of its own, whose trace is read as it grows.
private final class StoppableClient {
  /// A line of its trace.
  struct Step: Decodable {
    let input: String
    let effects: [String]
    let from: String
    let to: String
    /// Nanoseconds.
    let instant: Int64
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()
  private(set) var steps: [Step] = []

  init(to endpoint: String, pingingAfter seconds: Int) throws {
    process.executableURL = Demo.executable
    process.arguments = ["connect", endpoint, "--ping", "\(seconds)", "--format", "jsonl"]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let process = process
    DispatchQueue.global().asyncAfter(deadline: .now() + 60) {
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
  }

  /// Reads on until a step is what is waited for; false if the trace ends before.
  @discardableResult
  func read(until isIt: (Step) -> Bool = { _ in false }) throws -> Bool {
    while let line = nextLine() {
      // The first one is the header.
      if line.starts(with: #"{"format""#.utf8) { continue }
      let step = try JSONDecoder().decode(Step.self, from: line)
      steps.append(step)
      if isIt(step) { return true }
    }
    return false
  }

  private func nextLine() -> Data? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread = Data(unread[(end + 1)...]) }
        return Data(unread[..<end])
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// The process stands still for so long, while its deadlines pass.
  func stop(for seconds: TimeInterval, doing meanwhile: () throws -> Void) rethrows {
    kill(process.processIdentifier, SIGSTOP)
    try meanwhile()
    Thread.sleep(forTimeInterval: seconds)
    kill(process.processIdentifier, SIGCONT)
  }

  /// Ends it as Ctrl-C does; comes back when the trace is complete.
  func interrupt() throws {
    process.interrupt()
    try read()
    process.waitUntilExit()
  }

  func count(_ effect: String, in steps: some Sequence<Step>) -> Int {
    steps.reduce(0) { $0 + $1.effects.count { $0.hasPrefix(effect) } }
  }
}

@Suite("A client that is stopped and goes on", .serialized, .timeLimit(.minutes(2)))
struct StoppedClientTests {
  private func serve(_ endpoint: String) throws -> (server: Demo, endpoint: String) {
    let server = try Demo(["serve", endpoint])
    return (server, String(try #require(server.firstLine().split(separator: " ").first)))
  }

  @Test("F53, I19: after a stop longer than its deadlines, one ping; the healthy link lives on")
  func healthy() throws {
    let (server, endpoint) = try serve("tcp://127.0.0.1:0")
    defer { server.end() }
    // Pings after 1 s, and gives the peer up 1 s later.
    let client = try StoppableClient(to: endpoint, pingingAfter: 1)
    #expect(try client.read { $0.input.hasSuffix("pong 1") })
    client.stop(for: 4) {}
    #expect(try client.read { $0.input.hasSuffix("pong 3") })
    try client.interrupt()

    let steps = client.steps
    let wake = try #require(
      zip(steps, steps.dropFirst()).first { $1.instant - $0.instant > 3_000_000_000 }?.1,
      "its clock has not counted the stop")
    let soon = steps.filter { wake.instant...(wake.instant + 900_000_000) ~= $0.instant }
    #expect(client.count("ping", in: soon) == 1)
    #expect(soon.allSatisfy { $0.to == "open" })
    #expect(client.count("dial", in: steps) == 1)
    #expect(client.count("ended", in: steps) == 1)
    #expect(steps.last?.effects == ["ended #1 closedByUser"])
  }

  @Test("F53: if the server has gone and come back meanwhile, one reconnect, by the policy")
  func lost() throws {
    var (server, endpoint) = try serve("tcp://127.0.0.1:0")
    defer { server.end() }
    let client = try StoppableClient(to: endpoint, pingingAfter: 1)
    #expect(try client.read { $0.input.hasSuffix("pong 1") })
    try client.stop(for: 4) {
      server.end()
      (server, endpoint) = try serve(endpoint)
    }
    #expect(try client.read { $0.input == "#2 opened" })
    #expect(try client.read { $0.input.hasPrefix("#2 pong") })
    try client.interrupt()

    let steps = client.steps
    #expect(client.count("dial", in: steps) == 2)
    #expect(client.count("ended", in: steps) == 2)
    #expect(client.count("ended #1", in: steps) == 1)
    // It waits as after any other loss.
    #expect(steps.contains { $0.from == "open" && $0.to == "backingOff" })
    #expect(steps.last?.effects == ["ended #2 closedByUser"])
  }
}
