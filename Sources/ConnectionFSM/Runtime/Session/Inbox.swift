/// Which numbered messages of the peer have come, so that none is delivered twice (I22).
struct Inbox {
  private let window: Int
  /// This one has come and all before it; nil before the first.
  private(set) var through: UInt64?
  /// What has come above a gap, rising.
  private var ahead: [UInt64] = []

  init(window: Int) { self.window = window }

  /// Takes a number, and tells whether it is new.
  ///
  /// The first one is where the peer begins: whatever was before went to a session before.
  mutating func take(_ number: UInt64) -> Bool {
    guard let through else {
      self.through = number
      return true
    }
    guard number > through else { return false }
    // From the end, where nearly every number belongs.
    let below = ahead.lastIndex { $0 <= number }
    if let below, ahead[below] == number { return false }
    ahead.insert(number, at: below.map { $0 + 1 } ?? 0)
    // A gap that stays for a whole window will not be filled: the peer has given the message up.
    if ahead.count > window { self.through = ahead.removeFirst() }
    closeUp()
    return true
  }

  private mutating func closeUp() {
    guard var through else { return }
    let filled = ahead.prefix { number in
      guard number - through == 1 else { return false }
      through = number
      return true
    }
    ahead.removeFirst(filled.count)
    self.through = through
  }
}
