import Synchronization

/// A limit on how fast connections dial, all together (F55): so many at once, then one in each
/// interval, first come first served. Connections on several loops may share one.
///
/// Servers count per address: Coinbase takes 750 connects in 10 s from one, and a process whose
/// thousand connections lose their server dials a thousand times at once. In any window of length W
/// a limiter lets at most burst + W / interval dials begin. So a rule of 750 in 10 s is kept by a
/// burst of 250 and an interval of 20 ms: 250 + 10 s / 20 ms = 750.
///
/// A singleton for a process is three lines of its own:
///
/// ```swift
/// extension DialLimiter {
///   static let exchange = DialLimiter(burst: 250, interval: .milliseconds(20))
/// }
/// ```
///
/// and each connection one more:
///
/// ```swift
/// let transport = LimitedTransport(try .webSocket("wss://feed.example.com"), by: .exchange)
/// let connection = try Connection(transport, policy: policy)
/// ```
///
/// **The time in line counts** towards ``Policy/connectDeadline``, since to its owner a connection
/// that waits for its turn is one that does not come. If N connections line up at once the last has
/// its turn after (N − burst) · interval: with the values above, 10,000 connections take 195 s.
/// With a shorter deadline those who wait in vain withdraw, back off and join the line anew, at its
/// end, and who is let through has hardly any time left to connect. So let the deadline be longer
/// than that, or grow to it: ``Policy/connectDeadlineLimit`` doubles it for whoever was cut.
///
/// It has no thread and no timer of its own: whoever is first in line is woken by its own loop.
public final class DialLimiter: Sendable {
  private struct State: Sendable {
    var line: DialLine<DialTurn>
    /// For whom somebody wakes, or is told to.
    var watched: UInt64?
    /// Loops have origins of their own, so one of them tells the time to all while it lives.
    weak var clock: (any EventLoop)?
    /// The latest instant that was told.
    var now = Instant.origin
  }

  private let state: Mutex<State>

  /// Makes a limit.
  /// - Parameters:
  ///   - burst: How many dials may begin at once after a rest; below 1 counts as 1.
  ///   - interval: The time in which another dial is allowed; zero, or below, is no limit.
  public init(burst: Int, interval: TimeSpan) {
    state = Mutex(State(line: DialLine(burst: burst, interval: interval)))
  }

  /// Whether anyone is in line at this moment.
  package var isAnyoneWaiting: Bool { state.withLock { $0.line.first != nil } }
}

// MARK: The line

extension DialLimiter {
  /// Puts a dial in line, on its loop; if its turn has come, it is performed inside the call.
  func join(_ turn: DialTurn) {
    state.withLock { turn.number = $0.line.join(turn) }
    serve(on: turn.loop, clock: turn.loop)
  }

  /// Takes a dial out of the line, on its loop.
  func withdraw(_ turn: DialTurn) {
    turn.disarm()
    leave(turn, on: turn.loop)
  }

  /// The first in line was to be woken now.
  fileprivate func woke(for turn: DialTurn) {
    state.withLock { if $0.watched == turn.number { $0.watched = nil } }
    serve(on: turn.loop, clock: turn.loop)
  }

  /// The loop of the first in line has stopped, and nobody else would wake.
  fileprivate func lost(_ turn: DialTurn) { leave(turn, on: nil) }

  private func leave(_ turn: DialTurn, on loop: (any EventLoop)?) {
    let wasWatched = state.withLock { state in
      state.line.withdraw(turn.number)
      guard state.watched == turn.number else { return false }
      state.watched = nil
      return true
    }
    if wasWatched { serve(on: loop, clock: turn.loop) }
  }

  /// Lets go whose turn has come, and sees to it that the next one wakes.
  /// - Parameter loop: Where this runs, if on a loop.
  private func serve(on loop: (any EventLoop)?, clock: any EventLoop) {
    while let (turn, wait) = step(clock) {
      guard let wait else {
        if turn.loop === loop { turn.take() } else { turn.loop.execute { turn.take() } }
        continue
      }
      if turn.loop === loop { return turn.arm(after: wait, for: self) }
      if turn.loop.execute({ self.watch(turn) }) { return }
      // Its loop has stopped, and its connection with it.
      state.withLock { state in
        state.line.withdraw(turn.number)
        state.watched = nil
      }
    }
  }

  /// Who is to be let go of, or who is to wake and in what time; nil if somebody wakes already.
  private func step(_ loop: any EventLoop) -> (turn: DialTurn, wait: TimeSpan?)? {
    let clock = clock(or: loop)
    let now = clock.now
    return state.withLock { state in
      state.now = max(state.now, now)
      if let turn = state.line.next(at: state.now) {
        // Nobody was watched but the first, who has gone.
        state.watched = nil
        return (turn, nil)
      }
      guard let (number, turn) = state.line.first, state.watched != number,
        let deadline = state.line.nextDeadline
      else { return nil }
      state.watched = number
      return (turn, deadline - state.now)
    }
  }

  /// The first in line is to wake, on its loop.
  private func watch(_ turn: DialTurn) {
    let now = clock(or: turn.loop).now
    let wait = state.withLock { state in
      // Whoever withdrew it has looked after the next.
      state.line.first?.number == turn.number ? state.line.nextDeadline.map { $0 - now } : nil
    }
    if let wait { turn.arm(after: wait, for: self) }
  }

  /// The loop that tells the time, outside of the lock: its end may lead back here.
  private func clock(or loop: any EventLoop) -> any EventLoop {
    let now = loop.now
    return state.withLock { state in
      if let clock = state.clock { return clock }
      // How long ago the last one told the time nobody knows: as if it were now. Too strict, never
      // too lax.
      state.line.move(by: now - state.now)
      state.now = now
      state.clock = loop
      return loop
    }
  }
}

/// A dial in line. Confined to its loop, but for its number, which the limiter's lock guards.
final class DialTurn: @unchecked Sendable {
  let loop: any EventLoop
  fileprivate(set) var number: UInt64 = 0
  private let dial: () -> Void
  private var isOver = false
  private weak var alarm: Alarm?

  init(on loop: any EventLoop, dial: @escaping () -> Void) {
    self.loop = loop
    self.dial = dial
  }

  fileprivate func take() {
    guard !isOver else { return }
    isOver = true
    dial()
  }

  fileprivate func arm(after wait: TimeSpan, for limiter: DialLimiter) {
    let alarm = Alarm(self, limiter)
    self.alarm = alarm
    loop.arm(alarm, at: loop.now + wait)
  }

  fileprivate func disarm() {
    isOver = true
    guard let alarm else { return }
    alarm.isDone = true
    loop.arm(alarm, at: nil)
  }

  /// Held by the loop alone, so that its end tells that the loop has stopped.
  private final class Alarm: DeadlineHandler {
    private let turn: DialTurn
    private let limiter: DialLimiter
    var isDone = false

    init(_ turn: DialTurn, _ limiter: DialLimiter) {
      self.turn = turn
      self.limiter = limiter
    }

    deinit { if !isDone { limiter.lost(turn) } }

    func deadlineReached() {
      isDone = true
      limiter.woke(for: turn)
    }
  }
}
