import ConnectionFSM
import Foundation
import Testing

@Suite("F56: fsm-demo on the segments of a recording")
struct SegmentTests {
  /// A short run in segments of four steps, as a recorder writes them.
  private func segments(missing: UInt64 = 0) throws -> [String] {
    let inputs: [(Input, Int64)] = [
      (.connect(EndpointID(0)), 0), (.transport(Epoch(1), .opened), 40),
      (.offer(LaneID(1), byteCount: 8), 50), (.offer(LaneID(1), byteCount: 9), 60),
      (.transport(Epoch(1), .acknowledged(through: MessageID(lane: LaneID(1), sequence: 1))), 70),
      (.transport(Epoch(1), .failed(.system(.connectionReset))), 80),
      (.pathChanged(.up), 81), (.offer(LaneID(1), byteCount: 3), 90),
      (.close, 95), (.demandChanged(false), 96),
    ]
    let policy = try Policy(
      backoff: Backoff(
        first: .seconds(4), base: .seconds(4), cap: .seconds(60), jitter: .full,
        stability: .seconds(10)),
      lanes: [Lane(.atMostOnce), Lane(.atLeastOnce)])
    var machine = Machine(policy: policy, seed: 5)
    var effects = Effects()
    var texts: [String] = []
    var causality = Causality()
    for (place, (input, milliseconds)) in inputs.enumerated() {
      if place % 4 == 0 {
        causality = Causality()
        texts.append(
          try text(TraceHeader(startingWith: machine, after: UInt64(place), missing: missing)))
      }
      let record = machine.handle(
        input, at: .origin + .milliseconds(milliseconds), into: &effects,
        recordingAs: UInt64(place + 1))
      texts[texts.count - 1] += try text(TraceLine(record, parent: causality.parent(of: record)))
    }
    return texts
  }

  private func text(_ line: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(line), as: UTF8.self) + "\n"
  }

  /// Runs the tool with files of these texts.
  private func run(_ command: String, _ texts: [String], _ more: String...) throws -> Demo.Outcome {
    var run: Demo.Outcome?
    func open(_ rest: ArraySlice<String>, _ paths: [String]) throws {
      guard let first = rest.first else {
        run = try Demo([command] + paths + more).finish()
        return
      }
      try Demo.withFile(first) { try open(rest.dropFirst(), paths + [$0]) }
    }
    try open(texts[...], [])
    return try #require(run)
  }

  @Test("segments in their order replay as one run")
  func whole() throws {
    let run = try run("replay", segments())
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output == """
        Replayed without a difference: 10 steps, 1 attempt in 0.096 s.
        Messages: 1 acknowledged, 1 cancelled, 1 in doubt.

        """)
  }

  @Test("a segment replays alone, with the messages that lived before it")
  func alone() throws {
    let run = try run("replay", [segments(missing: 2)[1]])
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output == """
        Replayed without a difference: 4 steps, 0 attempts in 0.090 s.
        Messages: 1 acknowledged, 2 still under way.
        It begins after step 4, and 2 steps before it were not recorded.

        """)
  }

  @Test("where a segment is missing, both sides of the gap are told")
  func gap() throws {
    let all = try segments()
    let run = try run("replay", [all[0], all[2]])
    #expect(run.status == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("Replayed without a difference") }.count == 2)
    #expect(lines.last == "It begins after step 8.")
  }

  @Test("segments in the wrong order end with 65 and the mend")
  func order() throws {
    let all = try segments()
    let run = try run("replay", [all[1], all[1]])
    #expect(run.status == 65)
    #expect(run.errors.contains("begins after step 4, and the part before it ends with step 8"))
    #expect(run.output.hasPrefix("Replayed without a difference: 4 steps"))
  }

  @Test("two runs after each other are told one by one")
  func twoRuns() throws {
    let run = try run("replay", segments() + segments())
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.components(separatedBy: "10 steps, 1 attempt").count == 3)
  }

  @Test("a segment that was begun and has no step yet is no error")
  func empty() throws {
    let all = try segments()
    let header = String(all[1].prefix { $0 != "\n" }) + "\n"
    let run = try run("replay", [all[0], header])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.hasPrefix("Replayed without a difference: 4 steps"))
  }

  @Test("a damaged snapshot ends with 65 and names the fact")
  func damaged() throws {
    let text = try segments()[1]
    #expect(text.contains("\"wanted\":true"))
    let misspelt = try run("replay", [text.replacing("\"wanted\":true", with: "\"wnted\":true")])
    #expect(misspelt.status == 65)
    #expect(misspelt.errors.contains("line 1: start.machine.wnted: is unknown; known are now, "))
    let unwanted = text.replacing("\"wanted\":true", with: "\"wanted\":false")
    let impossible = try run("replay", [unwanted])
    #expect(impossible.status == 65)
    #expect(
      impossible.errors.contains(
        "line 1: start: snapshot: machine: I1: a link that nobody wants"), "\(impossible.errors)")
  }

  @Test("why and view tell of a segment as of any trace")
  func others() throws {
    let text = try segments()[1]
    let why = try run("why", [text], "6")
    #expect(why.status == 0, "\(why.errors)")
    #expect(why.output.contains("   6     0.080  #1 failed"))
    let view = try run("view", [text])
    #expect(view.status == 0, "\(view.errors)")
  }
}
