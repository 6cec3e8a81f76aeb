package import ConnectionFSM

/// One kind of thing that can happen to a machine next: the vocabulary of explorations and walks.
///
/// A move names no number: which attempt, message or instant it means follows from the machine, so
/// that machines of equal form have equal moves.
package enum Move: Hashable, Sendable {
  /// The application wishes something.
  case wish(Wish)
  /// The application offers a message to a lane, or takes one back.
  case message(MessageWish, lane: UInt8)
  /// The device or its network changes.
  case condition(Condition)
  /// Time goes on, or the timer fires.
  case time(Passage)
  /// Somebody answers an attempt.
  case answer(Answer, to: Attempt)
  /// The transport of an attempt reports on a message of a lane.
  case report(Report, lane: UInt8, of: Attempt)

  package enum Wish: CaseIterable, Sendable {
    case connect, connectElsewhere, close, drain
  }

  package enum MessageWish: CaseIterable, Sendable {
    case offer, offerLarge, offerTooLarge
    case cancelOldestWaiting, cancelNewestWaiting, cancelInFlight, cancelOver
    case growWaiting, shrinkWaiting, growInFlight
  }

  package enum Condition: CaseIterable, Sendable {
    case demand, noDemand, foreground, background, suspended
    case pathUnknown, pathUp, pathDown, pathOnWire, pathOnRadio, pathConstrained
  }

  package enum Passage: CaseIterable, Sendable {
    /// One unit of time, in which nothing that counts happens.
    case timePasses
    /// More time than any span of the policy.
    case longSleep
    /// The timer fires now: too early, in time, or late.
    case timer
    /// The timer fires in time.
    case dueTimer
    /// The timer fires after a long sleep.
    case lateTimer
  }

  package enum Answer: CaseIterable, Sendable {
    case credentials, noCredentials, credentialsRefused
    case opened, failed, networkFailed, failedWithCap, failedForGood
    case closed, closedToRefresh, closedWithDelay
    case received, pong, blocked, writable, notViable, viable, drainRequested, betterPath
    case sessionReady, sessionResumed, resumeRefused
    case sessionDenied, sessionCredentialsRefused, sessionUnavailable
  }

  package enum Report: CaseIterable, Sendable {
    case writtenOldest, writtenAll, writtenTooMuch, writtenOver
    case acknowledgedOldest, acknowledgedAll, acknowledgedTooMuch, acknowledgedOver
  }

  /// Which attempt is meant.
  package enum Attempt: CaseIterable, Sendable {
    /// The one that counts: its link lives, or it waits for credentials; else the last there was.
    case current
    /// The link beside it in a replacement.
    case standby
    /// One that is over.
    case past
    /// One that never was.
    case unborn
  }
}

/// What moves stand for in a slice.
package struct Scale: Sendable {
  /// The unit of time.
  package let unit: TimeSpan
  /// How many endpoints each connect names.
  package let endpoints: UInt8

  package init(unit: TimeSpan, endpoints: UInt8) {
    self.unit = unit
    self.endpoints = endpoints
  }
}

/// An input and when it comes.
package struct Step: Sendable, CustomStringConvertible {
  /// What happens.
  package let input: Input
  /// When.
  package let instant: Instant

  package var description: String { "\(instant) \(input)" }
}

extension Move {
  /// What the code of the exploration's own delay stands for: see ``Slice``.
  static let delayCode = CloseCode(4001)

  /// The step that this move is for a machine as it stands; nil where there is nothing of the kind.
  @inline(__always)
  func step(for machine: inout Machine, scale: Scale) -> Step? {
    let now = machine.clock
    switch self {
    case .wish(let wish): return Step(input: wish.input(for: &machine, scale), instant: now)
    case .message(let wish, let lane):
      return wish.input(for: &machine, lane: LaneID(lane)).map { Step(input: $0, instant: now) }
    case .condition(let condition): return Step(input: condition.input, instant: now)
    case .time(let passage): return passage.step(for: &machine, scale)
    case .answer(let answer, let attempt):
      return attempt.epoch(for: &machine).map { Step(input: answer.input($0), instant: now) }
    case .report(let report, let lane, let attempt):
      guard let epoch = attempt.epoch(for: &machine),
        let id = report.message(of: &machine, lane: LaneID(lane))
      else { return nil }
      return Step(input: .transport(epoch, report.event(through: id)), instant: now)
    }
  }
}

extension Move.Attempt {
  @inline(__always)
  func epoch(for machine: inout Machine) -> Epoch? {
    let newest = machine.newestEpoch
    switch self {
    case .current: return machine.primary?.epoch ?? newest
    case .standby: return machine.standby?.epoch
    case .past:
      // At most three are not over: two links, and one that waits for credentials.
      var past = newest.rawValue
      while past > 0,
        past == machine.primary?.epoch.rawValue ?? newest.rawValue
          || past == machine.standby?.epoch.rawValue
      {
        past -= 1
      }
      return Epoch(past)
    case .unborn: return Epoch(newest.rawValue + 1)
    }
  }
}

extension Move.Wish {
  func input(for machine: inout Machine, _ scale: Scale) -> Input {
    let first = EndpointID(machine.destinations.lowerBound)
    // Far enough for no list to reach it.
    let other = EndpointID(first.rawValue ^ 0x80)
    switch self {
    case .connect: return .connect(first, count: scale.endpoints)
    case .connectElsewhere: return .connect(other, count: scale.endpoints)
    case .close: return .close
    case .drain: return .drain
    }
  }
}

extension Move.Condition {
  var input: Input {
    switch self {
    case .demand: .demandChanged(true)
    case .noDemand: .demandChanged(false)
    case .foreground: .lifecycleChanged(.foreground)
    case .background: .lifecycleChanged(.background)
    case .suspended: .lifecycleChanged(.suspended)
    case .pathUnknown: .pathChanged(.unknown)
    case .pathUp: .pathChanged(.up)
    case .pathDown: .pathChanged(.down)
    case .pathOnWire: .pathChanged(Path(.up, interface: 1))
    case .pathOnRadio: .pathChanged(Path(.up, interface: 2))
    case .pathConstrained: .pathChanged(Path(.up, interface: 2, isConstrained: true))
    }
  }
}

extension Move.Passage {
  func step(for machine: inout Machine, _ scale: Scale) -> Step? {
    let now = machine.clock
    let sleep = TimeSpan(nanoseconds: scale.unit.nanoseconds * 100_000)
    // An answer that nobody waits for does nothing but show what time it is.
    let nothing = Input.transport(Epoch(.max), .opened)
    switch self {
    case .timePasses: return Step(input: nothing, instant: now + scale.unit)
    case .longSleep: return Step(input: nothing, instant: now + sleep)
    case .timer: return Step(input: .deadlineReached, instant: now)
    case .dueTimer:
      return machine.nextDeadline.map { Step(input: .deadlineReached, instant: max($0, now)) }
    case .lateTimer:
      return machine.nextDeadline.map {
        Step(input: .deadlineReached, instant: max($0, now) + sleep)
      }
    }
  }
}

extension Move.Answer {
  func input(_ epoch: Epoch) -> Input {
    switch self {
    case .credentials: .credentials(epoch, .available)
    case .noCredentials: .credentials(epoch, .unavailable)
    case .credentialsRefused: .credentials(epoch, .refused)
    case .opened: .transport(epoch, .opened)
    case .failed: .transport(epoch, .failed(.system(.connectionReset)))
    case .networkFailed: .transport(epoch, .failed(.system(.networkUnreachable)))
    case .failedWithCap: .transport(epoch, .failed(.protocolError))
    case .failedForGood: .transport(epoch, .failed(.system(.accessDenied)))
    case .closed: .transport(epoch, .closed(nil))
    case .closedToRefresh: .transport(epoch, .closed(CloseCode(1008)))
    case .closedWithDelay: .transport(epoch, .closed(Move.delayCode))
    case .received: .transport(epoch, .received(byteCount: 1))
    case .pong: .transport(epoch, .pong(1))
    case .blocked: .transport(epoch, .writabilityChanged(false))
    case .writable: .transport(epoch, .writabilityChanged(true))
    case .notViable: .transport(epoch, .viabilityChanged(false))
    case .viable: .transport(epoch, .viabilityChanged(true))
    case .drainRequested: .transport(epoch, .drainRequested)
    case .betterPath: .transport(epoch, .betterPathAvailable)
    case .sessionReady: .session(epoch, .ready)
    case .sessionResumed: .session(epoch, .resumed)
    case .resumeRefused: .session(epoch, .resumeRefused)
    case .sessionDenied: .session(epoch, .refused(.denied))
    case .sessionCredentialsRefused: .session(epoch, .refused(.credentials))
    case .sessionUnavailable: .session(epoch, .refused(.unavailable))
    }
  }
}

extension Move.MessageWish {
  func input(for machine: inout Machine, lane: LaneID) -> Input? {
    let (waiting, inFlight) = machine.pendingCount(in: lane)
    let oldest = machine.message(inFlight, in: lane)
    switch self {
    case .offer: return .offer(lane, byteCount: 1)
    case .offerLarge: return .offer(lane, byteCount: 2)
    case .offerTooLarge: return .offer(lane, byteCount: .max)
    case .cancelOldestWaiting: return oldest.map { .cancel($0) }
    case .cancelNewestWaiting:
      return waiting < 2
        ? nil : machine.message(inFlight + waiting - 1, in: lane).map { .cancel($0) }
    case .cancelInFlight:
      return inFlight == 0 ? nil : machine.message(0, in: lane).map { .cancel($0) }
    case .cancelOver: return .cancel(MessageID(lane: lane, sequence: 0))
    case .growWaiting: return oldest.map { .resized($0, byteCount: 2) }
    case .shrinkWaiting: return oldest.map { .resized($0, byteCount: 1) }
    case .growInFlight:
      return inFlight == 0 ? nil : machine.message(0, in: lane).map { .resized($0, byteCount: 2) }
    }
  }
}

extension Move.Report {
  /// The message that is reported; nil where there is none of the kind.
  func message(of machine: inout Machine, lane: LaneID) -> MessageID? {
    let (waiting, inFlight) = machine.pendingCount(in: lane)
    switch self {
    case .writtenOldest, .acknowledgedOldest:
      return inFlight == 0 ? nil : machine.message(0, in: lane)
    case .writtenAll, .acknowledgedAll:
      return inFlight < 2 ? nil : machine.message(inFlight - 1, in: lane)
    case .writtenTooMuch, .acknowledgedTooMuch:
      return waiting == 0 ? nil : machine.message(inFlight + waiting - 1, in: lane)
    case .writtenOver, .acknowledgedOver: return MessageID(lane: lane, sequence: 0)
    }
  }

  func event(through id: MessageID) -> TransportEvent {
    switch self {
    case .writtenOldest, .writtenAll, .writtenTooMuch, .writtenOver: .written(through: id)
    case .acknowledgedOldest, .acknowledgedAll, .acknowledgedTooMuch, .acknowledgedOver:
      .acknowledged(through: id)
    }
  }
}
