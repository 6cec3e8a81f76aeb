// All moves, and how they are called in tables and lists.

extension Move: CaseIterable {
  /// Every move, with the two lanes that explorations have; the order in which moves are tried.
  package static let allCases: [Move] = {
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

}

extension Move: CustomStringConvertible {
  /// `offer large (lane 0)`, `opened (older attempt)`.
  package var description: String {
    switch self {
    case .wish(let wish): Self.words("\(wish)")
    case .message(let wish, let lane): Self.words("\(wish)") + " (lane \(lane))"
    case .condition(let condition): Self.words("\(condition)")
    case .time(let passage): Self.words("\(passage)")
    case .answer(let answer, let attempt): Self.words("\(answer)") + attempt.words
    case .report(let report, let lane, let attempt):
      Self.words("\(report)") + " (lane \(lane))" + attempt.words
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
