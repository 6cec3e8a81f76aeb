package import ConnectionFSM

/// What is going to happen, ordered by (instant, actor, the order in which that actor's events were
/// scheduled).
///
/// The order says nothing of who was scheduled first among actors, so that a run cut into shards
/// pops each actor's events in the same order as a run in one piece.
///
/// What is soon stands in a heap, what is later on shelves by instant, unsorted, which are taken
/// into the heap when their time comes. The heap stays so small that it lies in the nearest cache,
/// and an event that waits long costs a few copies in a row instead of jumps all over memory: with
/// 100,000 events to come, half the time of one heap.
package struct EventQueue<Event: Sendable>: Sendable {
  private typealias Entry = ScheduledEvent<Event>

  private var soon = EventHeap<Event>()
  private var later = EventShelves<Event>()
  /// What is not later than this is soon.
  private var soonThrough = Int64.max
  /// How large the heap becomes before what is later in it goes to the shelves.
  private var heapLimit = 256
  /// One number for all actors does, since it only decides between events of the same one.
  private var sequence: UInt32
  /// How often events came down from the shelves, some dozens at a time.
  package private(set) var batch = 0

  /// Makes an empty queue.
  /// - Parameter sequence: How many events count as scheduled already; for tests of what happens
  ///   after the last number.
  package init(sequence: UInt32 = 0) { self.sequence = sequence }

  /// How many events are to come.
  package var count: Int { soon.count + later.count }

  /// When the next event happens; nil if none is to come.
  package var nextInstant: Instant? {
    soon.first.map { Instant(nanoseconds: $0.instant) }
  }

  /// Adds an event behind those of the same actor at the same instant.
  package mutating func schedule(_ event: Event, at instant: Instant, by actor: UInt32) {
    if sequence == .max { renumber() }
    sequence += 1
    let entry = Entry(
      instant: instant.nanoseconds, order: UInt64(actor) << 32 | UInt64(sequence), event: event)
    guard entry.instant <= soonThrough else { return later.add(entry) }
    soon.add(entry)
    if soon.count > heapLimit { shelve() }
  }

  /// Takes the next event out.
  package mutating func pop() -> (instant: Instant, event: Event)? {
    next().map { ($0.instant, $0.event) }
  }

  /// Takes the next event out, and says whose it is.
  package mutating func next() -> (instant: Instant, actor: UInt32, event: Event)? {
    guard let first = soon.removeFirst() else { return nil }
    // At once, so that the next instant is always that of the heap.
    if soon.isEmpty {
      // What comes then is the next, however late it is.
      if later.count > 0 { refill() } else { soonThrough = .max }
    }
    return (Instant(nanoseconds: first.instant), first.actor, first.event)
  }

  /// Names the actors of what is soon, in no order.
  ///
  /// For whoever keeps much beside each actor: to read what the events of a new ``batch`` will need
  /// all at once is far cheaper than to wait for the memory of one after the other.
  package func forEachSoon(_ body: (_ actor: UInt32) -> Void) {
    for entry in soon.entries { body(entry.actor) }
  }

  /// Keeps the earliest in the heap and puts the others on the shelves.
  @inline(never)
  private mutating func shelve() {
    guard let first = soon.first else { return }
    later.advance(to: first.instant)
    soonThrough = later.start
    soon.remove(after: soonThrough) { later.add($0) }
    // Events of one instant cannot be told apart by shelf; then the heap is as large as it must be.
    heapLimit = max(256, 2 * soon.count)
  }

  /// Takes the events of the earliest shelf into the heap; if they are many, by smaller shelves.
  @inline(never)
  private mutating func refill() {
    while soon.isEmpty, var shelf = later.removeEarliest() {
      soonThrough = shelf.count > 64 ? shelf.first : shelf.last
      while var entries = later.removeBox(of: &shelf) {
        for entry in entries {
          if entry.instant <= soonThrough { soon.add(entry) } else { later.add(entry) }
        }
        later.giveBack(&entries, of: &shelf)
      }
    }
    if later.count == 0 { soonThrough = .max }
    batch += 1
  }

  /// Counts anew from the events that are left, in their order.
  @inline(never)
  private mutating func renumber() {
    var left = EventQueue()
    while let (instant, actor, event) = next() { left.schedule(event, at: instant, by: actor) }
    self = left
  }
}
