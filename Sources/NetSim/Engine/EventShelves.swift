/// Events that are later than a start, on shelves by instant, unsorted.
///
/// An instant is read as eleven digits of six bits. An event stands on the shelf of the highest
/// digit in which it differs from the start, and of the value it has there: 64 shelves a digit, the
/// shelves of a lower digit all earlier than those of a higher one. So the earliest shelf is found
/// with two looks at a bit set, and taking it apart spreads it over the shelves of lower digits
/// (a radix heap: Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path
/// problem", 1990).
///
/// A shelf is a list of boxes of 30 events. All shelves share the boxes, so that in the long run
/// there are as many as the events need, and nothing is allocated any more.
struct EventShelves<Event: Sendable>: Sendable {
  typealias Entry = ScheduledEvent<Event>

  /// The events from ``first`` to ``last``, taken off; their boxes are to be emptied one by one.
  struct Shelf {
    let first: Int64
    let last: Int64
    let count: Int
    var box: Int32
  }

  private(set) var start: Int64 = 0
  private(set) var count = 0
  /// The digits that have shelves which are not empty, and for each digit which.
  private var digits: UInt64 = 0
  private var values: [UInt64] = []
  /// The box of each shelf that is being filled, or none.
  private var fronts: [Int32] = []
  private var boxes: [[Entry]] = []
  /// The box behind a box of the same shelf, or behind an empty one.
  private var behind: [Int32] = []
  private var empty = Self.none

  private static var none: Int32 { -1 }
  private static var boxSize: Int { 30 }
}

extension EventShelves {
  /// Moves the start; as far as the events allow, which must stay later.
  mutating func advance(to instant: Int64) {
    if fronts.isEmpty {
      values = Array(repeating: 0, count: 11)
      fronts = Array(repeating: Self.none, count: 11 * 64)
    }
    start = max(count == 0 ? 0 : start, instant)
  }

  /// Adds an event that is later than the start.
  mutating func add(_ entry: Entry) {
    let difference = UInt64(bitPattern: entry.instant ^ start)
    let digit = (63 - difference.leadingZeroBitCount) / 6
    let value = Int(truncatingIfNeeded: entry.instant >> Int64(digit * 6)) & 63
    let shelf = digit * 64 + value
    var box = fronts[shelf]
    if box == Self.none || boxes[Int(box)].count == Self.boxSize {
      box = emptyBox(before: box)
      fronts[shelf] = box
      digits |= 1 << UInt64(digit)
      values[digit] |= 1 << UInt64(value)
    }
    boxes[Int(box)].append(entry)
    count += 1
  }

  private mutating func emptyBox(before other: Int32) -> Int32 {
    if empty == Self.none {
      var box: [Entry] = []
      box.reserveCapacity(Self.boxSize)
      boxes.append(box)
      behind.append(Self.none)
      empty = Int32(boxes.count - 1)
    }
    let box = empty
    empty = behind[Int(box)]
    behind[Int(box)] = other
    return box
  }

  /// Takes the earliest shelf off, and starts there.
  mutating func removeEarliest() -> Shelf? {
    guard digits != 0 else { return nil }
    let digit = digits.trailingZeroBitCount
    let value = values[digit].trailingZeroBitCount
    values[digit] &= values[digit] - 1
    if values[digit] == 0 { digits &= digits - 1 }
    let front = fronts[digit * 64 + value]
    fronts[digit * 64 + value] = Self.none

    let width = Int64(1) << Int64(digit * 6)
    // The digits above are those of the start, and there are none above the eleventh.
    let above = digit == 10 ? 0 : start & ~(width << 6 - 1)
    start = above | Int64(value) * width
    var size = 0
    var box = front
    while box != Self.none {
      size += boxes[Int(box)].count
      box = behind[Int(box)]
    }
    count -= size
    return Shelf(first: start, last: start | (width - 1), count: size, box: front)
  }

  /// Takes the next box out of a shelf that was taken off. It is to be given back when it is empty.
  mutating func removeBox(of shelf: inout Shelf) -> [Entry]? {
    guard shelf.box != Self.none else { return nil }
    let box = Int(shelf.box)
    var entries: [Entry] = []
    swap(&entries, &boxes[box])
    return entries
  }

  /// Puts the emptied box of a shelf back to the empty ones.
  mutating func giveBack(_ entries: inout [Entry], of shelf: inout Shelf) {
    let box = Int(shelf.box)
    entries.removeAll(keepingCapacity: true)
    swap(&entries, &boxes[box])
    shelf.box = behind[box]
    behind[box] = empty
    empty = Int32(box)
  }
}
