import ConnectionFSM
import Foundation
import NetSim
import Transports

/// A story that failed, made small, in the forms that a person and a test can use.
struct CheckFinding {
  /// The longest trace that is shown: a page.
  private static let traceLimit = 40

  let failure: CheckFailure
  /// The smallest scenario that fails as the story did.
  let scenario: Scenario
  /// How the small one fails; nil if the story fails only as it was drawn.
  private let ending: CheckFailure?
  /// How many steps the story had.
  private let stepCount: Int

  init(_ failure: CheckFailure, of profile: CheckProfile) {
    self.failure = failure
    stepCount = profile.scenario(seed: failure.seed).steps.count
    var scenario = profile.minimal(of: failure)
    let ending = profile.failure(of: scenario)
    self.ending = ending?.promise == failure.promise ? ending : nil
    scenario.name = "\(failure.promise)-seed-\(failure.seed)".asFileName
    scenario.about = self.ending.map { "\($0.promise): \($0.finding)" }
    self.scenario = scenario
  }

  /// The first of each promise, a few in all: many failures have one cause.
  static func firsts(of failures: [CheckFailure], limit: Int = 5) -> [CheckFailure] {
    var firsts: [CheckFailure] = []
    for failure in failures where !firsts.contains(where: { $0.promise == failure.promise }) {
      firsts.append(failure)
    }
    return Array(firsts.prefix(limit))
  }

  /// What happened, in lines for a person.
  func story(_ paint: Paint) -> String {
    let head = paint.alarm("\(failure.promise) broken") + " by seed \(failure.seed)"
    guard let ending else {
      return """
        \(head) at \(Self.time(failure.seconds)): \(failure.finding)
          It does not fail when it is read as a scenario, so it could not be made smaller.
        """
    }
    let steps = steps
    var lines = ["\(head), in \(steps.count) of \(Self.count(stepCount))", ""]
    let policy = PolicyText.lines(of: scenario.policy, width: 86)
    if policy != ["{}"] {
      // Without the braces around the whole.
      let knobs =
        policy.count == 1 ? policy : policy[1..<policy.count - 1].map { String($0.dropFirst(2)) }
      lines.append("    policy  " + knobs[0])
      lines += knobs.dropFirst().map { String(repeating: " ", count: 12) + $0 }
    }
    let words = steps.map(\.ev.count).max() ?? 0
    for step in steps {
      var line = Self.time(step.t).padded(left: 10) + "  "
      line += step.ev.padded(to: words) + "  " + (step.arg ?? "")
      if let lane = step.lane { line += "  lane \(lane)" }
      if let bytes = step.bytes { line += "  \(bytes) bytes" }
      lines.append(line.trimmed)
    }
    let finding = ending.finding.wrapped(to: 86)
    lines.append(paint.alarm(Self.time(ending.seconds).padded(left: 10) + "  " + finding[0]))
    lines += finding.dropFirst().map { paint.alarm(String(repeating: " ", count: 12) + $0) }
    return lines.joined(separator: "\n")
  }

  /// The trace of the small one, if a person can take it in.
  var trace: String? {
    guard ending != nil, let play = try? ScenarioPlay(scenario, seed: scenario.seed) else {
      return nil
    }
    let text = TraceText(colour: Console.usesColour)
    // It ends with the promise that is broken, which the story has told.
    let told = Told()
    try? play.run { event in
      switch event {
      case .step(let record): told.lines.append(text.line(record))
      case .note(let instant, let note): told.lines.append(text.note(note, at: instant))
      }
    }
    let lines = [text.head] + told.lines
    return lines.count <= Self.traceLimit ? lines.joined(separator: "\n") : nil
  }

  private final class Told {
    var lines: [String] = []
  }

  /// The small one as a file, and as a test; nil if there is no small one.
  var files: (scenario: String, test: RegressionTest)? {
    guard let ending else { return nil }
    let test = RegressionTest(
      scenario,
      title: "\(failure.promise): seed \(failure.seed), in \(Self.count(steps.count))",
      remark: "It ended with: \(ending.finding).")
    return (ScenarioText.text(of: scenario), test)
  }

  /// The steps in which something happens: a last one may only mark how long the story lasts.
  private var steps: [Scenario.Step] {
    scenario.steps.last?.ev == "net.noop" ? scenario.steps.dropLast() : scenario.steps
  }

  private static func count(_ steps: Int) -> String { "\(steps) step\(steps == 1 ? "" : "s")" }

  /// Seconds as a trace has them.
  private static func time(_ seconds: Double) -> String { String(format: "%.3f", seconds) }
}

extension String {
  /// The text with a dash for whatever a shell or a file system may have a meaning for.
  fileprivate var asFileName: String {
    split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }
      .joined(separator: "-")
  }

  /// The text without spaces at its end.
  fileprivate var trimmed: String {
    String(reversed().drop { $0 == " " }.reversed())
  }
}
