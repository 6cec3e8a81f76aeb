package import ConnectionFSM

/// The deadlines of a loop, one a handler: a binary heap with an index by the handler's identity.
///
/// Arming, moving and disarming cost O(log n), and nothing allocates once the arrays have grown.
/// Equal deadlines come due in the order in which they were armed.
package struct DeadlineHeap {
  private struct Node {
    var deadline: Int64
    /// Counts the arming calls: breaks ties, and tells whether a slot was armed anew.
    var order: UInt64
    var slot: Int

    func precedes(_ other: Node) -> Bool {
      (deadline, order) < (other.deadline, other.order)
    }
  }

  private struct Slot {
    var handler: (any DeadlineHandler)?
    var order: UInt64
    /// Where the slot's node lies in the heap; nil once it has been collected as due.
    var position: Int?
  }

  private var heap: [Node] = []
  private var slots: [Slot] = []
  private var free: [Int] = []
  private var index: [ObjectIdentifier: Int] = [:]
  private var orders: UInt64 = 0
  private var due: [Node] = []
  private var nextDue = 0

  package init() {}

  /// The earliest deadline.
  package var earliest: Int64? { heap.first?.deadline }

  /// Sets the handler's only deadline and retains the handler.
  package mutating func arm(_ handler: any DeadlineHandler, at deadline: Int64) {
    orders += 1
    let slot: Int
    if let known = index[ObjectIdentifier(handler)] {
      slot = known
    } else {
      slot = free.popLast() ?? slots.count
      if slot == slots.count { slots.append(Slot(handler: nil, order: 0, position: nil)) }
      slots[slot].handler = handler
      index[ObjectIdentifier(handler)] = slot
    }
    slots[slot].order = orders
    let node = Node(deadline: deadline, order: orders, slot: slot)
    if let position = slots[slot].position {
      let earlier = node.precedes(heap[position])
      place(node, at: position)
      if earlier { siftUp(position) } else { siftDown(position) }
    } else {
      heap.append(node)
      siftUp(heap.count - 1)
    }
  }

  /// Takes the handler's deadline away. The caller holds the handler: were it freed in here, its
  /// `deinit` could call back into this heap while it changes.
  package mutating func disarm(_ handler: any DeadlineHandler) {
    guard let slot = index[ObjectIdentifier(handler)] else { return }
    if let position = slots[slot].position { remove(at: position) }
    release(slot, of: handler)
  }

  /// Collects everything due by then; ``popDue()`` gives it out. A handler that is armed anew after
  /// this waits for the next collection, so that none can keep the others waiting.
  package mutating func collectDue(by now: Int64) {
    while let first = heap.first, first.deadline <= now {
      due.append(first)
      slots[first.slot].position = nil
      remove(at: 0)
    }
  }

  /// The next handler that was collected and has been neither armed anew nor disarmed since.
  package mutating func popDue() -> (any DeadlineHandler)? {
    while nextDue < due.count {
      let node = due[nextDue]
      nextDue += 1
      guard slots[node.slot].order == node.order, let handler = slots[node.slot].handler else {
        continue
      }
      release(node.slot, of: handler)
      return handler
    }
    due.removeAll(keepingCapacity: true)
    nextDue = 0
    return nil
  }

  private mutating func release(_ slot: Int, of handler: any DeadlineHandler) {
    index[ObjectIdentifier(handler)] = nil
    slots[slot] = Slot(handler: nil, order: 0, position: nil)
    free.append(slot)
  }

  private mutating func remove(at position: Int) {
    let last = heap.removeLast()
    guard position < heap.count else { return }
    let earlier = last.precedes(heap[position])
    place(last, at: position)
    if earlier { siftUp(position) } else { siftDown(position) }
  }

  private mutating func place(_ node: Node, at position: Int) {
    heap[position] = node
    slots[node.slot].position = position
  }

  private mutating func siftUp(_ start: Int) {
    let node = heap[start]
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard node.precedes(heap[parent]) else { break }
      place(heap[parent], at: position)
      position = parent
    }
    place(node, at: position)
  }

  private mutating func siftDown(_ start: Int) {
    let node = heap[start]
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
      guard heap[child].precedes(node) else { break }
      place(heap[child], at: position)
      position = child
    }
    place(node, at: position)
  }
}
