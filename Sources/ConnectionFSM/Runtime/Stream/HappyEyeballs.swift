/// The two families of internet addresses. A host may be in reach over one of them alone.
package enum AddressFamily: CaseIterable, Sendable {
  // In the order of preference.
  case version6, version4

  var other: AddressFamily { self == .version6 ? .version4 : .version6 }
}

/// Decides which of a host's addresses is tried when: a race between the address families, in which
/// each attempt has a head start over the next (happy eyeballs version 2, RFC 8305).
///
/// A value without a socket and without a clock, of the shape that everything without input and
/// output has here: what happened goes in, what to do comes out, and one deadline is armed. Inputs
/// of an attempt or a look-up that is over are ignored, and so is everything after the end. Every
/// attempt that was started ends: won, failed, or abandoned.
///
/// The families alternate, version 6 first (section 4, with a first address family count of 1),
/// each in its resolver's own order, which is RFC 6724's. Of several that connect the first one
/// that is heard of wins.
package struct HappyEyeballs<Address: Equatable & Sendable>: Sendable {
  package enum Input: Sendable {
    /// The look-up of a family is over with these addresses; none is no failure.
    case resolved(AddressFamily, [Address])
    /// The look-up of a family has failed.
    case resolutionFailed(AddressFamily, Cause)
    /// The attempt of this number is connected.
    case connected(attempt: Int)
    /// The attempt of this number failed.
    case failed(attempt: Int, Cause)
    /// The time in ``HappyEyeballs/nextDeadline`` has come.
    case deadlineReached
  }

  package enum Effect: Equatable, Sendable {
    /// Start an attempt. One that fails at once is told like any other.
    case connect(attempt: Int, Address)
    /// Let go of an attempt: it has lost.
    case abandon(attempt: Int)
    /// The dial is over: this attempt is the connection.
    case won(attempt: Int)
    /// The dial is over: no address works.
    case fail(Cause)
  }

  private struct Names {
    var isPending = true
    /// What was not tried yet.
    var addresses: [Address] = []
  }

  private let timing: DialTiming
  private var version6 = Names()
  private var version4 = Names()
  /// The attempts of which no end is known, oldest first.
  private var inFlight: [Int] = []
  private var attempts = 0
  private var lastFamily = AddressFamily.version4
  /// When the next attempt may start; nil is at once: none was made, or one has failed since.
  private var nextStart: Instant?
  /// Until when version 4 waits for the look-up of version 6.
  private var head: Instant?
  private var resolveBy: Instant?
  private var connectBy: Instant?
  /// The most hopeful cause of the attempts.
  private var verdict: Cause?
  /// The same of the look-ups.
  private var lookupVerdict: Cause?
  private var isOver = false

  /// When ``Input/deadlineReached`` is wanted; nil while nothing is waited for but inputs.
  package private(set) var nextDeadline: Instant?

  /// Makes a race whose look-ups begin now.
  package init(_ timing: DialTiming, at now: Instant) {
    self.timing = timing
    resolveBy = timing.resolutionLimit.map { now + $0 }
    nextDeadline = resolveBy
  }

  package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
    guard !isOver else { return }
    switch input {
    case .resolved(let family, let addresses):
      guard self[family].isPending else { return }
      self[family] = Names(isPending: false, addresses: addresses)
    case .resolutionFailed(let family, let cause):
      guard self[family].isPending else { return }
      endLookup(family, cause)
    case .connected(let attempt):
      guard inFlight.contains(attempt) else { return }
      inFlight.removeAll { $0 == attempt }
      return end(.won(attempt: attempt), into: &effects)
    case .failed(let attempt, let cause):
      guard let place = inFlight.firstIndex(of: attempt) else { return }
      inFlight.remove(at: place)
      nextStart = nil
      verdict = moreHopeful(verdict, cause)
    case .deadlineReached:
      if let connectBy, now >= connectBy {
        return end(.fail(.timedOut(.connect)), into: &effects)
      }
      if let resolveBy, now >= resolveBy {
        for family in AddressFamily.allCases where self[family].isPending {
          endLookup(family, .timedOut(.resolution))
        }
      }
    }
    startNext(at: now, into: &effects)
    if inFlight.isEmpty, !isResolving, !hasAddress {
      return end(.fail(causeOfAll), into: &effects)
    }
    rearm()
  }
}

// MARK: Steps

extension HappyEyeballs {
  private subscript(family: AddressFamily) -> Names {
    get { family == .version6 ? version6 : version4 }
    set { if family == .version6 { version6 = newValue } else { version4 = newValue } }
  }

  private var isResolving: Bool { version6.isPending || version4.isPending }

  private var hasAddress: Bool { !version6.addresses.isEmpty || !version4.addresses.isEmpty }

  /// Whether the first attempt would be of version 4 while version 6 may still be found.
  private var isHeld: Bool { attempts == 0 && version6.isPending && hasAddress }

  private mutating func endLookup(_ family: AddressFamily, _ cause: Cause) {
    self[family].isPending = false
    lookupVerdict = moreHopeful(lookupVerdict, cause)
  }

  /// Starts the next attempt if there is one and its time has come.
  private mutating func startNext(at now: Instant, into effects: inout [Effect]) {
    if isHeld {
      let end = head ?? now + timing.resolutionDelay
      head = end
      guard now >= end else { return }
    }
    if let nextStart, now < nextStart { return }
    let other = lastFamily.other
    let family = self[other].addresses.isEmpty ? lastFamily : other
    guard !self[family].addresses.isEmpty else { return }
    let address = self[family].addresses.removeFirst()
    if attempts == 0 { connectBy = timing.connectLimit.map { now + $0 } }
    effects.append(.connect(attempt: attempts, address))
    inFlight.append(attempts)
    attempts += 1
    lastFamily = family
    nextStart = now + timing.attemptDelay
  }

  private mutating func end(_ effect: Effect, into effects: inout [Effect]) {
    isOver = true
    nextDeadline = nil
    // Before the winner is told: at no moment are there two connections.
    for loser in inFlight { effects.append(.abandon(attempt: loser)) }
    inFlight = []
    effects.append(effect)
  }

  private mutating func rearm() {
    var earliest = connectBy
    func note(_ deadline: Instant?) {
      guard let deadline else { return }
      earliest = min(earliest ?? deadline, deadline)
    }
    if isHeld { note(head) } else if hasAddress { note(nextStart) }
    if isResolving { note(resolveBy) }
    nextDeadline = earliest
  }
}

// MARK: The verdict

extension HappyEyeballs {
  /// Why no address works. A family that has no address, or cannot be asked for one, hides nothing
  /// that was tried; one whose look-up may succeed another time is a reason to try again.
  private var causeOfAll: Cause {
    guard let verdict else { return lookupVerdict ?? .resolution(.unknownName) }
    guard let lookupVerdict, rank(lookupVerdict) < 2, rank(lookupVerdict) < rank(verdict) else {
      return verdict
    }
    return lookupVerdict
  }

  /// The earlier one among equals.
  private func moreHopeful(_ first: Cause?, _ second: Cause) -> Cause {
    guard let first, rank(first) <= rank(second) else { return second }
    return first
  }

  /// The most hopeful cause speaks for all: terminal only if it is so for all addresses, and the
  /// network's fault only if none failed in another passing way: version 6 without a route is
  /// normal.
  private func rank(_ cause: Cause) -> Int {
    if case .resolution(.unknownName) = cause { return 2 }
    return switch cause.failureClass {
    case .transient: 0
    case .network: 1
    case .terminal: 3
    }
  }
}
