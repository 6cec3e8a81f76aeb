package import ConnectionFSM

/// The writes that were asked of a byte stream, in order. Owns no clock and no stream: requests and
/// what the stream took go in, bytes and results come out.
///
/// The bytes of one request are never mixed with another's (I12). A write that times out ends them
/// all: its rest can neither be sent nor left out.
package struct WriteRequests: Sendable {
  package enum Input: Sendable {
    /// The stream is open: the head's time runs.
    case opened
    case asked(RequestID, [UInt8], timeout: TimeSpan?)
    case cancelled(RequestID)
    /// The stream took so many bytes of ``WriteRequests/next``.
    case took(Int)
    /// How much longer a request that expired may wait; nil, or nothing, ends it.
    case answered(RequestID, TimeSpan?)
    case deadline
    /// Later requests are refused.
    case closing
    /// The stream is gone.
    case failed(Cause)
  }

  package enum Effect: Equatable, Sendable {
    /// The stream took all of it.
    case written(RequestID)
    case failed(RequestID, ChannelError)
    /// Its time has passed when so many bytes were taken. To be answered.
    case expired(RequestID, byteCount: Int)
    /// There is room again after a request that was refused.
    case writable
    /// A request timed out: the stream is of no use any more.
    case gaveUp
  }

  private struct Waiting {
    let id: RequestID
    let bytes: [UInt8]
    let timeout: TimeSpan?
    var taken = 0
  }

  /// The most requests that wait, since empty ones weigh nothing.
  package static let limit = 1024

  private let marks: WaterMarks
  private var waiting = FIFO<Waiting>()
  private var isOpen = false
  private var isClosing = false
  private var end: Cause?
  private var hasBegun = false
  /// It is being asked whether the head may have more time.
  private var hasExpired = false
  /// The most that a refused request needs; nil while none was refused.
  private var needed: Int?

  /// When ``Input/deadline`` is wanted.
  package private(set) var nextDeadline: Instant?
  /// How many bytes wait.
  package private(set) var pending = 0

  package init(marks: WaterMarks) { self.marks = marks }

  /// Whether no request waits.
  package var isEmpty: Bool { waiting.isEmpty }

  /// Whether a request was refused and there is no room yet.
  package var isFull: Bool { needed != nil }

  /// What the stream should take now; never empty.
  package var next: ArraySlice<UInt8>? {
    guard isOpen, let head = waiting.first else { return nil }
    return head.bytes[head.taken...]
  }

  package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
    switch input {
    case .opened:
      isOpen = true
      advance(now, &effects)
    case .asked(let id, let bytes, let timeout):
      ask(Waiting(id: id, bytes: bytes, timeout: timeout), now, &effects)
    case .cancelled(let id): cancel(id, now, &effects)
    case .took(let count):
      waiting.first?.taken += count
      pending -= count
      advance(now, &effects)
    case .answered(let id, let span): answer(id, span, now, &effects)
    case .deadline:
      guard let deadline = nextDeadline, deadline <= now, let head = waiting.first else { return }
      nextDeadline = nil
      hasExpired = true
      effects.append(.expired(head.id, byteCount: head.taken))
    case .closing: isClosing = true
    case .failed(let cause): finish(cause, &effects)
    }
  }

  private mutating func ask(_ entry: Waiting, _ now: Instant, _ effects: inout [Effect]) {
    if let end { return effects.append(.failed(entry.id, .closed(end))) }
    guard !isClosing else { return effects.append(.failed(entry.id, .closing)) }
    let count = entry.bytes.count
    // One that is larger than the mark goes alone, and nothing weighs nothing.
    guard waiting.count < Self.limit, pending == 0 || count == 0 || pending + count <= marks.high
    else {
      needed = max(needed ?? 0, count)
      return effects.append(.failed(entry.id, .bufferFull))
    }
    waiting.append(entry)
    pending += count
    advance(now, &effects)
  }

  private mutating func cancel(_ id: RequestID, _ now: Instant, _ effects: inout [Effect]) {
    let head = waiting.first
    guard head?.id != id || head?.taken == 0 else { return }
    guard let removed = waiting.remove(where: { $0.id == id }) else { return }
    pending -= removed.bytes.count
    effects.append(.failed(id, .cancelled))
    if head?.id == id { forgetHead() }
    advance(now, &effects)
  }

  private mutating func answer(
    _ id: RequestID, _ span: TimeSpan?, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let head = waiting.first, head.id == id, hasExpired else { return }
    hasExpired = false
    if let span, span > .zero {
      nextDeadline = now + span
      return
    }
    waiting.popFirst()
    effects.append(.failed(id, .timedOut(.write, byteCount: head.taken)))
    finish(.timedOut(.write), &effects)
    effects.append(.gaveUp)
  }

  /// Ends the requests that are written, starts the time of the one that is not, and tells when
  /// there is room.
  private mutating func advance(_ now: Instant, _ effects: inout [Effect]) {
    while isOpen, let head = waiting.first {
      guard head.taken == head.bytes.count else {
        if !hasBegun {
          hasBegun = true
          nextDeadline = head.timeout.map { now + $0 }
        }
        break
      }
      waiting.popFirst()
      forgetHead()
      effects.append(.written(head.id))
    }
    guard let needed, pending <= marks.low, waiting.count <= Self.limit / 2,
      pending == 0 || pending + needed <= marks.high
    else { return }
    self.needed = nil
    effects.append(.writable)
  }

  private mutating func forgetHead() {
    hasBegun = false
    hasExpired = false
    nextDeadline = nil
  }

  private mutating func finish(_ cause: Cause, _ effects: inout [Effect]) {
    guard end == nil else { return }
    end = cause
    forgetHead()
    pending = 0
    needed = nil
    for entry in waiting.removeAll() { effects.append(.failed(entry.id, .closed(cause))) }
  }
}
