import ConnectionFSM

extension Preset where Framing == SevenByteFraming {
  /// WGSocketManager: JSON objects in frames with a 7-byte header, one link that does not come back
  /// by itself, no heartbeat.
  ///
  /// What differs from the article, and the bug that ends: every length is read right (B1.1, B1.2)
  /// and bounded (B1.7); frames never mix (B1.3) and never vanish (B1.4); what is no object is
  /// refused before any byte (B1.5); what does not decode is a typed error (B1.6); a second connect
  /// lets the first link go (B1.8, B1.9); each link ends once, with its cause (B1.10, B1.13);
  /// counters are exact (B1.14); the key is all of its bytes (B1.15).
  ///
  /// A link that is lost ends the connection, and messages offered without one are turned away:
  /// connect again when the user wants it. A dead peer is found out by the kernel alone, which can
  /// take 15 minutes.
  /// - Parameter framing: Encoding, compression and limits, and whether the peer is the article's
  ///   own, which cannot read frames of 64 KiB and above.
  public static func wg(_ framing: SevenByteFraming) -> Preset {
    Preset(policy: .onceOnly, framing: framing)
  }
}

extension Policy {
  /// One link, for managers that do not come back: no cause is followed by another try, and nothing
  /// waits for a link.
  static var onceOnly: Policy {
    try! Policy(  // each value is within its bounds
      connectDeadline: .seconds(10), heartbeat: nil,
      lanes: [Lane(.atMostOnce, timeToLive: nil, admission: .whileOpen)],
      overrides: VerdictOverride.never)
  }
}
