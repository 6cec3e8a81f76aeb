extension Machine: Hashable {
  /// Hashes the facts that tell machines of one policy apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(state)
    hasher.combine(primary)
    hasher.combine(standby)
    hasher.combine(plans)
    hasher.combine(now)
    hasher.combine(lastEpoch)
    hasher.combine(lastDialAt)
    hasher.combine(budgetFullAt)
    hasher.combine(resumableUntil)
    hasher.combine(lastCause)
    hasher.combine(wanted)
    hasher.combine(endpoints)
    hasher.combine(run)
    hasher.combine(surroundings)
    hasher.combine(learnedInterval)
    hasher.combine(random)
    hasher.combine(queue)
  }
}
