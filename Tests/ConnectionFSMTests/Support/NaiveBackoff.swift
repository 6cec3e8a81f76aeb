import ConnectionFSM

/// The bookkeeping of retries as anyone would write it: whole nanoseconds, loops, a bucket that is
/// filled by hand.
///
/// Written from the promise of ``Backoff``, ``RetryBudget`` and ``Policy/minimumDialSpacing`` alone;
/// it shares nothing with the core. Without jitter, so that every wait is known.
struct NaiveBackoff {
  enum Growth {
    case constant, linear, doubling
    case steps([Int])
  }

  struct Rules {
    var growth: Growth
    var first: Int
    var base: Int
    var cap: Int
    var stability: Int
    var attemptLimit: Int?
    var elapsedLimit: Int?
    var spacing: Int
    var burst: Int?
    var refill = 0
  }

  enum Situation: Equatable {
    case resting, exhausted, dialling, open
    case waiting(until: Int)
  }

  let rules: Rules
  private(set) var situation = Situation.resting
  private(set) var dials = 0
  private var attempts = 0
  private var networkFailures = 0
  private var otherFailures = 0
  private var spent = 0
  private var lastDial: Int?
  private var openedAt = 0
  /// Credit in nanoseconds: `refill` of it is one dial.
  private var credit: Int
  private var creditAt = 0

  init(_ rules: Rules) {
    self.rules = rules
    credit = (rules.burst ?? 0) * rules.refill
  }

  private mutating func fill(at now: Int) {
    guard let burst = rules.burst else { return }
    credit = min(burst * rules.refill, credit + now - creditAt)
    creditAt = now
  }

  private mutating func forget() {
    (attempts, networkFailures, otherFailures, spent) = (0, 0, 0, 0)
  }

  private mutating func dial(at now: Int) {
    (attempts, dials, lastDial, situation) = (attempts + 1, dials + 1, now, .dialling)
  }

  /// False where there is nothing to connect.
  mutating func connect(at now: Int) -> Bool {
    if situation == .dialling || situation == .open { return false }
    forget()
    dial(at: now)
    return true
  }

  mutating func open(at now: Int) { (situation, openedAt) = (.open, now) }

  mutating func rest() { situation = .resting }

  /// The network went and came back under an open link.
  mutating func flap() { networkFailures = 0 }

  mutating func fail(isNetwork: Bool, at now: Int) {
    if situation == .open, now - openedAt >= rules.stability {
      forget()
    } else {
      spent += now - (lastDial ?? now)
    }
    if let limit = rules.attemptLimit, attempts >= limit {
      situation = .exhausted
      return
    }
    if let limit = rules.elapsedLimit, spent >= limit {
      situation = .exhausted
      return
    }
    let wait = step(networkFailures + otherFailures)
    if isNetwork { networkFailures += 1 } else { otherFailures += 1 }
    let until = max(now + wait, earliest(at: now))
    spent += until - now
    situation = .waiting(until: until)
  }

  private mutating func earliest(at now: Int) -> Int {
    fill(at: now)
    var earliest = now
    if let lastDial { earliest = max(earliest, lastDial + rules.spacing) }
    if rules.burst != nil { earliest = max(earliest, now + rules.refill - credit) }
    return earliest
  }

  /// The wait is over.
  mutating func retry(at now: Int) {
    fill(at: now)
    if rules.burst != nil { credit -= rules.refill }
    dial(at: now)
  }

  private func step(_ failures: Int) -> Int {
    switch rules.growth {
    case .steps(let steps): return min(steps[min(failures, steps.count - 1)], rules.cap)
    case .constant: return min(failures == 0 ? rules.first : rules.base, rules.cap)
    case .linear: return min(failures == 0 ? rules.first : rules.base * (failures + 1), rules.cap)
    case .doubling:
      if failures == 0 { return min(rules.first, rules.cap) }
      var step = rules.base
      for _ in 0..<failures where step < rules.cap { step *= 2 }
      return min(step, rules.cap)
    }
  }
}
