/// What a transition costs at least: a `switch` over state and event of a small enum machine,
/// written out by hand, without epochs, deadlines, queue or reasons. The yardstick of the bench.
struct BareMachine {
  enum State { case closed, connecting, open, backingOff }
  enum Event { case connect, opened, failed, timer, received }
  enum Effect {
    case none, dial
    case wait(UInt64)
    case ping
  }

  private(set) var state = State.closed
  private var failures: UInt64 = 0

  @inline(never)
  mutating func handle(_ event: Event) -> Effect {
    switch (state, event) {
    case (.closed, .connect), (.backingOff, .timer):
      state = .connecting
      return .dial
    case (.connecting, .opened):
      state = .open
      failures = 0
      return .none
    case (.connecting, .failed), (.open, .failed):
      state = .backingOff
      failures &+= 1
      return .wait(min(1000 << min(failures, 6), 60_000))
    case (.open, .timer): return .ping
    default: return .none
    }
  }

  /// A life of eight events, without end.
  static let life: [Event] = [
    .opened, .received, .timer, .received, .failed, .timer, .failed, .timer,
  ]
}
