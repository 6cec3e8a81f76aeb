import ConnectionFSM
import Dispatch
import Foundation
import Synchronization
import Testing
import Transports

/// A machine whose steps are told to a monitor, in the order in which a connection tells them.
struct MonitoredMachine {
  private(set) var machine: Machine
  private(set) var sequence: UInt64 = 0
  private var effects = Effects()
  private var random: SplitMix64
  private var now = Instant.origin
  private let monitor: any ConnectionMonitor

  init(_ monitor: any ConnectionMonitor, policy: Policy, seed: UInt64 = 1) {
    self.monitor = monitor
    machine = Machine(policy: policy, seed: seed)
    random = SplitMix64(seed: seed)
    monitor.connection(startsWith: machine)
  }

  /// The policy of the tests: two lanes, waits that are drawn.
  static func policy(connectDeadline: TimeSpan = .seconds(4)) throws -> Policy {
    try Policy(
      connectDeadline: connectDeadline, closeDeadline: .seconds(2), drainDeadline: .seconds(3),
      backoff: Backoff(
        first: .milliseconds(500), base: .milliseconds(300), cap: .seconds(8), jitter: .full,
        stability: .seconds(3)),
      minimumDialSpacing: .milliseconds(600),
      heartbeat: Heartbeat(interval: .seconds(6), timeout: .seconds(2)),
      path: PathPolicy(), lifecycle: LifecyclePolicy(backgroundGrace: nil, idleGrace: nil),
      lanes: [
        Lane(.atMostOnce, timeToLive: .seconds(4), countLimit: 6, window: 2),
        Lane(.atLeastOnce, countLimit: 8, overflow: .dropOldest, window: 3),
      ])
  }

  mutating func feed(_ input: Input, at instant: Instant? = nil) {
    now = max(now, instant ?? now)
    sequence += 1
    let record = machine.handle(input, at: now, into: &effects, recordingAs: sequence)
    monitor.connection(made: record, leaving: machine)
  }

  mutating func adopt(_ policy: Policy) throws {
    sequence += 1
    let record = try machine.adopt(policy, at: now, into: &effects, recordingAs: sequence)
    monitor.connection(made: record, leaving: machine)
  }

  /// So many steps of a random life, a policy replaced now and then.
  mutating func live(_ steps: Int) throws {
    for _ in 0..<steps {
      if sequence % 97 == 96 {
        let patience = TimeSpan.seconds(Int64(3 + random.next(through: 5)))
        try adopt(Self.policy(connectDeadline: patience))
        continue
      }
      let late = TimeSpan.nanoseconds(Int64(random.next(through: 900_000_000)))
      feed(input(), at: now + late)
    }
  }

  private mutating func input() -> Input {
    let epoch = machine.newestEpoch
    let lane = LaneID(UInt8(random.next(through: 1)))
    switch (random.next(through: 9), machine.phase) {
    case (0...4, .idle): return .connect(EndpointID(1))
    case (0...4, .connecting): return .transport(epoch, .opened)
    case (0...3, _): return .deadlineReached
    case (4...6, _): return .offer(lane, byteCount: UInt32(random.next(through: 90)))
    case (7...8, _):
      guard let newest = machine.newestMessage(in: lane) else { return .deadlineReached }
      return .transport(
        epoch, lane.rawValue == 0 ? .written(through: newest) : .acknowledged(through: newest))
    default:
      return random.next(through: 3) == 0
        ? .transport(epoch, .failed(.system(.connectionReset)))
        : .transport(epoch, .received(byteCount: 7))
    }
  }
}

/// Segments in memory, which can be held up and can fail.
final class MemorySegments: SegmentStore {
  private struct Contents {
    var segments: [UInt64: [UInt8]] = [:]
    var current: UInt64 = 0
    var most = 0
    /// How many more appends go well; nil if all do.
    var good: Int?
  }

  private let contents = Mutex(Contents())
  /// One signal for each append that may go on; nil where all may.
  private let gate: DispatchSemaphore?
  /// Signalled when an append has come to the gate.
  let reached = DispatchSemaphore(value: 0)
  /// Signalled when the recording lets go of the store.
  let ended = DispatchSemaphore(value: 0)

  static let full = RecordingError.system(
    step: "write", path: "memory", .noBufferSpace, reason: "No space left on device")

  init(isGated: Bool = false, failingAfter good: Int? = nil) {
    gate = isGated ? DispatchSemaphore(value: 0) : nil
    contents.withLock { $0.good = good }
  }

  func letGo(_ count: Int) { for _ in 0..<count { gate?.signal() } }

  /// The most segments that there were at once.
  var most: Int { contents.withLock { $0.most } }

  /// The segments in their order.
  var texts: [(number: UInt64, text: String)] {
    contents.withLock { contents in
      contents.segments.sorted { $0.key < $1.key }.map {
        ($0.key, String(decoding: $0.value, as: UTF8.self))
      }
    }
  }

  func numbers() throws(RecordingError) -> [UInt64] {
    contents.withLock { Array($0.segments.keys) }
  }

  func begin(_ number: UInt64) throws(RecordingError) {
    contents.withLock { contents in
      contents.segments[number] = []
      contents.current = number
      contents.most = max(contents.most, contents.segments.count)
    }
  }

  func append(_ bytes: [UInt8]) throws(RecordingError) {
    if let gate {
      reached.signal()
      gate.wait()
    }
    let isGood = contents.withLock { contents in
      if let good = contents.good {
        guard good > 0 else { return false }
        contents.good = good - 1
      }
      contents.segments[contents.current, default: []] += bytes
      return true
    }
    if !isGood { throw Self.full }
  }

  func remove(_ number: UInt64) throws(RecordingError) {
    contents.withLock { _ = $0.segments.removeValue(forKey: number) }
  }

  func end() { ended.signal() }
}

/// A segment as it is read back.
struct ReadSegment {
  let header: TraceHeader
  let lines: [TraceLine]

  init(_ text: String) throws {
    let pieces = text.split(separator: "\n")
    let decoder = JSONDecoder()
    header = try decoder.decode(TraceHeader.self, from: Data(try #require(pieces.first).utf8))
    lines = try pieces.dropFirst().map { try decoder.decode(TraceLine.self, from: Data($0.utf8)) }
  }

  /// Replays it alone.
  /// - Returns: What the machine came to.
  func replayed() throws -> Machine {
    var replay = try Replay(header)
    for line in lines { _ = try replay.next(line) }
    return replay.machine
  }
}
