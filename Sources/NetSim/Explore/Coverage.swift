package import ConnectionFSM

/// Which kinds of moves were made in which phase.
package struct Coverage: Sendable {
  /// A phase and what happened in it, or could not.
  package struct Pair: Equatable, Sendable, CustomStringConvertible {
    package let phase: Phase
    package let kind: Move

    package var description: String { "\(kind) in \(phase)" }
  }

  private static let kindCount = Move.kinds.count
  private var made = Array(repeating: false, count: Phase.allCases.count * kindCount)

  package init() {}

  /// The place of a move's kind among all.
  static func ordinal(_ move: Move) -> Int {
    guard let place = Move.kinds.firstIndex(of: move.kind) else {
      preconditionFailure("\(move) is of no kind")
    }
    return place
  }

  @inline(__always)
  mutating func note(_ phase: Phase, _ ordinal: Int) {
    made[Int(phase.rawValue) * Self.kindCount + ordinal] = true
  }

  /// Adds what another exploration has made.
  package mutating func formUnion(_ other: Coverage) {
    for place in made.indices where other.made[place] { made[place] = true }
  }

  /// How many pairs were seen.
  package var count: Int { made.count { $0 } }

  /// The pairs that were not seen, by kind.
  package var missing: [Pair] {
    Move.kinds.enumerated().flatMap { place, kind in
      Phase.allCases.filter { !made[Int($0.rawValue) * Self.kindCount + place] }
        .map { Pair(phase: $0, kind: kind) }
    }
  }
}

// MARK: What cannot be

extension Coverage.Pair {
  /// Why this pair can never be seen; nil if it can.
  package var reason: String? {
    if isOfStandby, phase != .open { return "a standby is beside an open link alone" }
    guard let need else { return nil }
    switch phase {
    case .closed: return "a closed machine holds no message"
    case .idle, .offline, .backingOff, .waitingForCredentials, .suspended, .connecting,
      .authenticating:
      return need == .inFlight ? "nothing is in flight before a link is open" : nil
    case .open, .closing: return nil
    }
  }

  private var isOfStandby: Bool {
    switch kind {
    case .answer(_, let attempt), .report(_, _, let attempt): attempt == .standby
    case .wish, .message, .condition, .time: false
    }
  }

  private enum Need { case waiting, inFlight }

  /// What message there must be for the move.
  private var need: Need? {
    switch kind {
    case .wish, .condition, .time, .answer: return nil
    case .message(let wish, _):
      switch wish {
      case .offer, .offerLarge, .offerTooLarge, .cancelOver: return nil
      case .cancelOldestWaiting, .cancelNewestWaiting, .growWaiting, .shrinkWaiting:
        return .waiting
      case .cancelInFlight, .growInFlight: return .inFlight
      }
    case .report(let report, _, _):
      switch report {
      case .writtenOver, .acknowledgedOver: return nil
      case .writtenTooMuch, .acknowledgedTooMuch: return .waiting
      case .writtenOldest, .writtenAll, .acknowledgedOldest, .acknowledgedAll: return .inFlight
      }
    }
  }
}
