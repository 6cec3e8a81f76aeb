package import ConnectionFSM

/// What is going to happen, ordered by (instant, actor, that actor's own sequence).
///
/// The order names no global counter, so that a run cut into shards pops each actor's events in the
/// same order as a run in one piece. A heap with four children a node: shallower than a binary one,
/// and the children of a node lie in one or two cache lines.
package struct EventQueue<Event: Sendable>: Sendable {
  private struct Entry: Sendable {
    var instant: Instant
    var actor: UInt32
    var sequence: UInt64
    var event: Event

    @inline(__always)
    func precedes(_ other: Entry) -> Bool {
      if instant != other.instant { return instant < other.instant }
      if actor != other.actor { return actor < other.actor }
      return sequence < other.sequence
    }
  }

  private var heap: [Entry] = []
  private var sequences: [UInt64] = []

  /// Makes an empty queue.
  package init() {}

  /// How many events are to come.
  package var count: Int { heap.count }

  /// When the next event happens; nil if none is to come.
  package var nextInstant: Instant? { heap.first?.instant }

  /// Adds an event behind those of the same actor at the same instant.
  /// The actor is a small number: actors are counted from 0.
  package mutating func schedule(_ event: Event, at instant: Instant, by actor: UInt32) {
    while sequences.count <= Int(actor) { sequences.append(0) }
    sequences[Int(actor)] += 1
    let entry = Entry(
      instant: instant, actor: actor, sequence: sequences[Int(actor)], event: event)
    heap.append(entry)
    siftUp(entry)
  }

  /// Takes the next event out.
  package mutating func pop() -> (instant: Instant, event: Event)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty { siftDown(last) }
    return (first.instant, first.event)
  }

  private mutating func siftUp(_ entry: Entry) {
    var place = heap.count - 1
    while place > 0 {
      let parent = (place - 1) / 4
      guard entry.precedes(heap[parent]) else { break }
      heap[place] = heap[parent]
      place = parent
    }
    heap[place] = entry
  }

  private mutating func siftDown(_ entry: Entry) {
    var place = 0
    while true {
      let firstChild = place * 4 + 1
      guard firstChild < heap.count else { break }
      var least = firstChild
      for child in firstChild + 1..<max(firstChild + 1, min(firstChild + 4, heap.count))
      where heap[child].precedes(heap[least]) {
        least = child
      }
      guard heap[least].precedes(entry) else { break }
      heap[place] = heap[least]
      place = least
    }
    heap[place] = entry
  }
}
