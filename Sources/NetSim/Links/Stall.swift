import ConnectionFSM

extension RetransmissionLadder {
  /// How late a piece of a running connection comes that was lost so many times in a row.
  ///
  /// With three or more segments behind it the first loss is mended by a fast retransmission after
  /// one round trip (RFC 5681 section 3.2); what is lost again, or stands alone, waits for the timer.
  func stall(losses: Int, segmentsBehind: Int, roundTrip: TimeSpan) -> TimeSpan {
    guard losses > 0 else { return .zero }
    guard segmentsBehind >= 3 else { return wait(afterLosses: losses) }
    return roundTrip + wait(afterLosses: losses - 1)
  }
}
