import ConnectionFSM
import Testing
import Transports

private final class Handler: DeadlineHandler {
  let name: Int

  init(_ name: Int) { self.name = name }

  func deadlineReached() {}
}

@Suite("The heap of deadlines")
struct DeadlineHeapTests {
  @Test("I4: gives out what a plain list would, under random arming, moving and disarming")
  func againstModel() {
    for seed in UInt64(1)...20 {
      var random = SplitMix64(seed: seed)
      var heap = DeadlineHeap()
      let handlers = (0..<300).map(Handler.init)
      var model: [(deadline: Int64, order: Int, name: Int)] = []
      var now: Int64 = 0
      for order in 0..<3000 {
        let name = Int(random.next() % 300)
        model.removeAll { $0.name == name }
        if random.next() % 4 == 0 {
          heap.disarm(handlers[name])
        } else {
          let deadline = now + Int64(random.next() % 50) - 2
          heap.arm(handlers[name], at: deadline)
          model.append((deadline, order, name))
        }
        #expect(heap.earliest == model.map(\.deadline).min())
        guard random.next() % 8 == 0 else { continue }
        now += Int64(random.next() % 20)
        let due = model.filter { $0.deadline <= now }
          .sorted { ($0.deadline, $0.order) < ($1.deadline, $1.order) }
        model.removeAll { $0.deadline <= now }
        heap.collectDue(by: now)
        var given: [Int] = []
        while let handler = heap.popDue() as? Handler { given.append(handler.name) }
        #expect(given == due.map(\.name))
      }
    }
  }

  @Test("a handler that is disarmed or armed anew after it was collected is not given out")
  func changedAfterCollecting() {
    var heap = DeadlineHeap()
    let (first, second, third) = (Handler(1), Handler(2), Handler(3))
    heap.arm(first, at: 1)
    heap.arm(second, at: 2)
    heap.arm(third, at: 3)
    heap.collectDue(by: 3)
    #expect(heap.earliest == nil)
    let given = heap.popDue()
    #expect(given === first)
    heap.disarm(second)
    heap.arm(third, at: 1)
    heap.arm(first, at: 0)
    let nothing = heap.popDue()
    #expect(nothing == nil)
    heap.collectDue(by: 1)
    let again = heap.popDue()
    let andThen = heap.popDue()
    #expect(again === first && andThen === third)
  }
}
