import Testing

/// What a case needs that the machine alone does not have.
enum Elsewhere: String, CaseIterable {
  /// The runtime: callbacks of observers, stores that outlive the process.
  case runtime
  /// The session layer: which topics are wanted.
  case session
  /// Real sockets.
  case sockets
}

/// The cases that no scenario of the machine can decide: each names where it belongs, and why.
/// Their tests have the id in their names, beside what they test.
let casesDecidedElsewhere: [(id: String, where: Elsewhere, reason: String)] = [
  ("RC123", .runtime, "an observer throws; the machine has no observers, only records"),
  ("RC138", .session, "which topics are wanted is the session's; the machine knows no topic"),
  ("RC199", .runtime, "the process dies; what it held comes back from a store beside the machine"),
]

/// The cases that are no matter of a client library: none.
let casesOutOfScope: [(id: String, reason: String)] = []

@Suite("Reported cases: none is forgotten")
struct CaseListTests {
  @Test("each of the 144 cases has its scenario, or its place in one of the two lists, once")
  func complete() {
    let all = CaseKind.allCases.flatMap(\.ids)
    #expect(all.count == 144)
    #expect(Set(all).count == 144)
    let told = Set(Fixtures.names(in: "cases").map { String($0.prefix(5)) })
    let listed = casesDecidedElsewhere.map(\.id) + casesOutOfScope.map(\.id)
    #expect(Set(listed).count == listed.count)
    #expect(told.isDisjoint(with: listed))
    #expect(told.union(listed) == Set(all))
  }

  @Test("the lists stay short")
  func short() {
    #expect(casesDecidedElsewhere.count <= 20)
    #expect(casesOutOfScope.count <= 5)
  }
}
