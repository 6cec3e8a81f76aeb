extension Machine {
  /// Whether nothing differs but the time: what an ignored input leaves behind.
  package func isEqualButForClock(to right: Machine) -> Bool {
    policy === right.policy && state == right.state && primary == right.primary
      && standby == right.standby && deadlineAt == right.deadlineAt && plans == right.plans
      && lastEpoch == right.lastEpoch && lastDialAt == right.lastDialAt
      && budgetFullAt == right.budgetFullAt && resumableUntil == right.resumableUntil
      && lastCause == right.lastCause && wanted == right.wanted && endpoints == right.endpoints
      && run == right.run && surroundings == right.surroundings
      && learnedInterval == right.learnedInterval
      && roundTripEstimate == right.roundTripEstimate && random == right.random
      && queue == right.queue
  }

  /// The highest epoch there has been.
  package var newestEpoch: Epoch { lastEpoch }

  /// The message taken last in a lane, whatever became of it; nil before the first.
  package func newestMessage(in lane: LaneID) -> MessageID? {
    guard let newest = queue[Int(lane.rawValue)]?.lastID else { return nil }
    return newest.sequence > 0 ? newest : nil
  }

  /// How many lanes and messages the queue owns memory for.
  package var queueMemory: (lanes: Int, messages: Int) { queue.memory }
}
