import ConnectionFSM
import Testing
import Transports

/// What reads should give, by arrays alone: everything is searched anew at each step.
private struct NaiveReads {
  var waiting: [(id: UInt64, request: ReadRequest, timeout: TimeSpan?)] = []
  var bytes: [UInt8] = []
  var deadline: Instant?
  var isEnded = false

  mutating func settle(_ now: Instant) -> [ReadRequests.Effect] {
    var effects: [ReadRequests.Effect] = []
    while let head = waiting.first {
      guard let effect = effect(head.id, head.request) else {
        deadline = deadline ?? head.timeout.map { now + $0 }
        break
      }
      waiting.removeFirst()
      deadline = nil
      effects.append(effect)
    }
    return effects
  }

  private mutating func effect(_ id: UInt64, _ request: ReadRequest) -> ReadRequests.Effect? {
    switch request {
    case .any(let limit):
      if !bytes.isEmpty { return take(id, min(limit, bytes.count), dropping: 0) }
    case .exactly(let count):
      if bytes.count >= count { return take(id, count, dropping: 0) }
    case .until(let terminator, let maximum, let keeps):
      let window = bytes.prefix(maximum)
      if let hit = window.firstRange(of: terminator.bytes) {
        return take(id, hit.upperBound, dropping: keeps ? 0 : terminator.bytes.count)
      }
      if bytes.count >= maximum {
        return .failed(RequestID(id), .terminatorNotFound(maximum: maximum))
      }
    }
    return isEnded ? .failed(RequestID(id), .ended(byteCount: bytes.count)) : nil
  }

  private mutating func take(_ id: UInt64, _ count: Int, dropping: Int) -> ReadRequests.Effect {
    defer { bytes.removeFirst(count) }
    return .met(RequestID(id), Array(bytes.prefix(count - dropping)))
  }
}

@Suite("Requests against a model")
struct RequestModelTests {
  private func request(_ random: inout SplitMix64) throws -> ReadRequest {
    let terminators = [[1], [1, 2], [1, 1], [1, 1, 2], [2, 1, 2]]
    switch random.next() % 4 {
    case 0: return .any(atMost: Int(random.next() % 9) + 1)
    case 1: return .exactly(Int(random.next() % 9))
    default:
      let bytes = terminators[Int(random.next() % 5)].map { UInt8($0) }
      return .until(
        try Delimiter(bytes), maximum: bytes.count + Int(random.next() % 9),
        keepsTerminator: random.next() % 2 == 0)
    }
  }

  @Test("F36, I11: reads end as a naive model says, each once, over 2,000 seeds")
  func reads() throws {
    for seed in UInt64(1)...2000 {
      var random = SplitMix64(seed: seed)
      var line = ReadLine()
      var model = NaiveReads()
      var asked = UInt64(0)
      var ended: [RequestID] = []
      for _ in 0..<60 {
        var effects: [ReadRequests.Effect] = []
        var expected: [ReadRequests.Effect] = []
        line.now = line.now + .milliseconds(Int64(random.next() % 50))
        switch random.next() % 8 {
        case 0, 1, 2:
          asked += 1
          let timeout = random.next() % 3 == 0 ? TimeSpan.milliseconds(40) : nil
          let request = try request(&random)
          effects += line.ask(asked, request, timeout: timeout)
          model.waiting.append((asked, request, timeout))
        case 3, 4, 5:
          guard !model.isEnded else { continue }
          let bytes = (0..<random.next() % 12).map { _ in UInt8(random.next() % 3) }
          line.reads.receive(bytes.span.bytes, at: line.now, into: &effects)
          model.bytes += bytes
        case 6:
          let id = random.next() % (asked + 1)
          effects += line.handle(.cancelled(RequestID(id)))
          if let index = model.waiting.firstIndex(where: { $0.id == id }) {
            if index == 0 { model.deadline = nil }
            model.waiting.remove(at: index)
            expected.append(.failed(RequestID(id), .cancelled))
          }
        default:
          if random.next() % 10 == 0 {
            effects += line.handle(.ended)
            model.isEnded = true
          }
          effects += line.handle(.deadline)
          if let deadline = model.deadline, deadline <= line.now, !model.isEnded {
            let head = model.waiting.removeFirst()
            model.deadline = nil
            expected.append(.expired(RequestID(head.id), byteCount: model.bytes.count))
            expected.append(
              .failed(RequestID(head.id), .timedOut(.read, byteCount: model.bytes.count)))
            effects += line.handle(.answered(RequestID(head.id), nil))
          }
        }
        effects += line.rest()
        expected += model.settle(line.now)
        try #require(effects == expected, "seed \(seed)")
        let deadline = line.reads.nextDeadline
        try #require(deadline == model.deadline, "seed \(seed)")
        for effect in effects {
          switch effect {
          case .met(let id, _), .failed(let id, _): ended.append(id)
          case .expired: break
          }
        }
      }
      for effect in line.handle(.closed) {
        if case .failed(let id, .closed(.closedByUser)) = effect { ended.append(id) }
      }
      #expect(ended.count == Int(asked) && Set(ended).count == ended.count, "seed \(seed)")
    }
  }

  @Test("F37, I11, I12: writes arrive whole and in order, each ends once, over 2,000 seeds")
  func writes() throws {
    for seed in UInt64(1)...2000 {
      var random = SplitMix64(seed: seed)
      var line = try WriteLine(low: 20, high: 60)
      var accepted: [(id: UInt64, bytes: [UInt8])] = []
      var wire: [UInt8] = []
      var ended: [RequestID: WriteRequests.Effect] = [:]
      var asked = UInt64(0)
      func note(_ effects: [WriteRequests.Effect]) throws {
        for effect in effects {
          switch effect {
          case .written(let id), .failed(let id, _):
            try #require(ended.updateValue(effect, forKey: id) == nil, "seed \(seed)")
          case .expired, .writable, .gaveUp: break
          }
        }
      }
      for _ in 0..<80 {
        switch random.next() % 5 {
        case 0, 1:
          asked += 1
          let bytes = (0..<random.next() % 25).map { _ in UInt8(truncatingIfNeeded: asked) }
          try note(line.handle(.asked(RequestID(asked), bytes, timeout: nil)))
          accepted.append((asked, bytes))
        case 2, 3:
          guard let next = line.writes.next else { continue }
          let count = Int(random.next() % UInt64(next.count + 1))
          wire += next.prefix(count)
          try note(line.handle(.took(count)))
        default: try note(line.handle(.cancelled(RequestID(random.next() % (asked + 1)))))
        }
        try #require(line.writes.pending <= 60, "seed \(seed)")
      }
      let partial = line.writes.next
      try note(line.handle(.failed(.closedByUser)))
      var expected: [UInt8] = []
      for (id, bytes) in accepted {
        switch ended[RequestID(id)] {
        case .written: expected += bytes
        case .failed(_, .closed):
          let isHead = expected.count < wire.count
          if isHead { expected += bytes.prefix(bytes.count - (partial?.count ?? 0)) }
        case .failed: break
        case nil, .expired, .writable, .gaveUp: Issue.record("seed \(seed): \(id) has no end")
        }
      }
      #expect(wire == expected, "seed \(seed)")
    }
  }
}
