package import ConnectionFSM

extension RoundTrip {
  /// How long TCP waits for an acknowledgement: the smoothed round trip and four times its variation
  /// (RFC 6298 section 2), not below the 200 ms of Linux.
  package var timeout: TimeSpan {
    let twice = variation + variation
    return max(.milliseconds(200), smoothed + twice + twice)
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
  /// The payload of a full segment: an Ethernet packet of 1,500 bytes less both headers.
  package static let segmentSize = 1460

  /// How many segments so many bytes are.
  package static func segments(in byteCount: Int) -> Int {
    byteCount <= 0 ? 0 : (byteCount - 1) / segmentSize + 1
  }

  /// How late a piece is for its losses, as late as the latest of its segments; nil: TCP gave up.
  /// - Parameters:
  ///   - segments: How many segments the piece is; each is lost or not.
  ///   - segmentsBehind: How many segments of the same connection are under way behind it.
  ///   - roundTrip: What the sender has measured; the time-out that follows from it is the first
  ///     wait of the ladder.
  ///   - ladder: How it tries again.
  package mutating func stall(
    segments: Int, segmentsBehind: Int, roundTrip: RoundTrip,
    ladder: RetransmissionLadder = .data
  ) -> TimeSpan? {
    guard isLossy else { return .zero }
    let ladder = ladder.starting(at: roundTrip.timeout)
    var worst = TimeSpan.zero
    for number in 0..<max(0, segments) {
      let behind = segmentsBehind + segments - 1 - number
      let stall = ladder.stall(
        losses: losses(), segmentsBehind: behind, roundTrip: roundTrip.smoothed)
      guard let stall else { return nil }
      worst = max(worst, stall)
    }
    return worst
  }

  /// How many times in a row a SYN or its answer is lost, ``mostLosses`` at most: with the chance
  /// 1 - (1 - p)² each if both directions lose packets one by one with the chance p.
  package static func handshakeLosses(up: inout ChannelState, down: inout ChannelState) -> Int {
    var count = 0
    while count < mostLosses, up.losesNext() || down.losesNext() { count += 1 }
    return count
  }
}
