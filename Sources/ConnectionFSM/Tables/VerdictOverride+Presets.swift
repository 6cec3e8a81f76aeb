extension VerdictOverride {
  /// The close codes of the Pusher protocol: 4000 to 4099 stop, 4100 to 4199 come back after a
  /// second or more, 4200 to 4299 at once.
  public static var pusher: [VerdictOverride] {
    [
      VerdictOverride(.closeCodes(4000...4099), .terminal),
      VerdictOverride(.closeCodes(4100...4199), .transient.after(.seconds(1), spread: .zero)),
      VerdictOverride(.closeCodes(4200...4299), .transient.now),
    ]
  }

  /// Close codes that are a status of HTTP plus 4000, as many servers choose them.
  public static var httpLike: [VerdictOverride] {
    [
      VerdictOverride(.closeCodes(4400...4400), .terminal),
      VerdictOverride(.closeCodes(4401...4401), .terminal.refreshing),
      VerdictOverride(.closeCodes(4403...4404), .terminal),
      VerdictOverride(.closeCodes(4406...4406), .terminal),
      VerdictOverride(.closeCodes(4408...4408), .transient),
      VerdictOverride(.closeCodes(4409...4409), .terminal),
      // A close code has no room for the delay that a 429 would give.
      VerdictOverride(.closeCodes(4429...4429), .transient.slow),
      VerdictOverride(.closeCodes(4499...4504), .transient),
    ]
  }
}
