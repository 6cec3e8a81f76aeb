/// The messages that were taken and have no end yet, as ranges: ids are dense, so that there are
/// never more ranges than messages in the queue.
struct LiveMessages: Equatable, Sendable {
  /// How many there are.
  private(set) var count = 0
  // By lane, in order. The ids of one lane.
  private var lanes: [[MessageRange]] = [[], [], [], []]

  mutating func take(_ id: MessageID) {
    let lane = Int(id.lane.rawValue)
    count += 1
    if let last = lanes[lane].last, last.last.sequence + 1 == id.sequence {
      lanes[lane][lanes[lane].count - 1] = MessageRange(last.first, id)
    } else {
      lanes[lane].append(MessageRange(id, id))
    }
  }

  /// How many of the range live.
  func count(in range: MessageRange) -> Int {
    lanes[Int(range.first.lane.rawValue)].reduce(0) { sum, live in
      sum + (live.overlap(with: range)?.length ?? 0)
    }
  }

  /// Ends those of the range that live.
  /// - Returns: How many those were.
  mutating func end(_ range: MessageRange) -> Int {
    let ended = count(in: range)
    guard ended > 0 else { return 0 }
    count -= ended
    let lane = Int(range.first.lane.rawValue)
    lanes[lane] = lanes[lane].flatMap { live -> [MessageRange] in
      guard let gone = live.overlap(with: range) else { return [live] }
      var rest: [MessageRange] = []
      if live.first < gone.first { rest.append(MessageRange(live.first, gone.first.neighbour(-1))) }
      if gone.last < live.last { rest.append(MessageRange(gone.last.neighbour(1), live.last)) }
      return rest
    }
    return ended
  }
}

extension MessageRange {
  fileprivate var length: Int { Int(last.sequence - first.sequence) + 1 }

  fileprivate func overlap(with other: MessageRange) -> MessageRange? {
    let lower = max(first, other.first)
    let upper = min(last, other.last)
    return lower <= upper ? MessageRange(lower, upper) : nil
  }
}

extension MessageID {
  fileprivate func neighbour(_ offset: Int64) -> MessageID {
    MessageID(lane: lane, sequence: sequence.advanced(by: Int(offset)))
  }
}
