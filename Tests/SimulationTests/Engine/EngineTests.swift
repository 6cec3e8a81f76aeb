import ConnectionFSM
import NetSim
import Testing

@Suite("Event queue and random streams")
struct EngineTests {
  @Test("events come out by instant, then actor, then that actor's own order")
  func order() {
    var queue = EventQueue<String>()
    queue.schedule("late", at: Instant(nanoseconds: 9), by: 0)
    queue.schedule("second actor", at: Instant(nanoseconds: 5), by: 1)
    queue.schedule("first actor, one", at: Instant(nanoseconds: 5), by: 0)
    queue.schedule("first actor, two", at: Instant(nanoseconds: 5), by: 0)
    queue.schedule("early", at: Instant(nanoseconds: 1), by: 3)
    var popped: [String] = []
    while let (_, event) = queue.pop() { popped.append(event) }
    let expected = ["early", "first actor, one", "first actor, two", "second actor", "late"]
    #expect(popped == expected)
  }

  @Test("a queue agrees with sorting, whatever is pushed and popped in between")
  func againstSorting() {
    var stream = RandomStream(seed: 3, name: "queue")
    var queue = EventQueue<Int>()
    var model: [(instant: Int64, actor: UInt32, order: Int)] = []
    for order in 0..<5000 {
      if stream.next(through: 2) > 0 || model.isEmpty {
        let instant = Int64(stream.next(through: 50))
        let actor = UInt32(stream.next(through: 3))
        queue.schedule(order, at: Instant(nanoseconds: instant), by: actor)
        model.append((instant, actor, order))
      } else {
        let least = model.indices.min {
          (model[$0].instant, model[$0].actor, model[$0].order)
            < (model[$1].instant, model[$1].actor, model[$1].order)
        }
        let expected = least.map { model.remove(at: $0) }
        let popped = queue.pop()
        #expect(popped?.event == expected?.order)
      }
      #expect(queue.count == model.count)
    }
  }

  @Test("streams of one seed are independent by name, and golden")
  func streams() {
    var one = RandomStream(seed: 1, name: "latency")
    var same = RandomStream(seed: 1, name: "latency")
    var other = RandomStream(seed: 1, name: "loss")
    let first = (0..<4).map { _ in one.next(through: 999) }
    let second = (0..<4).map { _ in same.next(through: 999) }
    let third = (0..<4).map { _ in other.next(through: 999) }
    #expect(first == second)
    #expect(first != third)
  }
}
