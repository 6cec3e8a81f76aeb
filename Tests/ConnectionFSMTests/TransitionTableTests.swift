import ConnectionFSM
import Testing

@Suite("Transition table")
struct TransitionTableTests {
  @Test("I7: every phase has one row for every kind of input", arguments: Phase.allCases)
  func isComplete(phase: Phase) {
    let rows = Transition.rows(of: phase)
    #expect(!rows.contains { $0 == nil }, "a row cannot be read")
    let kinds = rows.compactMap { $0?.kind.rawValue }.sorted()
    #expect(kinds == InputKind.allCases.map(\.rawValue).sorted())
  }

  @Test("I7: every case of Input and of the answers has a kind in the table")
  func kindsCoverInputs() throws {
    let scene = try Scene(.open)
    let names = InputKind.allCases.map { caseName($0.input(in: scene)) }
    #expect(Set(names).count == 21)
  }

  @Test("the fixture reaches the phase it was asked for", arguments: Phase.allCases)
  func sceneIsInPhase(phase: Phase) throws {
    #expect(try Scene(phase).rig.phase == phase)
  }

  @Test(
    "I7: an input in a phase does what the table says",
    arguments: Phase.allCases.flatMap { Transition.rows(of: $0).compactMap { $0 } })
  func follows(row: Transition) throws {
    var scene = try Scene(row.phase)
    let before = scene.rig.machine
    let input = row.kind.input(in: scene)
    let due = row.kind == .dueDeadline ? before.nextDeadline : nil
    let step = scene.rig.feed(input, at: due)
    #expect(render(step.disposition) == row.disposition)
    #expect(step.phase == row.next)
    #expect(step.text == row.effects)
    if case .ignored = step.disposition {
      #expect(scene.rig.machine == before, "an ignored input changed the machine")
    }
  }

  @Test(
    "the reason of a hold and of an end is named",
    arguments: [
      (Input.demandChanged(false), "suspended(noDemand)"),
      (.lifecycleChanged(.background), "suspended(background)"),
      (.lifecycleChanged(.suspended), "suspended(device)"),
      (.close, "closed(requested, closedByUser)"),
    ])
  func namesReasons(input: Input, expected: String) throws {
    var scene = try Scene(.backingOff)
    scene.rig.feed(input)
    #expect(describe(scene.rig.machine.state) == expected)
  }

  private func describe(_ state: Machine.State) -> String {
    switch state {
    case .suspended(let suspended): "suspended(\(suspended.hold))"
    case .closed(let closed): "closed(\(closed.reason), \(render(closed.cause)))"
    case .idle, .offline, .backingOff, .waitingForCredentials, .linked: "\(state)"
    }
  }

  /// Exhaustive, so that a new case does not compile before it has a row.
  private func caseName(_ input: Input) -> String {
    switch input {
    case .connect: return "connect"
    case .close: return "close"
    case .drain: return "drain"
    case .offer: return "offer"
    case .cancel: return "cancel"
    case .resized: return "resized"
    case .demandChanged: return "demandChanged"
    case .lifecycleChanged: return "lifecycleChanged"
    case .pathChanged: return "pathChanged"
    case .policyReplaced: return "policyReplaced"
    case .deadlineReached: return "deadlineReached"
    case .credentials(_, let answer): return "credentials \(answer)"
    case .session(_, let event):
      switch event {
      case .ready: return "ready"
      case .resumed: return "resumed"
      case .resumeRefused: return "resumeRefused"
      case .refused: return "refused"
      }
    case .transport(_, let event):
      switch event {
      case .opened: return "opened"
      case .failed: return "failed"
      case .closed: return "closed"
      case .received: return "received"
      case .pong: return "pong"
      case .written: return "written"
      case .acknowledged: return "acknowledged"
      case .writabilityChanged: return "writabilityChanged"
      case .viabilityChanged: return "viabilityChanged"
      case .drainRequested: return "drainRequested"
      case .betterPathAvailable: return "betterPathAvailable"
      }
    }
  }
}
