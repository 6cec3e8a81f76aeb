package import ConnectionFSM

extension RetransmissionLadder {
  /// The ladder of a connection that has measured its round trips so: the first wait is the
  /// smoothed round trip and four times its variation (RFC 6298 section 2), not below the ladder's
  /// own, and 1 s as long as nothing was measured.
  package func timed(by roundTrip: RoundTrip?) -> RetransmissionLadder {
    guard let roundTrip else { return starting(at: max(first, .seconds(1))) }
    let twice = roundTrip.variation + roundTrip.variation
    return starting(at: max(first, roundTrip.smoothed + twice + twice))
  }
}

// MARK: Loss turned into delay

extension RetransmissionLadder {
  /// How late a segment is that was lost so many times in a row; nil: TCP gave up.
  ///
  /// Three segments behind a lost one tell its sender of the gap: it comes again after a round trip
  /// (RFC 5681 section 3.2). One with fewer behind it, and one that is lost again, waits for the
  /// time-out, which doubles.
  package func stall(
    losses: Int, segmentsBehind: Int, roundTrip: TimeSpan
  ) -> TimeSpan? {
    guard losses > 0 else { return .zero }
    let isTold = segmentsBehind >= 3
    let wait = wait(afterLosses: isTold ? losses - 1 : losses)
    guard wait < giveUp else { return nil }
    return isTold ? roundTrip + wait : wait
  }
}

extension ChannelState {
  /// The payload of a full segment: an Ethernet packet of 1,500 bytes less the headers of IP and
  /// TCP, with TCP's timestamps.
  package static let segmentSize = 1448

  /// How late a piece is for its losses, as late as the latest of its segments; nil: TCP gave up.
  /// - Parameters:
  ///   - byteCount: How large the piece is; each of its segments is lost or not.
  ///   - bytesBehind: How much more is sent behind it by the same connection.
  ///   - roundTrip: What the sender has measured; nil before the first acknowledgement.
  ///   - ladder: How it tries again, with its shortest time-out as first wait.
  package mutating func stall(
    byteCount: Int, bytesBehind: Int, roundTrip: RoundTrip?, ladder: RetransmissionLadder
  ) -> TimeSpan? {
    guard isLossy else { return .zero }
    let timed = ladder.timed(by: roundTrip)
    // Without payload it is one segment all the same: a FIN.
    let segments = max(1, Self.segments(in: byteCount))
    var behind = Self.segments(in: bytesBehind) + segments
    var worst = TimeSpan.zero
    for _ in 0..<segments {
      behind -= 1
      let stall = timed.stall(
        losses: losses(), segmentsBehind: roundTrip == nil ? 0 : behind,
        roundTrip: roundTrip?.smoothed ?? .zero)
      guard let stall else { return nil }
      worst = max(worst, stall)
    }
    return worst
  }

  private static func segments(in byteCount: Int) -> Int {
    byteCount <= 0 ? 0 : (byteCount - 1) / segmentSize + 1
  }
}
