import ConnectionFSM
import Foundation
import NetSim

/// The policies that no other one beats in both recovery and peak load, to be read and pasted.
struct FleetAdvice {
  let plan: FleetPlan
  let tried: Int
  let runs: Int
  let front: [FleetTrial.Outcome]

  func text(_ paint: Paint) -> String {
    var lines = [paint.title(plan.title)] + plan.facts
    let runs = runs == 1 ? "" : ", the worst of \(runs) runs each"
    lines.append("\(tried.grouped) policies were tried\(runs).")
    guard !front.isEmpty else {
      lines.append(
        "With none of them 99 % came back within \(plan.limit.words): give a longer --limit, or "
          + "the server more rate or backlog.")
      return lines.joined(separator: "\n")
    }
    lines += ["", paint.title("99 % back     peak in 100 ms  policy")]
    for outcome in distinct {
      // Two decimals: on a front they may differ by little.
      let seconds = Double((outcome.recovery ?? .zero).nanoseconds) / 1e9
      let time = String(format: "%.2f s", seconds)
      lines.append(
        time.padded(left: 9) + outcome.peak.grouped.padded(left: 19) + "  "
          + Self.words(outcome.policy))
    }
    lines += ["", "Each is at least as good in one of the two as every policy that was tried.", ""]
    lines.append(paint.faint("In Swift, the quickest first:"))
    for outcome in distinct { lines += ["", Self.swift(outcome.policy)] }
    return lines.joined(separator: "\n")
  }

  /// Policies that did equally well stand there once, by the first.
  private var distinct: [FleetTrial.Outcome] {
    var kept: [FleetTrial.Outcome] = []
    for outcome in front
    where kept.last.map({ $0.recovery != outcome.recovery || $0.peak != outcome.peak }) ?? true {
      kept.append(outcome)
    }
    return kept
  }

  private static func words(_ policy: Policy) -> String {
    let backoff = policy.backoff
    return "first \(backoff.first.words), base \(backoff.base.words), cap \(backoff.cap.words), "
      + "jitter \(backoff.jitter), spacing \(policy.minimumDialSpacing.words), "
      + "deadline \(policy.connectDeadline.words)"
  }

  /// The knobs that were searched; the others stay as they are in the user's own policy.
  private static func swift(_ policy: Policy) -> String {
    let backoff = policy.backoff
    let firstJitter = backoff.firstJitter.map { ", firstJitter: .\($0)" } ?? ""
    return """
      try Policy(
        connectDeadline: \(span(policy.connectDeadline)),
        backoff: Backoff(
          first: \(span(backoff.first)), base: \(span(backoff.base)), cap: \(span(backoff.cap)),
          jitter: .\(backoff.jitter)\(firstJitter)),
        minimumDialSpacing: \(span(policy.minimumDialSpacing)))
      """
  }

  private static func span(_ span: TimeSpan) -> String {
    let nanoseconds = span.nanoseconds
    if nanoseconds == 0 { return ".zero" }
    if nanoseconds.isMultiple(of: 1_000_000_000) {
      return ".seconds(\(nanoseconds / 1_000_000_000))"
    }
    return ".milliseconds(\(nanoseconds / 1_000_000))"
  }
}
