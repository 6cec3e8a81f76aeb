/// One event of a queue, with what orders it.
struct ScheduledEvent<Event: Sendable>: Sendable {
  let instant: Int64
  /// The actor in the upper half, the actor's own order in the lower.
  let order: UInt64
  let event: Event

  var actor: UInt32 { UInt32(truncatingIfNeeded: order >> 32) }

  @inline(__always)
  func precedes(_ other: ScheduledEvent) -> Bool {
    instant != other.instant ? instant < other.instant : order < other.order
  }
}

/// A heap with four children a node: shallower than a binary one, and the children of a node lie in
/// one or two cache lines.
struct EventHeap<Event: Sendable>: Sendable {
  typealias Entry = ScheduledEvent<Event>

  private(set) var entries: [Entry] = []

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }
  var first: Entry? { entries.first }

  mutating func add(_ entry: Entry) {
    entries.append(entry)
    let last = entries.count - 1
    entries.withUnsafeMutableBufferPointer { Self.rise(entry, from: last, in: $0) }
  }

  mutating func removeFirst() -> Entry? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries.withUnsafeMutableBufferPointer { Self.sink(last, in: $0) }
    }
    return first
  }

  /// Gives away what is later than an instant.
  mutating func remove(after instant: Int64, _ body: (Entry) -> Void) {
    var kept = 0
    entries.withUnsafeMutableBufferPointer { heap in
      for place in heap.indices {
        let entry = heap[place]
        if entry.instant > instant {
          body(entry)
        } else {
          Self.rise(entry, from: kept, in: heap)
          kept += 1
        }
      }
    }
    entries.removeLast(entries.count - kept)
  }

  @inline(__always)
  private static func rise(_ entry: Entry, from: Int, in heap: UnsafeMutableBufferPointer<Entry>) {
    var place = from
    while place > 0 {
      let parent = (place - 1) >> 2
      guard entry.precedes(heap[parent]) else { break }
      heap[place] = heap[parent]
      place = parent
    }
    heap[place] = entry
  }

  @inline(__always)
  private static func sink(_ entry: Entry, in heap: UnsafeMutableBufferPointer<Entry>) {
    var place = 0
    while true {
      let firstChild = place * 4 + 1
      guard firstChild < heap.count else { break }
      var least = firstChild
      var child = firstChild + 1
      let end = min(firstChild + 4, heap.count)
      while child < end {
        if heap[child].precedes(heap[least]) { least = child }
        child += 1
      }
      guard heap[least].precedes(entry) else { break }
      heap[place] = heap[least]
      place = least
    }
    heap[place] = entry
  }
}
