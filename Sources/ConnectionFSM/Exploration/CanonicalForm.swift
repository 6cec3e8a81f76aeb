/// What of a situation decides over its future, folded into 128 bits: two situations of equal form
/// behave equally, apart from the names of epochs and messages.
///
/// Made for explorations, whose policies count in single nanoseconds, so that every fact fits into
/// a few bits. Facts are packed into words one after the other, and each full word is mixed in;
/// that two of a billion forms fall together by accident has a chance below 10⁻²⁰.
package struct CanonicalForm: Sendable {
  /// 128 bits that stand for a form.
  package struct Fingerprint: Hashable, BitwiseCopyable, Sendable {
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
      self.low = low
      self.high = high
    }
  }

  /// What the machine calls its attempts and where it wants to go, for whoever speaks of them too.
  package struct Names: Sendable {
    package var now = Instant.origin
    package var newest = Epoch(0)
    package var primary: Epoch?
    package var standby: Epoch?
    package var destinations: ClosedRange<UInt32> = 0...0
  }

  /// Set by the machine, which is added first.
  package internal(set) var names = Names()
  /// From when on the past is one value, and where counts stop to matter.
  package let limits: Limits

  private var low: UInt64 = 0x243F_6A88_85A3_08D3
  private var high: UInt64 = 0x1319_8A2E_0370_7344
  private var word: UInt64 = 0
  private var bitCount = 0

  package init(limits: Limits) { self.limits = limits }

  /// Adds a number that fits into so many bits.
  package mutating func add(_ number: Int, bits: Int) {
    add(UInt64(bitPattern: Int64(number)), bits)
  }

  @inline(__always)
  mutating func add(_ number: some FixedWidthInteger, bits: Int) {
    add(UInt64(truncatingIfNeeded: number), bits)
  }

  @inline(__always)
  private mutating func add(_ number: UInt64, _ bits: Int) {
    precondition(number >> UInt64(bits) == 0, "a fact is too large for its place in the form")
    if bitCount + bits > 64 { mix() }
    word = word << UInt64(bits) | number
    bitCount += bits
  }

  /// Adds a fact that is so or not.
  package mutating func add(_ fact: Bool) { add(fact ? 1 : 0, 1) }

  /// Adds how long ago something was, or that it was longer ago than matters.
  package mutating func add(_ instant: Instant, before now: Instant, limit: TimeSpan) {
    add(min(now - instant, limit))
  }

  /// Adds a span that is not negative and at most 255 ns; those of a policy for explorations are.
  package mutating func add(_ span: TimeSpan) { add(UInt64(bitPattern: span.nanoseconds), 8) }

  /// Adds how long until something is, or that it has been.
  package mutating func add(_ instant: Instant, after now: Instant) {
    add(max(instant - now, .zero))
  }

  /// Adds how long until something is planned; all that is far away is alike, and so is never.
  mutating func add(_ instant: Instant, orNeverAfter now: Instant) {
    add(instant == .never ? TimeSpan(nanoseconds: 255) : min(max(instant - now, .zero), .far))
  }

  /// Adds which of the machine's attempts it is.
  package mutating func add(_ epoch: Epoch) {
    add(epoch == names.primary ? 0 : epoch == names.standby ? 1 : 2, bits: 2)
  }

  /// The form of all that was added.
  package mutating func fingerprint() -> Fingerprint {
    mix()
    return Fingerprint(low: low ^ high >> 32, high: high)
  }

  // Multiply and fold, as hashes of the wyhash family do; two chains with different constants.
  @inline(__always)
  private mutating func mix() {
    let one = (low ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    let other = (high ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    low = one.high ^ one.low ^ UInt64(bitCount)
    high = other.high ^ other.low &+ low
    word = 0
    bitCount = 0
  }
}

extension CanonicalForm {
  /// What of a policy bounds how far back a fact matters.
  package struct Limits: Sendable {
    let connect: TimeSpan
    let close: TimeSpan
    let drain: TimeSpan
    let session: TimeSpan
    let credentials: TimeSpan
    let probe: TimeSpan
    let debounce: TimeSpan
    let spacing: TimeSpan
    let stability: TimeSpan
    let silence: TimeSpan
    let pong: TimeSpan
    let beat: TimeSpan
    // Nil where there is no such limit, and what it bounds is only reported.
    let elapsed: TimeSpan?
    let patience: TimeSpan?
    let backgroundGrace: TimeSpan?
    let idleGrace: TimeSpan?
    let attempts: UInt32?
    /// From so many failures on every wait is drawn alike.
    let failures: UInt32
    /// From so many on the connect deadline grows no more.
    let connectTimeouts: UInt8
    /// Whether a wait depends on the one before.
    let remembersWaits: Bool
    let hasBudget: Bool
    let resumes: Bool
    let learns: Bool

    package init(policy: Policy) {
      connect = max(policy.connectDeadline, policy.connectDeadlineLimit ?? .zero)
      close = policy.closeDeadline
      drain = policy.drainDeadline
      session = policy.sessionDeadline ?? .zero
      credentials = policy.credentialsDeadline ?? .zero
      probe = policy.path.probeInterval
      debounce = policy.path.debounce
      spacing = policy.minimumDialSpacing
      // The grace of a background counts from the open as well.
      stability = max(policy.backoff.stability, policy.lifecycle.backgroundGrace ?? .zero)
      let interval = policy.heartbeat?.interval.nanoseconds ?? 0
      silence = TimeSpan(nanoseconds: interval * Int64(policy.heartbeat?.stretch ?? 100) / 100)
      // A verdict that is late by the patience itself counts as late, and a later one is no other.
      let patience = max(policy.heartbeat?.timeout ?? .zero, policy.beat?.answerTimeout ?? .zero)
      pong = patience + patience
      beat = policy.beat?.interval ?? .zero
      elapsed = policy.backoff.elapsedLimit
      self.patience = policy.patience?.fastFor
      backgroundGrace = policy.lifecycle.backgroundGrace
      idleGrace = policy.lifecycle.idleGrace
      attempts = policy.backoff.attemptLimit
      let backoff = policy.backoff
      // A table has 16 steps, and small spans meet the cap long before.
      let last = backoff.step(afterFailures: 300)
      failures = (1...300).last { backoff.step(afterFailures: $0 - 1) != last } ?? 1
      let longest = policy.connectDeadline(afterTimeouts: 32)
      connectTimeouts =
        (1...32).last { policy.connectDeadline(afterTimeouts: $0 - 1) != longest } ?? 0
      remembersWaits = backoff.jitter == .decorrelated || backoff.firstJitter == .decorrelated
      hasBudget = policy.retryBudget != nil
      resumes = policy.resumeWindow != nil
      learns = policy.heartbeat?.shortestInterval != nil
    }
  }
}

extension TimeSpan {
  /// Longer than any span of a policy for explorations.
  fileprivate static let far = TimeSpan(nanoseconds: 254)
}
