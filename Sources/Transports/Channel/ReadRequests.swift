package import ConnectionFSM

/// The reads that were asked of a byte stream, in order. Owns no clock and no stream: requests and
/// bytes go in, results come out.
///
/// Serves at most one request a call while the stream lives, so that what the application does at a
/// result comes before the next request is looked at: whoever finds a header wrong can close, and
/// no read that was asked for in advance gets the bytes that follow it.
package struct ReadRequests: Sendable {
  package enum Input: Sendable {
    /// The stream is open: the head's time runs.
    case opened
    case asked(RequestID, ReadRequest, timeout: TimeSpan?)
    case cancelled(RequestID)
    /// How much longer a request that expired may wait; nil, or nothing, ends it.
    case answered(RequestID, TimeSpan?)
    /// The application has heard the last result; see ``ReadRequests/hasNext``.
    case next
    case deadline
    /// Later requests are refused.
    case closing
    /// The peer has finished writing. What is there can still be read.
    case ended
    /// The stream is broken. What is there can still be read.
    case failed(Cause)
    /// The application has closed: what is there is dropped.
    case closed
  }

  package enum Effect: Equatable, Sendable {
    case met(RequestID, [UInt8])
    case failed(RequestID, ChannelError)
    /// Its time has passed with so many bytes there. To be answered.
    case expired(RequestID, byteCount: Int)
  }

  private enum End {
    case peer
    case cause(Cause)
  }

  private struct Waiting {
    let id: RequestID
    let request: ReadRequest
    let timeout: TimeSpan?
  }

  /// What may be read in advance of requests: enough to hear of the peer's end between two of them.
  package static let readAhead = 16 << 10
  /// The most requests that wait.
  package static let limit = 1024

  private var waiting = FIFO<Waiting>()
  private var arrived = ArrivedBytes()
  private var isOpen = false
  private var isClosing = false
  private var end: End?
  /// The head has been looked at: its time runs.
  private var hasBegun = false
  /// It is being asked whether the head may have more time.
  private var hasExpired = false
  private var search: DelimiterSearch?
  /// How far the head has searched.
  private var searched = 0

  /// When ``Input/deadline`` is wanted.
  package private(set) var nextDeadline: Instant?

  package init() {}

  /// Whether no request waits.
  package var isEmpty: Bool { waiting.isEmpty }

  /// Whether the head has still to be looked at, after what the application does at the result
  /// before it.
  package var hasNext: Bool { isOpen && end == nil && !hasBegun && !waiting.isEmpty }

  /// How many bytes may be read from the stream now.
  package var room: Int {
    guard isOpen, end == nil else { return 0 }
    return max(0, max(waiting.first?.request.reach ?? 0, Self.readAhead) - arrived.count)
  }

  package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
    switch input {
    case .opened:
      isOpen = true
      serve(now, &effects)
    case .asked(let id, let request, let timeout):
      ask(Waiting(id: id, request: request, timeout: timeout), now, &effects)
    case .cancelled(let id): cancel(id, now, &effects)
    case .answered(let id, let span): answer(id, span, now, &effects)
    case .next: if hasNext { serve(now, &effects) }
    case .deadline:
      guard let deadline = nextDeadline, deadline <= now, let head = waiting.first else { return }
      nextDeadline = nil
      hasExpired = true
      effects.append(.expired(head.id, byteCount: arrived.count))
    case .closing: isClosing = true
    case .ended: finish(.peer, now, &effects)
    case .failed(let cause): finish(.cause(cause), now, &effects)
    case .closed:
      arrived.removeAll()
      search = nil
      searched = 0
      end = nil
      finish(.cause(.closedByUser), now, &effects)
    }
  }

  /// Bytes arrived, at most ``room``.
  package mutating func receive(
    _ bytes: RawSpan, at now: Instant, into effects: inout [Effect]
  ) {
    arrived.append(bytes)
    serve(now, &effects)
  }

  private mutating func ask(_ entry: Waiting, _ now: Instant, _ effects: inout [Effect]) {
    if let problem = entry.request.problem {
      return effects.append(.failed(entry.id, problem))
    }
    guard end != nil || !isClosing else { return effects.append(.failed(entry.id, .closing)) }
    guard waiting.count < Self.limit else {
      return effects.append(.failed(entry.id, .bufferFull))
    }
    let isFirst = waiting.isEmpty
    waiting.append(entry)
    if isFirst { serve(now, &effects) }
  }

  private mutating func cancel(_ id: RequestID, _ now: Instant, _ effects: inout [Effect]) {
    // The bytes of a read that is not met are still there, so it can be taken back at any time.
    let wasHead = waiting.first?.id == id
    guard waiting.remove(where: { $0.id == id }) != nil else { return }
    effects.append(.failed(id, .cancelled))
    if wasHead { forgetHead() }
  }

  private mutating func answer(
    _ id: RequestID, _ span: TimeSpan?, _ now: Instant, _ effects: inout [Effect]
  ) {
    guard let head = waiting.first, head.id == id, hasExpired else { return }
    hasExpired = false
    if let span, span > .zero {
      nextDeadline = now + span
    } else {
      drop(head)
      effects.append(.failed(id, .timedOut(.read, byteCount: arrived.count)))
    }
  }

  /// Looks at the head: meets it if that can be.
  private mutating func serve(_ now: Instant, _ effects: inout [Effect]) {
    guard isOpen || end != nil, let head = waiting.first else { return }
    if !hasBegun {
      hasBegun = true
      nextDeadline = head.timeout.map { now + $0 }
    }
    guard let result = result(of: head.request) else { return }
    drop(head)
    switch result {
    case .success(let bytes): effects.append(.met(head.id, bytes))
    case .failure(let error): effects.append(.failed(head.id, error))
    }
  }

  private mutating func finish(_ reason: End, _ now: Instant, _ effects: inout [Effect]) {
    guard end == nil else { return }
    end = reason
    while !waiting.isEmpty { serve(now, &effects) }
  }

  private mutating func drop(_ head: Waiting) {
    waiting.popFirst()
    forgetHead()
  }

  private mutating func forgetHead() {
    hasBegun = false
    hasExpired = false
    nextDeadline = nil
    search = nil
    searched = 0
  }

  private mutating func result(of request: ReadRequest) -> Result<[UInt8], ChannelError>? {
    // Not even nothing is met then.
    if case .cause(.closedByUser) = end { return .failure(.closed(.closedByUser)) }
    switch request {
    case .any(let limit):
      if arrived.count > 0 { return .success(arrived.take(min(limit, arrived.count))) }
    case .exactly(let count):
      if arrived.count >= count { return .success(arrived.take(count)) }
    case .until(let terminator, let maximum, let keeps):
      if let length = length(through: terminator, within: maximum) {
        let dropped = keeps ? 0 : terminator.bytes.count
        return .success(arrived.take(length, droppingLast: dropped))
      }
      // By the same byte however the stream is cut.
      if arrived.count >= maximum { return .failure(.terminatorNotFound(maximum: maximum)) }
    }
    switch end {
    case nil: return nil
    case .peer: return .failure(.ended(byteCount: arrived.count))
    case .cause(let cause): return .failure(.closed(cause))
    }
  }

  /// The length of what is there through the first terminator; looks at each byte once.
  private mutating func length(through terminator: Delimiter, within maximum: Int) -> Int? {
    var search = self.search ?? DelimiterSearch(terminator)
    let limit = min(arrived.count, maximum)
    let offset = arrived.read(searched..<limit) { search.next(in: $0) }
    defer { searched = limit }
    self.search = search
    return offset.map { searched + $0 }
  }
}
