/// The requests that wait for their answers.
struct RequestTable {
  private struct Request {
    let deadline: Instant
    let survivesLink: Bool
    /// The link that carries it; nil while it waits in its lane.
    var link: Epoch?
  }

  private let limit: Int
  private var nextID: UInt64
  private var requests: [UInt64: Request] = [:]
  /// The same ones, the first due first. A list and no heap: with one timeout for all, which is
  /// usual, each goes in at the end and leaves at the beginning.
  private var due: [(deadline: Instant, id: UInt64)] = []

  init(limit: Int, firstID: UInt64) {
    self.limit = limit
    nextID = firstID
  }

  var nextDeadline: Instant? { due.first?.deadline }

  /// Begins a request; nil if there are as many as may be.
  mutating func begin(deadline: Instant, survivesLink: Bool) -> UInt64? {
    guard requests.count < limit else { return nil }
    let id = nextID
    nextID += 1
    requests[id] = Request(deadline: deadline, survivesLink: survivesLink)
    due.insert((deadline, id), at: place(of: deadline, id))
    return id
  }

  /// A link has got it.
  mutating func give(_ id: UInt64, to link: Epoch) { requests[id]?.link = link }

  /// Ends a request, and tells whether it was still waiting.
  mutating func end(_ id: UInt64) -> Bool {
    guard let request = requests.removeValue(forKey: id) else { return false }
    due.remove(at: place(of: request.deadline, id))
    return true
  }

  /// Ends the first request whose time is over.
  mutating func popDue(at now: Instant) -> UInt64? {
    guard let first = due.first, first.deadline <= now else { return nil }
    requests[first.id] = nil
    due.removeFirst()
    return first.id
  }

  /// Ends what a link that is gone carried, but for what is sent again on the next; rising.
  mutating func popLost(with link: Epoch) -> [UInt64] {
    var lost: [UInt64] = []
    for (_, id) in due where requests[id]?.link == link {
      if requests[id]?.survivesLink == true {
        requests[id]?.link = nil
      } else {
        lost.append(id)
      }
    }
    for id in lost { _ = end(id) }
    return lost.sorted()
  }

  private func place(of deadline: Instant, _ id: UInt64) -> Int {
    var (low, high) = (0, due.count)
    while low < high {
      let middle = (low + high) / 2
      if (due[middle].deadline, due[middle].id) < (deadline, id) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }
}
