/// The inboxes of the sessions whose links live or may be resumed: the numbers of one session mean
/// nothing in another, and during a rollover there are two.
struct InboxShelf {
  /// That of links without a login, which are one session for ever.
  static let common = 0

  private let window: Int
  private var inboxes: [(id: Int, inbox: Inbox)]
  private var lastID = common

  init(window: Int) {
    self.window = window
    inboxes = [(Self.common, Inbox(window: window))]
  }

  /// Makes the inbox of a new session.
  mutating func open() -> Int {
    lastID += 1
    inboxes.append((lastID, Inbox(window: window)))
    return lastID
  }

  mutating func keep(_ isNeeded: (Int) -> Bool) {
    inboxes.removeAll { $0.id != Self.common && !isNeeded($0.id) }
  }

  /// Takes a number, and tells whether it is new.
  mutating func take(_ number: UInt64, in id: Int) -> Bool {
    guard let place = place(of: id) else { return true }
    return inboxes[place].inbox.take(number)
  }

  /// The number through which all have come.
  func through(in id: Int) -> UInt64? { place(of: id).flatMap { inboxes[$0].inbox.through } }

  private func place(of id: Int) -> Int? { inboxes.firstIndex { $0.id == id } }
}
