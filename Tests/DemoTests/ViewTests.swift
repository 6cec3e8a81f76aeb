import Foundation
import Testing

@Suite("fsm-demo shows a run")
struct ViewTests {
  private static func temporary(_ ending: String) -> String {
    FileManager.default.temporaryDirectory
      .appendingPathComponent("fsm-demo-\(UUID().uuidString).\(ending)").path
  }

  @Test(
    "each format of the tour is what it says, and nothing is beside it",
    arguments: [
      ("text", "    time  input"), ("jsonl", "{\"format\":1"), ("sequence", "     time  state"),
      ("chrome", "{\"displayTimeUnit\":\"ms\""), ("html", "<!doctype html>\n"),
    ])
  func formats(format: String, start: String) throws {
    let run = try Demo.run("--format", format)
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.output.hasPrefix(start))
    #expect(run.output.contains("That was a whole life") == (format == "text"))
  }

  @Test(
    "a file gets the same bytes as standard output, and is emptied before",
    arguments: ["sequence", "html"])
  func file(format: String) throws {
    let path = Self.temporary(format)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(repeating: 0x78, count: 1 << 20).write(to: URL(fileURLWithPath: path))
    let arguments = ["simulate", "--scenario", "dead-peer", "--format", format]
    let run = try Demo(arguments + ["--output", path]).finish()
    #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty)
    let file = try String(contentsOfFile: path, encoding: .utf8)
    #expect(try Demo(arguments).finish().output == file)
  }

  @Test("the text trace goes to a file without colour, and the verdict to standard output")
  func verdict() throws {
    let path = Self.temporary("txt")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let run = try Demo.run("simulate", "--scenario", "dead-peer", "--output", path)
    #expect(run.output.hasPrefix("\ndead-peer went as it says"))
    let file = try String(contentsOfFile: path, encoding: .utf8)
    #expect(file.hasPrefix("    time") && file.contains("timedOut(pong)"))
    #expect(!file.contains("\u{1B}"))
  }

  @Test("a condition's bytes are a capture, the same for a seed and another for another")
  func capture() throws {
    func capture(seed: String) throws -> Data {
      let path = Self.temporary("pcapng")
      defer { try? FileManager.default.removeItem(atPath: path) }
      let run = try Demo.run(
        "simulate", "--scenario", "commuter", "--seed", seed, "--format", "pcapng", "--output",
        path)
      #expect(run.status == 0 && run.errors.isEmpty)
      return try Data(contentsOf: URL(fileURLWithPath: path))
    }
    let first = try capture(seed: "1")
    #expect(first.prefix(4) == Data([0x0A, 0x0D, 0x0D, 0x0A]) && first.count > 4000)
    #expect(try capture(seed: "1") == first)
    #expect(try capture(seed: "2") != first)
  }

  @Test("a story has no bytes to capture, and says where there are some")
  func story() throws {
    for arguments in [["simulate", "--scenario", "tour"], ["tour"]] {
      let run = try Demo(arguments + ["--format", "pcapng"]).finish()
      #expect(run.status == 64 && run.output.isEmpty)
      #expect(run.errors.contains("a story of the machine alone has no bytes"))
      #expect(run.errors.contains("--scenario commuter"))
    }
  }

  @Test("a story over bytes is captured, its words among them")
  func storyOverBytes() throws {
    let (path, capture) = (Self.temporary("json"), Self.temporary("pcapng"))
    defer { for path in [path, capture] { try? FileManager.default.removeItem(atPath: path) } }
    let json = """
      { "version": 1, "name": "bytes", "over": "bytes", "seed": 1, "policy": {}, "steps": [
        { "t": 0, "ev": "api.connect" }, { "t": 1, "ev": "api.send", "arg": "hello", "lane": 1 },
        { "t": 3, "ev": "api.close" } ] }
      """
    try json.write(toFile: path, atomically: true, encoding: .utf8)
    let run = try Demo.run("simulate", path, "--format", "pcapng", "--output", capture)
    #expect(run.status == 0 && run.errors.isEmpty)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: capture))
    // There and, as an echo, back.
    let first = try #require(bytes.range(of: Data("hello\n".utf8)))
    #expect(bytes[first.upperBound...].range(of: Data("hello\n".utf8)) != nil)
  }

  @Test("a file that cannot be made is named")
  func unwritable() throws {
    let run = try Demo.run("--format", "html", "--output", "/no/such/folder/a.html")
    #expect(run.status == 74 && run.output.isEmpty)
    #expect(run.errors == "fsm-demo: /no/such/folder/a.html: No such file or directory\n")
  }

  @Test("a run that breaks off is shown up to there", arguments: ["text", "sequence", "html"])
  func broken(format: String) throws {
    let path = Self.temporary("json")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let json = """
      { "version": 1, "name": "wrong", "seed": 1, "policy": {}, "steps": [
        { "t": 0, "ev": "net.server_up" }, { "t": 0, "ev": "api.connect" },
        { "t": 1, "ev": "expect.state", "arg": "closed" } ] }
      """
    try json.write(toFile: path, atomically: true, encoding: .utf8)
    let run = try Demo.run("simulate", path, "--format", format)
    #expect(run.status == 1)
    #expect(run.output.contains("#1 opened"))
  }

  @Test("a recorded trace is shown as the run itself is, but for the notes")
  func recorded() throws {
    let path = Self.temporary("jsonl")
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Demo.run("--format", "jsonl").output
      .write(toFile: path, atomically: true, encoding: .utf8)
    let view = try Demo.run("view", path)
    #expect(view.status == 0 && view.errors.isEmpty)
    let steps = try Demo.run("tour").output.split(separator: "\n\n")[0].split(separator: "\n")
    #expect(view.output.split(separator: "\n") == steps.filter { !$0.contains("· ") })
    let diagram = try Demo.run("view", path, "--format", "sequence")
    #expect(diagram.output.contains("|-- #1 dial @0 ---"))
    #expect(try Demo.run("view", path, "--format", "html").output.hasPrefix("<!doctype html>"))
    #expect(try Demo.run("view", path, "--format", "pcapng").status == 64)
  }

  @Test("a trace that does not replay is shown up to there, and the step is named")
  func changed() throws {
    let path = Self.temporary("jsonl")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let trace = try Demo.run("--format", "jsonl").output
    let changed = trace.replacing("\"settle 1:1 acknowledged\"", with: "\"settle 1:1 expired\"")
    try changed.write(toFile: path, atomically: true, encoding: .utf8)
    let run = try Demo.run("view", path)
    #expect(run.status == 1)
    #expect(run.errors.contains("line 8: step 7 does not replay"))
    #expect(run.output.split(separator: "\n").count == 7)
  }

  @Test("connect keeps to traces")
  func connect() throws {
    let run = try Demo.run("connect", "tcp://127.0.0.1:1", "--format", "html")
    #expect(run.status == 64 && run.errors.contains("there are text, jsonl"))
  }
}
