import ConnectionFSM
import Testing

/// One row: what an input must do in a phase.
struct Transition: CustomTestStringConvertible {
  let phase: Phase
  let kind: InputKind
  let disposition: String
  let next: Phase
  let effects: String

  var testDescription: String { "\(phase): \(kind.rawValue)" }
}

extension Transition {
  /// Reads `input | disposition | next phase | effects`; `=` stays in the phase, `-` is no effect.
  /// Nil if the row is not well formed.
  init?(_ row: Substring, in phase: Phase) {
    let cells = row.split(separator: "|").map { cell in
      cell.split(separator: " ").joined(separator: " ")
    }
    guard cells.count == 4, let kind = InputKind(rawValue: cells[0]) else { return nil }
    let next = cells[2] == "=" ? phase : Phase.allCases.first { "\($0)" == cells[2] }
    guard let next else { return nil }
    self.phase = phase
    self.kind = kind
    disposition = cells[1]
    self.next = next
    effects = cells[3] == "-" ? "" : cells[3]
  }

  /// The rows of one phase: its own, those of every phase, and those of phases without a link.
  static func rows(of phase: Phase) -> [Transition?] {
    var text = everywhere + "\n" + own(phase)
    switch phase {
    case .idle, .offline, .backingOff, .suspended, .closed:
      text += "\n" + withoutLink + "\n" + withoutQuestion
    case .waitingForCredentials: text += "\n" + withoutLink
    case .connecting, .authenticating, .open, .closing: text += "\n" + withLink
    }
    return text.split(separator: "\n").map { Transition($0, in: phase) }
  }

  private static func own(_ phase: Phase) -> String {
    switch phase {
    case .idle: idle
    case .offline: offline
    case .backingOff: backingOff
    case .waitingForCredentials: waitingForCredentials
    case .suspended: suspended
    case .connecting: connecting
    case .authenticating: authenticating
    case .open: open
    case .closing: closing
    case .closed: closed
    }
  }
}

// MARK: What several phases share

extension Transition {
  // I2: what belongs to another epoch changes nothing, anywhere.
  private static let everywhere = """
    cancel a9                    | redundant  | = | -
    resize a9                    | redundant  | = | -
    policy replaced              | accepted   | = | -
    early deadline               | early      | = | -
    stale credentials available  | staleEpoch | = | -
    stale credentials refused    | staleEpoch | = | -
    stale opened                 | staleEpoch | = | -
    stale failed                 | staleEpoch | = | -
    stale closed                 | staleEpoch | = | -
    stale received               | staleEpoch | = | -
    stale pong                   | staleEpoch | = | -
    stale written                | staleEpoch | = | -
    stale acknowledged           | staleEpoch | = | -
    stale unwritable             | staleEpoch | = | -
    stale unviable               | staleEpoch | = | -
    stale drain requested        | staleEpoch | = | -
    stale better path            | staleEpoch | = | -
    stale ready                  | staleEpoch | = | -
    stale resumed                | staleEpoch | = | -
    stale resume refused         | staleEpoch | = | -
    stale refused                | staleEpoch | = | -
    future credentials available | staleEpoch | = | -
    future opened                | staleEpoch | = | -
    future ready                 | staleEpoch | = | -
    """

  // The last epoch is over as soon as its link is gone.
  private static let withoutLink = """
    opened          | staleEpoch | = | -
    failed          | staleEpoch | = | -
    failed for good | staleEpoch | = | -
    closed by peer  | staleEpoch | = | -
    received        | staleEpoch | = | -
    pong            | staleEpoch | = | -
    written a1      | staleEpoch | = | -
    acknowledged b1 | staleEpoch | = | -
    acknowledged a1 | staleEpoch | = | -
    unwritable      | staleEpoch | = | -
    writable        | staleEpoch | = | -
    unviable        | staleEpoch | = | -
    viable          | staleEpoch | = | -
    drain requested | staleEpoch | = | -
    better path     | staleEpoch | = | -
    ready           | staleEpoch | = | -
    resumed         | staleEpoch | = | -
    resume refused  | staleEpoch | = | -
    refused         | staleEpoch | = | -
    """

  private static let withoutQuestion = """
    credentials available   | staleEpoch | = | -
    credentials unavailable | staleEpoch | = | -
    credentials refused     | staleEpoch | = | -
    """

  // The provider answered for this epoch before it was dialled: a second answer comes for nothing.
  private static let withLink = """
    credentials available   | redundant | = | -
    credentials unavailable | redundant | = | -
    credentials refused     | redundant | = | -
    """
}

// MARK: Phases without a link

extension Transition {
  private static let idle = """
    connect here      | accepted             | waitingForCredentials | credentials 1
    connect elsewhere | accepted             | waitingForCredentials | credentials 1
    close             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    offer             | taken a3             | = | -
    offer to no lane  | rejected(noSuchLane) | = | -
    cancel a1         | accepted             | = | a1 cancelled
    cancel a2         | accepted             | = | a2 cancelled
    no demand         | accepted             | = | -
    demand            | redundant            | = | -
    foreground        | redundant            | = | -
    background        | accepted             | = | -
    device suspends   | accepted             | = | -
    path unknown      | redundant            | = | -
    path up           | accepted             | = | -
    path down         | accepted             | = | -
    due deadline      | early                | = | -
    drain             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    resize a1         | accepted             | = | -
    resize a2         | accepted             | = | -
    """

  private static let offline = """
    connect here      | accepted             | waitingForCredentials | credentials 3
    connect elsewhere | accepted             | waitingForCredentials | credentials 3
    close             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    offer             | taken a3             | = | -
    offer to no lane  | rejected(noSuchLane) | = | -
    cancel a1         | accepted             | = | a1 cancelled
    cancel a2         | accepted             | = | a2 cancelled
    no demand         | accepted             | suspended | -
    demand            | redundant            | = | -
    foreground        | redundant            | = | -
    background        | accepted             | suspended | -
    device suspends   | accepted             | suspended | -
    path unknown      | accepted             | backingOff | -
    path up           | accepted             | backingOff | -
    path down         | redundant            | = | -
    due deadline      | accepted             | waitingForCredentials | credentials 3
    drain             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    resize a1         | accepted             | = | -
    resize a2         | accepted             | = | -
    """

  private static let backingOff = """
    connect here      | accepted             | waitingForCredentials | credentials 3
    connect elsewhere | accepted             | waitingForCredentials | credentials 3
    close             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    offer             | taken a3             | = | -
    offer to no lane  | rejected(noSuchLane) | = | -
    cancel a1         | accepted             | = | a1 cancelled
    cancel a2         | accepted             | = | a2 cancelled
    no demand         | accepted             | suspended | -
    demand            | redundant            | = | -
    foreground        | redundant            | = | -
    background        | accepted             | suspended | -
    device suspends   | accepted             | suspended | -
    path unknown      | redundant            | = | -
    path up           | accepted             | = | -
    path down         | accepted             | offline | -
    due deadline      | accepted             | waitingForCredentials | credentials 3
    drain             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    resize a1         | accepted             | = | -
    resize a2         | accepted             | = | -
    """

  private static let waitingForCredentials = """
    connect here            | redundant            | = | -
    connect elsewhere       | accepted             | = | credentials 3
    close                   | accepted | closed | a1-a2 cancelled, b1-b2 cancelled
    offer                   | taken a3             | = | -
    offer to no lane        | rejected(noSuchLane) | = | -
    cancel a1               | accepted             | = | a1 cancelled
    cancel a2               | accepted             | = | a2 cancelled
    no demand               | accepted             | suspended | -
    demand                  | redundant            | = | -
    foreground              | redundant            | = | -
    background              | accepted             | suspended | -
    device suspends         | accepted             | suspended | -
    path unknown            | redundant            | = | -
    path up                 | accepted             | = | -
    path down               | accepted             | offline | -
    due deadline            | accepted             | backingOff | -
    credentials available   | accepted             | connecting | dial 2 @0
    credentials unavailable | accepted             | backingOff | -
    credentials refused     | accepted | closed | a1-a2 cancelled, b1-b2 cancelled
    drain             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    resize a1         | accepted             | = | -
    resize a2         | accepted             | = | -
    """

  private static let suspended = """
    connect here      | accepted             | = | -
    connect elsewhere | accepted             | = | -
    close             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    offer             | taken a3             | = | -
    offer to no lane  | rejected(noSuchLane) | = | -
    cancel a1         | accepted             | = | a1 cancelled
    cancel a2         | accepted             | = | a2 cancelled
    no demand         | redundant            | = | -
    demand            | accepted             | waitingForCredentials | credentials 3
    foreground        | redundant            | = | -
    background        | accepted             | = | -
    device suspends   | accepted             | = | -
    path unknown      | redundant            | = | -
    path up           | accepted             | = | -
    path down         | accepted             | = | -
    due deadline      | early                | = | -
    drain             | accepted             | closed | a1-a2 cancelled, b1-b2 cancelled
    resize a1         | accepted             | = | -
    resize a2         | accepted             | = | -
    """

  private static let closed = """
    connect here      | accepted         | waitingForCredentials | credentials 3
    connect elsewhere | accepted         | waitingForCredentials | credentials 3
    close             | redundant        | = | -
    offer             | rejected(closed) | = | -
    offer to no lane  | rejected(closed) | = | -
    cancel a1         | redundant        | = | -
    cancel a2         | redundant        | = | -
    no demand         | accepted         | = | -
    demand            | redundant        | = | -
    foreground        | redundant        | = | -
    background        | accepted         | = | -
    device suspends   | accepted         | = | -
    path unknown      | redundant        | = | -
    path up           | accepted         | = | -
    path down         | accepted         | = | -
    due deadline      | early            | = | -
    drain             | redundant        | = | -
    resize a1         | redundant        | = | -
    resize a2         | redundant        | = | -
    """
}

// MARK: Phases with a link

extension Transition {
  private static let connecting = """
    connect here      | redundant            | = | -
    connect elsewhere | accepted | waitingForCredentials | abort 2, ended 2 replaced, credentials 3
    close | accepted | closed | \
    abort 2, ended 2 closedByUser, a1-a2 cancelled, b1-b2 cancelled
    offer             | taken a3             | = | -
    offer to no lane  | rejected(noSuchLane) | = | -
    cancel a1         | accepted             | = | a1 cancelled
    cancel a2         | accepted             | = | a2 cancelled
    no demand         | accepted             | = | -
    demand            | redundant            | = | -
    foreground        | redundant            | = | -
    background        | accepted             | = | -
    device suspends   | accepted             | = | -
    path unknown      | redundant            | = | -
    path up           | accepted             | = | -
    path down         | accepted             | = | -
    due deadline      | accepted             | backingOff | abort 2, ended 2 timedOut(connect)
    opened            | accepted             | authenticating | session 2
    failed            | accepted             | backingOff | ended 2 brokenPipe
    failed for good   | accepted | closed | \
    ended 2 accessDenied, a1-a2 cancelled, b1-b2 cancelled
    closed by peer    | accepted             | backingOff | ended 2 closedByPeer(1001)
    received          | redundant            | = | -
    pong              | redundant            | = | -
    written a1        | redundant            | = | -
    acknowledged b1   | redundant            | = | -
    acknowledged a1   | redundant            | = | -
    unwritable        | accepted             | = | -
    writable          | redundant            | = | -
    ready             | redundant            | = | -
    refused           | redundant            | = | -
    drain | accepted | closed | \
    abort 2, ended 2 closedByUser, a1-a2 cancelled, b1-b2 cancelled
    resize a1         | accepted             | = | -
    resize a2         | accepted             | = | -
    unviable          | redundant            | = | -
    viable            | redundant            | = | -
    drain requested   | redundant            | = | -
    better path       | redundant            | = | -
    resumed           | redundant            | = | -
    resume refused    | redundant            | = | -
    """

  private static let authenticating = """
    connect here      | redundant            | = | -
    connect elsewhere | accepted | waitingForCredentials | abort 2, ended 2 replaced, credentials 3
    close | accepted | closed | \
    abort 2, ended 2 closedByUser, a1-a2 cancelled, b1-b2 cancelled
    offer             | taken a3             | = | -
    offer to no lane  | rejected(noSuchLane) | = | -
    cancel a1         | accepted             | = | a1 cancelled
    cancel a2         | accepted             | = | a2 cancelled
    no demand         | accepted             | = | -
    demand            | redundant            | = | -
    foreground        | redundant            | = | -
    background        | accepted             | = | -
    device suspends   | accepted             | = | -
    path unknown      | redundant            | = | -
    path up           | accepted             | = | -
    path down         | accepted             | = | -
    due deadline      | accepted             | backingOff | abort 2, ended 2 timedOut(login)
    opened            | redundant            | = | -
    failed            | accepted             | backingOff | ended 2 brokenPipe
    failed for good   | accepted | closed | \
    ended 2 accessDenied, a1-a2 cancelled, b1-b2 cancelled
    closed by peer    | accepted             | backingOff | ended 2 closedByPeer(1001)
    received          | accepted             | = | -
    pong              | accepted             | = | -
    written a1        | redundant            | = | -
    acknowledged b1   | redundant            | = | -
    acknowledged a1   | redundant            | = | -
    unwritable        | accepted             | = | -
    writable          | redundant            | = | -
    ready             | accepted             | open | send 2 a1, send 2 b1
    refused | accepted | closed | \
    abort 2, ended 2 sessionRefused(denied), a1-a2 cancelled, b1-b2 cancelled
    drain | accepted | closed | \
    abort 2, ended 2 closedByUser, a1-a2 cancelled, b1-b2 cancelled
    resize a1         | accepted             | = | -
    resize a2         | accepted             | = | -
    unviable          | redundant            | = | -
    viable            | redundant            | = | -
    drain requested   | redundant            | = | -
    better path       | redundant            | = | -
    resumed           | accepted             | open | send 2 a1, send 2 b1
    resume refused    | redundant            | = | -
    """

  private static let open = """
    connect here      | redundant            | = | -
    connect elsewhere | accepted | waitingForCredentials | \
    abort 2, ended 2 replaced, a1 inDoubt, credentials 3
    close             | accepted             | closing | close 2, a2 cancelled, b2 cancelled
    offer             | taken a3             | = | -
    offer to no lane  | rejected(noSuchLane) | = | -
    cancel a1         | redundant            | = | -
    cancel a2         | accepted             | = | a2 cancelled
    no demand         | accepted             | = | -
    demand            | redundant            | = | -
    foreground        | redundant            | = | -
    background        | accepted             | = | -
    device suspends   | accepted             | = | -
    path unknown      | redundant            | = | -
    path up           | accepted             | = | -
    path down         | accepted             | = | ping 2 #1
    due deadline      | accepted             | = | ping 2 #1
    opened            | redundant            | = | -
    failed            | accepted | backingOff | ended 2 brokenPipe, a1 inDoubt
    failed for good   | accepted | closed | \
    ended 2 accessDenied, a1 inDoubt, a2 cancelled, b1 inDoubt, b2 cancelled
    closed by peer    | accepted | backingOff | ended 2 closedByPeer(1001), a1 inDoubt
    received          | accepted             | = | -
    pong              | accepted             | = | -
    written a1        | accepted             | = | a1 written, send 2 a2
    acknowledged b1   | accepted             | = | b1 acknowledged, send 2 b2
    acknowledged a1   | redundant            | = | -
    unwritable        | accepted             | = | -
    writable          | redundant            | = | -
    ready             | redundant            | = | -
    refused           | redundant            | = | -
    drain             | accepted             | closing | -
    resize a1         | redundant            | = | -
    resize a2         | accepted             | = | -
    unviable          | accepted             | = | ping 2 #1
    viable            | redundant            | = | -
    drain requested   | redundant            | = | -
    better path       | redundant            | = | -
    resumed           | redundant            | = | -
    resume refused    | redundant            | = | -
    """

  private static let closing = """
    connect here      | accepted         | = | -
    connect elsewhere | accepted         | = | -
    close             | redundant        | = | -
    offer             | rejected(closed) | = | -
    offer to no lane  | rejected(closed) | = | -
    cancel a1         | redundant        | = | -
    cancel a2         | redundant        | = | -
    no demand         | accepted         | = | -
    demand            | redundant        | = | -
    foreground        | redundant        | = | -
    background        | accepted         | = | -
    device suspends   | accepted         | = | -
    path unknown      | redundant        | = | -
    path up           | accepted         | = | -
    path down         | accepted         | = | -
    due deadline      | accepted | closed | abort 2, ended 2 closedByUser, a1 inDoubt, b1 inDoubt
    opened            | redundant        | = | -
    failed            | accepted | closed | ended 2 closedByUser, a1 inDoubt, b1 inDoubt
    failed for good   | accepted | closed | ended 2 closedByUser, a1 inDoubt, b1 inDoubt
    closed by peer    | accepted | closed | ended 2 closedByUser, a1 inDoubt, b1 inDoubt
    received          | accepted         | = | -
    pong              | accepted         | = | -
    written a1        | accepted         | = | a1 written
    acknowledged b1   | accepted         | = | b1 acknowledged
    acknowledged a1   | redundant        | = | -
    unwritable        | accepted         | = | -
    writable          | redundant        | = | -
    ready             | redundant        | = | -
    refused           | redundant        | = | -
    drain             | redundant        | = | -
    resize a1         | redundant        | = | -
    resize a2         | redundant        | = | -
    unviable          | redundant        | = | -
    viable            | redundant        | = | -
    drain requested   | redundant        | = | -
    better path       | redundant        | = | -
    resumed           | redundant        | = | -
    resume refused    | redundant        | = | -
    """
}
