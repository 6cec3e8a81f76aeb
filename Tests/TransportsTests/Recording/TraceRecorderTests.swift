import ConnectionFSM
import Dispatch
import Foundation
import Synchronization
import Testing
import Transports

@Suite("F56: the recorder of a connection's steps")
struct TraceRecorderTests {
  private func recorder(
    _ store: MemorySegments, bytes: Int = 8 << 10, count: Int = 100, waiting: Int = 100_000,
    onFailure: @escaping @Sendable (RecordingError) -> Void = { Issue.record($0) }
  ) throws -> TraceRecorder {
    try TraceRecorder(
      store, segmentBytes: bytes, segmentCount: count, waitingLimit: waiting,
      onFailure: onFailure)
  }

  @Test("every segment replays alone, and all of them in order lead to what the machine is")
  func segments() async throws {
    for seed in 1...6 as ClosedRange<UInt64> {
      let store = MemorySegments()
      let recorder = try recorder(store)
      var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy(), seed: seed)
      try life.live(500)
      await recorder.flush()
      let segments = try store.texts.map { try ReadSegment($0.text) }
      #expect(segments.count > 10)
      #expect(store.texts.allSatisfy { $0.text.utf8.count <= 8 << 10 })
      var whole = try Replay(segments[0].header)
      for (place, segment) in segments.enumerated() {
        if place > 0 { #expect(try whole.goOn(with: segment.header) == 0) }
        for line in segment.lines { _ = try whole.next(line) }
        #expect(try segment.replayed() == whole.machine)
        #expect(segment.header.start?.missing == nil)
      }
      #expect(whole.machine == life.machine, "seed \(seed)")
      #expect(segments.last?.lines.last?.sequence == 500)
    }
  }

  @Test("I21: there are never more segments than asked for, and those that stay are the newest")
  func rotation() async throws {
    let store = MemorySegments()
    let recorder = try recorder(store, count: 3)
    var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy())
    try life.live(800)
    await recorder.flush()
    #expect(store.most == 3)
    let segments = store.texts
    #expect(segments.map(\.number) == [0, 1, 2].map { segments[0].number + $0 })
    let last = try ReadSegment(segments[2].text)
    #expect(last.lines.last?.sequence == 800)
    #expect(try last.replayed() == life.machine)
  }

  @Test("a machine with more messages than a segment has room for is still recorded with steps")
  func manyMessages() async throws {
    let store = MemorySegments()
    let recorder = try recorder(store)
    let lane = Lane(.atLeastOnce, timeToLive: nil, countLimit: 5_000, window: 3)
    let policy = try Policy(heartbeat: nil, lanes: [lane])
    var life = MonitoredMachine(recorder, policy: policy)
    for step in 1...3_000 as ClosedRange<Int64> {
      life.feed(.offer(LaneID(0), byteCount: 60), at: Instant(nanoseconds: step * 777_777_777))
    }
    await recorder.flush()
    let segments = try store.texts.map { try ReadSegment($0.text) }
    #expect(segments.dropLast().allSatisfy { $0.lines.count > 8 })
    #expect(try segments[segments.count - 1].replayed() == life.machine)
  }

  @Test("what is lost while the thread is held up is counted, and what follows replays")
  func overflow() async throws {
    let store = MemorySegments(isGated: true)
    let recorder = try recorder(store, bytes: 1 << 20, waiting: 20)
    var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy())
    store.reached.wait()
    // The thread writes the header and comes for no more.
    try life.live(100)
    store.letGo(1)
    store.reached.wait()
    // It has taken the twenty that waited, and there is room again.
    try life.live(30)
    store.letGo(1_000)
    await recorder.flush()
    try life.live(1)
    await recorder.flush()
    let segments = try store.texts.map { try ReadSegment($0.text) }
    #expect(segments.map { $0.header.start?.after } == [0, 101, 131])
    #expect(segments.map { $0.header.start?.missing } == [nil, 81, 11])
    #expect(segments[0].lines.map(\.sequence) == Array(1...20))
    #expect(segments[1].lines.map(\.sequence) == Array(102...120))
    var replay = try Replay(segments[0].header)
    for line in segments[0].lines { _ = try replay.next(line) }
    #expect(try replay.goOn(with: segments[1].header) == 81)
    for line in segments[1].lines { _ = try replay.next(line) }
  }

  @Test("a failure is told once, nothing is written after it, and nobody waits for ever")
  func failure() async throws {
    let store = MemorySegments(failingAfter: 2)
    let heard = Mutex<[RecordingError]>([])
    let recorder = try recorder(store, bytes: 1 << 20) { error in
      heard.withLock { $0.append(error) }
    }
    var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy())
    for _ in 0..<20 {
      try life.live(30)
      await recorder.flush()
    }
    #expect(heard.withLock { $0 } == [MemorySegments.full])
    #expect(store.texts.count == 1)
    store.ended.wait()
  }

  @Test("I18: a recorder that is released writes what it heard and lets go of everything")
  func released() throws {
    let store = MemorySegments()
    var sequence: UInt64 = 0
    do {
      let recorder = try recorder(store)
      var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy())
      try life.live(200)
      sequence = life.sequence
    }
    store.ended.wait()
    let last = try ReadSegment(try #require(store.texts.last).text)
    #expect(last.lines.last?.sequence == sequence)
  }

  @Test("a recorder that is attached late begins with the machine as it is")
  func late() async throws {
    let store = MemorySegments()
    let recorder = try recorder(store)
    let late = LateMonitor(recorder, from: 50)
    var life = MonitoredMachine(late, policy: try MonitoredMachine.policy())
    try life.live(80)
    await recorder.flush()
    let segment = try ReadSegment(store.texts[0].text)
    #expect(segment.header.start?.after == 50)
    #expect(segment.header.start?.missing == nil)
    #expect(segment.lines.first?.sequence == 51)
  }

  @Test("the error behind a failure, which may name hosts, is in no recording")
  func redaction() async throws {
    let store = MemorySegments()
    let recorder = try recorder(store)
    var life = MonitoredMachine(recorder, policy: try MonitoredMachine.policy())
    life.feed(.connect(EndpointID(1)))
    let error = EndpointError.secret
    recorder.connection(linkOf: Epoch(1), failedWith: error)
    life.feed(.transport(Epoch(1), .failed(.unsupportedEndpoint)))
    await recorder.flush()
    let text = try #require(store.texts.first).text
    #expect("\(error)".contains("secret.example"))
    #expect(!text.contains("secret") && !text.contains("://"))
    // All that a step can say, by the names of its facts.
    let lines = text.split(separator: "\n").dropFirst()
    let known: Set = [
      "sequence", "instant", "parent", "epoch", "attempt", "input", "disposition", "from", "to",
      "effects", "nextDeadline", "cause", "waitsFor", "until", "reason", "policy",
    ]
    for line in lines {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(Set(try #require(object).keys).isSubset(of: known))
    }
  }
}

extension EndpointError {
  /// What a dialer might say.
  fileprivate static var secret: EndpointError {
    do throws(EndpointError) {
      _ = try Endpoint("tcp://secret.example")
      preconditionFailure("has no port")
    } catch {
      return error
    }
  }
}

/// Hands on what comes after a step.
private final class LateMonitor: ConnectionMonitor {
  private let next: any ConnectionMonitor
  private let first: UInt64

  init(_ next: any ConnectionMonitor, from first: UInt64) {
    self.next = next
    self.first = first
  }

  func connection(made record: TraceRecord, leaving machine: Machine) {
    if record.sequence >= first { next.connection(made: record, leaving: machine) }
  }
}
