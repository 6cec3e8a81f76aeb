// All moves, and how they are called in tables and lists.

extension Move {
  /// Every move, with two lanes; the order in which they are tried.
  static let all: [Move] = {
    var moves: [Move] = Wish.allCases.map { .wish($0) }
    moves += Condition.allCases.map { .condition($0) }
    moves += Passage.allCases.map { .time($0) }
    for lane in 0..<2 as Range<UInt8> {
      moves += MessageWish.allCases.map { .message($0, lane: lane) }
    }
    for attempt in Attempt.allCases {
      moves += Answer.allCases.map { .answer($0, to: attempt) }
      for lane in 0..<2 as Range<UInt8> {
        moves += Report.allCases.map { .report($0, lane: lane, of: attempt) }
      }
    }
    return moves
  }()

  /// Every kind of move: which lane it is about makes no other kind.
  package static let kinds = all.filter { $0 == $0.kind }

  /// The move for the first lane.
  package var kind: Move {
    switch self {
    case .message(let wish, _): .message(wish, lane: 0)
    case .report(let report, _, let attempt): .report(report, lane: 0, of: attempt)
    case .wish, .condition, .time, .answer: self
    }
  }
}

extension Move: CustomStringConvertible {
  /// The kind in words: `offer large`, `opened (past attempt)`.
  package var description: String {
    switch self {
    case .wish(let wish): Self.words("\(wish)")
    case .message(let wish, _): Self.words("\(wish)")
    case .condition(let condition): Self.words("\(condition)")
    case .time(let passage): Self.words("\(passage)")
    case .answer(let answer, let attempt): Self.words("\(answer)") + attempt.words
    case .report(let report, _, let attempt): Self.words("\(report)") + attempt.words
    }
  }

  /// `offerLarge` as `offer large`.
  private static func words(_ name: String) -> String {
    name.reduce(into: "") { words, letter in
      words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
    }
  }
}

extension Move.Attempt {
  fileprivate var words: String {
    switch self {
    case .current: ""
    case .standby: " (standby)"
    case .past: " (past attempt)"
    case .unborn: " (unborn attempt)"
    }
  }
}
