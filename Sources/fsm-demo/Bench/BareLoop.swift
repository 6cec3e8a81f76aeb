import Foundation

/// What the reconnect workload costs at least: a hand-written event loop without a machine, the
/// yardstick of the fleet. Nothing is checked, nothing can be replaced, time is a number.
///
/// A client dials within the first second. A dial takes one event at the server and one back, 20 to
/// 80 ms each, and is refused with probability 0.2. An open link lives for an exponential time of
/// mean 300 s; every 25 s a heartbeat takes a timer event, one at the server and one back. After a
/// refusal or a drop the client waits for up to min(60, 2^(attempt - 1)) s.
struct BareLoop {
  private enum Kind: UInt32 {
    case dial, dialAtServer, opened, refused, dropped, beat, beatAtServer, answered
  }

  private struct Event {
    var instant: UInt64
    var sequence: UInt64
    var client: UInt32
    var kind: Kind

    @inline(__always)
    func precedes(_ other: Event) -> Bool {
      instant != other.instant ? instant < other.instant : sequence < other.sequence
    }
  }

  private struct Client {
    var attempt: UInt32 = 0
    var dropsAt: UInt64 = 0
  }

  private(set) var events = 0
  private var heap: [Event] = []
  private var clients: [Client]
  private var sequence: UInt64 = 0
  private var random: UInt64

  init(count: Int, seed: UInt64) {
    clients = Array(repeating: Client(), count: count)
    random = seed | 1
    for client in 0..<UInt32(count) { add(.dial, of: client, at: seconds(uniform())) }
  }

  mutating func run(seconds end: Double) {
    let end = seconds(end)
    while let event = heap.first, event.instant <= end {
      removeFirst()
      events += 1
      serve(event.kind, of: event.client, at: event.instant)
    }
  }

  @inline(__always)
  private mutating func serve(_ kind: Kind, of client: UInt32, at now: UInt64) {
    switch kind {
    case .dial: add(.dialAtServer, of: client, at: now + latency())
    case .dialAtServer:
      let arrival = now + latency()
      add(uniform() < 0.2 ? .refused : .opened, of: client, at: arrival)
    case .opened:
      clients[Int(client)].attempt = 0
      clients[Int(client)].dropsAt = now + seconds(-300 * log(1 - uniform()))
      addUnlessDropped(.beat, of: client, at: now + 25_000_000_000)
    case .beat: addUnlessDropped(.beatAtServer, of: client, at: now + latency())
    case .beatAtServer: addUnlessDropped(.answered, of: client, at: now + latency())
    case .answered: addUnlessDropped(.beat, of: client, at: now + 25_000_000_000)
    case .refused, .dropped:
      clients[Int(client)].attempt += 1
      let most = min(60, Double(UInt64(1) << UInt64(min(clients[Int(client)].attempt - 1, 6))))
      add(.dial, of: client, at: now + seconds(uniform() * most))
    }
  }

  // A client waits for one thing at a time; a drop takes the place of what would come after it.
  @inline(__always)
  private mutating func addUnlessDropped(_ kind: Kind, of client: UInt32, at instant: UInt64) {
    let dropsAt = clients[Int(client)].dropsAt
    if instant < dropsAt {
      add(kind, of: client, at: instant)
    } else {
      add(.dropped, of: client, at: dropsAt)
    }
  }

  // MARK: Chance

  @inline(__always)
  private mutating func uniform() -> Double {
    // xorshift64* (Vigna 2016).
    random ^= random >> 12
    random ^= random << 25
    random ^= random >> 27
    return Double((random &* 0x2545_F491_4F6C_DD1D) >> 11) * 0x1p-53
  }

  @inline(__always)
  private mutating func latency() -> UInt64 { seconds(0.02 + 0.06 * uniform()) }

  @inline(__always)
  private func seconds(_ count: Double) -> UInt64 { UInt64(count * 1e9) }

  // MARK: The heap, four children a node

  @inline(__always)
  private mutating func add(_ kind: Kind, of client: UInt32, at instant: UInt64) {
    let event = Event(instant: instant, sequence: sequence, client: client, kind: kind)
    sequence += 1
    heap.append(event)
    heap.withUnsafeMutableBufferPointer { heap in
      var place = heap.count - 1
      while place > 0 {
        let parent = (place - 1) >> 2
        guard event.precedes(heap[parent]) else { break }
        heap[place] = heap[parent]
        place = parent
      }
      heap[place] = event
    }
  }

  @inline(__always)
  private mutating func removeFirst() {
    let event = heap.removeLast()
    guard !heap.isEmpty else { return }
    heap.withUnsafeMutableBufferPointer { heap in
      var place = 0
      while true {
        let firstChild = place * 4 + 1
        guard firstChild < heap.count else { break }
        var least = firstChild
        var child = firstChild + 1
        while child < min(firstChild + 4, heap.count) {
          if heap[child].precedes(heap[least]) { least = child }
          child += 1
        }
        guard heap[least].precedes(event) else { break }
        heap[place] = heap[least]
        place = least
      }
      heap[place] = event
    }
  }
}
