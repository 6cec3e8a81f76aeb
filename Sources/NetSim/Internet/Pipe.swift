import ConnectionFSM

/// One direction of a connection: what its sender was given, and how far that has come.
///
/// All places count bytes since the connection was made; a FIN takes the place behind the last one
/// (RFC 9293 section 3.4). They never fall back, and
/// `acknowledged ≤ arrived ≤ departed ≤ written (+ 1 for the FIN)`.
struct Pipe: Sendable {
  /// Bytes that are still needed: not acknowledged, or not read.
  private(set) var bytes = ByteQueue()
  /// Sent at least once.
  var departed = 0
  /// Has reached the receiver's system.
  private(set) var arrived = 0
  /// The sender knows that it arrived.
  private(set) var acknowledged = 0
  /// The receiver's program has read it.
  private(set) var read = 0
  /// Nothing is written any more: a FIN follows the last byte.
  private(set) var isFinished = false
  /// How far the receiver lets the sender go, as the sender knows it.
  var edge: Int
  /// Pieces do not overtake each other.
  var lastArrival = Instant.longAgo
  /// What the sender's system has measured; nil before the first measurement.
  var roundTrip: RoundTrip?
  /// The acknowledgement that is being timed, and since when: one at a time, and none of what was
  /// sent twice (RFC 6298 section 3).
  private var timed: (place: Int, since: Instant)?
  /// When what is lost was sent for the first time.
  var lostSince: Instant?
  /// Since when the receiver has had no room, and is asked from time to time.
  var probingSince: Instant?
  /// When the sender's timer is due; nil while it does not run.
  var timer: Instant?
  /// A departure waits for room in the bottleneck.
  var isWaitingForRoom = false
  /// The writer was told that there is no room.
  var writerWaits = false
  /// How far the receiver has told the sender that it may go.
  private(set) var announced: Int
  /// A box on the way has ended this direction: what arrived can be read, and then there is an end.
  var isCutOff = false

  init(window: Int = 0) {
    edge = window
    announced = window
  }

  /// The receiver has told the sender how far it may go.
  mutating func announce(_ edge: Int) { announced = edge }

  /// The receiver is there, and has so much room.
  mutating func open(window: Int) {
    edge = window
    announced = window
  }

  /// Behind the last byte that the sender's program has written.
  var written: Int { bytes.end }

  /// Behind the last byte or the FIN.
  var length: Int { written + (isFinished ? 1 : 0) }

  /// How far the sender may go: a FIN needs no room with the receiver.
  var limit: Int { edge >= written ? length : edge }

  /// How many bytes the reader can have at once.
  var readable: Int { min(arrived, written) - read }

  /// Whether the FIN, or a box's, has arrived.
  var endHasArrived: Bool { isCutOff || isFinished && arrived == length }

  /// Whether something was sent of which the sender does not know that it arrived.
  var isInDoubt: Bool { acknowledged < departed }

  /// Whether the sender has nothing left to worry about.
  var isSettled: Bool { isFinished && acknowledged == length }

  mutating func write(_ new: RawSpan) { bytes.append(new) }

  mutating func finish() { isFinished = true }

  mutating func arrive(through place: Int) { arrived = max(arrived, min(place, departed)) }

  mutating func acknowledge(through place: Int) {
    acknowledged = max(acknowledged, min(place, arrived))
    trim()
  }

  mutating func read(_ count: Int, into buffer: inout MutableRawSpan) {
    bytes.copy(from: read, count: count, into: &buffer)
    skip(count)
  }

  mutating func skip(_ count: Int) {
    read += count
    trim()
  }

  mutating func flip(bit: UInt8, at place: Int) { bytes.flip(bit: bit, at: place) }

  /// What departed last is on its way, and nothing before it is late.
  mutating func startTiming(at now: Instant) {
    if timed == nil { timed = (departed, now) }
  }

  mutating func stopTiming() { timed = nil }

  /// Counts a round trip once the place that is timed is acknowledged.
  mutating func measure(through place: Int, at now: Instant) {
    guard let timed, place >= timed.place else { return }
    let sample = now - timed.since
    if roundTrip == nil { roundTrip = RoundTrip(first: sample) } else { roundTrip?.add(sample) }
    self.timed = nil
  }

  private mutating func trim() { bytes.drop(before: min(acknowledged, read, written)) }
}
