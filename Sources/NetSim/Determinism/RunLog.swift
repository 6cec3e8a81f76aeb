public import ConnectionFSM
import Synchronization

/// What a run did, in order, as far as it tells: for ``Determinism/check(seed:_:)``.
///
/// Safe to share among tasks, though a run whose tasks race is just what the check finds.
public final class RunLog: Sendable {
  /// One event of a run.
  public struct Event: Hashable, CustomStringConvertible, Sendable {
    /// When it happened, in the run's own time.
    public let instant: Instant
    /// What happened.
    public let content: Content

    /// A text or bytes.
    public enum Content: Hashable, Sendable {
      case text(String)
      case bytes([UInt8])
    }

    /// Makes an event, for comparison with one that was found.
    public init(instant: Instant, content: Content) {
      self.instant = instant
      self.content = content
    }

    public var description: String {
      switch content {
      case .text(let text): "at \(instant) “\(text)”"
      case .bytes(let bytes): "at \(instant) \(bytes.count) bytes \(Self.hexadecimal(bytes))"
      }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
      let shown = bytes.prefix(32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
      return shown.joined(separator: " ") + (bytes.count > 32 ? " …" : "")
    }
  }

  /// Of how many events one digest is kept.
  static let blockSize = 1024
  /// Of how many blocks the events themselves are kept.
  static let keptBlocks = 64

  private struct State {
    var count = 0
    var latest = Instant.origin
    var all = Digest()
    /// The digests of the blocks that are full, and of the one that is not.
    var blocks: [UInt64] = []
    var block = Digest()
    var kept: [Event] = []
  }

  private let firstKept: Int
  private let state = Mutex(State())

  /// Makes an empty log that keeps the events from a block on.
  init(keepingFrom block: Int) { firstKept = block * Self.blockSize }

  /// Notes an event by a text that names it and all that should be the same in the next run.
  public func record(_ text: String, at instant: Instant) {
    state.withLock { record(Event(instant: instant, content: .text(text)), in: &$0) }
  }

  /// Notes an event by bytes: a frame, a snapshot, a digest of something large.
  public func record(_ bytes: [UInt8], at instant: Instant) {
    state.withLock { record(Event(instant: instant, content: .bytes(bytes)), in: &$0) }
  }

  /// Notes that the run ended with an error.
  func recordEnd(_ error: any Error) {
    state.withLock {
      record(Event(instant: $0.latest, content: .text("threw \(error)")), in: &$0)
    }
  }

  private func record(_ event: Event, in state: inout State) {
    state.all.add(event)
    state.block.add(event)
    state.latest = event.instant
    let place = state.count - firstKept
    if place >= 0, place < Self.keptBlocks * Self.blockSize { state.kept.append(event) }
    state.count += 1
    if state.count % Self.blockSize == 0 {
      state.blocks.append(state.block.value)
      state.block = Digest()
    }
  }
}

extension Digest {
  fileprivate mutating func add(_ event: RunLog.Event) {
    add(event.instant.nanoseconds)
    switch event.content {
    case .text(let text):
      add(UInt64(0))
      add(text)
    case .bytes(let bytes):
      add(UInt64(1))
      add(bytes: bytes)
    }
  }
}

// MARK: Comparison

extension RunLog {
  /// The digest of all events.
  var digest: UInt64 { state.withLock { $0.all.value } }

  /// The first block in which two runs differ; nil if they are equal.
  func firstDifferentBlock(from other: RunLog) -> Int? {
    let (one, two) = (digests, other.digests)
    return one == two ? nil : zip(one, two).prefix { $0 == $1 }.count
  }

  /// The digests of all blocks, the last of which is not full.
  private var digests: [UInt64] { state.withLock { $0.blocks + [$0.block.value] } }

  /// The first event that differs among those that are kept; nil if none of them does.
  func firstDifference(from other: RunLog) -> (index: Int, one: Event?, other: Event?)? {
    let (one, two) = (kept, other.kept)
    let place = zip(one, two).prefix { $0 == $1 }.count
    let (left, right) = (one.dropFirst(place).first, two.dropFirst(place).first)
    return left == right ? nil : (firstKept + place, left, right)
  }

  private var kept: [Event] { state.withLock { $0.kept } }
}
