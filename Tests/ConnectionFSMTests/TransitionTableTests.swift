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
    let cases = InputKind.allCases.map { InputCase($0.input(in: scene)) }
    #expect(Set(cases) == Set(InputCase.allCases))
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
}

/// Every case of an input and of the answers in it. A new one does not compile before it has a case
/// here, and a case here without a kind in the table is missed.
private enum InputCase: CaseIterable {
  case connect, close, drain, offer, cancel, resized, demandChanged, lifecycleChanged, pathChanged
  case policyReplaced, deadlineReached
  case credentialsAvailable, credentialsUnavailable, credentialsRefused
  case ready, resumed, resumeRefused, refused
  case opened, failed, closed, received, pong, written, acknowledged, writabilityChanged
  case viabilityChanged, drainRequested, betterPathAvailable

  init(_ input: Input) {
    switch input {
    case .connect: self = .connect
    case .close: self = .close
    case .drain: self = .drain
    case .offer: self = .offer
    case .cancel: self = .cancel
    case .resized: self = .resized
    case .demandChanged: self = .demandChanged
    case .lifecycleChanged: self = .lifecycleChanged
    case .pathChanged: self = .pathChanged
    case .policyReplaced: self = .policyReplaced
    case .deadlineReached: self = .deadlineReached
    case .credentials(_, .available): self = .credentialsAvailable
    case .credentials(_, .unavailable): self = .credentialsUnavailable
    case .credentials(_, .refused): self = .credentialsRefused
    case .session(_, .ready): self = .ready
    case .session(_, .resumed): self = .resumed
    case .session(_, .resumeRefused): self = .resumeRefused
    case .session(_, .refused): self = .refused
    case .transport(_, let event): self.init(event)
    }
  }

  private init(_ event: TransportEvent) {
    switch event {
    case .opened: self = .opened
    case .failed: self = .failed
    case .closed: self = .closed
    case .received: self = .received
    case .pong: self = .pong
    case .written: self = .written
    case .acknowledged: self = .acknowledged
    case .writabilityChanged: self = .writabilityChanged
    case .viabilityChanged: self = .viabilityChanged
    case .drainRequested: self = .drainRequested
    case .betterPathAvailable: self = .betterPathAvailable
    }
  }
}
