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
    case connect, connectElsewhere, close
  }

  package enum MessageWish: CaseIterable, Sendable {
    case offer, offerLarge, offerTooLarge, cancelOldestWaiting, cancelNewestWaiting, cancelInFlight
    /// One that has ended, or never was.
    case cancelOver
  }

  package enum Condition: CaseIterable, Sendable {
    case demand, noDemand, foreground, background, suspended, pathUnknown, pathUp, pathDown
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
    case received, pong, blocked, writable
    case sessionReady, sessionRefused
  }

  package enum Report: CaseIterable, Sendable {
    case writtenOldest, writtenAll, writtenTooMuch, writtenOver
    case acknowledgedOldest, acknowledgedAll, acknowledgedTooMuch, acknowledgedOver
  }

  /// Which attempt is meant.
  package enum Attempt: CaseIterable, Sendable {
    /// The newest there was.
    case newest
    /// The one before it.
    case older
    /// One that never was.
    case unborn
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
  func step(for machine: inout Machine, unit: TimeSpan) -> Step? {
    let now = machine.clock
    switch self {
    case .wish(let wish): return Step(input: wish.input(for: &machine), instant: now)
    case .message(let wish, let lane):
      return wish.input(for: &machine, lane: lane).map { Step(input: $0, instant: now) }
    case .condition(let condition): return Step(input: condition.input, instant: now)
    case .time(let passage): return passage.step(for: &machine, unit: unit)
    case .answer(let answer, let attempt):
      return Step(input: answer.input(attempt.epoch(for: &machine)), instant: now)
    case .report(let report, let lane, let attempt):
      let id = report.message(of: &machine, lane: LaneID(lane))
      return id.map {
        Step(
          input: .transport(attempt.epoch(for: &machine), report.event(through: $0)), instant: now)
      }
    }
  }
}

extension Move.Attempt {
  func epoch(for machine: inout Machine) -> Epoch {
    let newest = machine.newestEpoch.rawValue
    switch self {
    case .newest: return Epoch(newest)
    case .older: return Epoch(newest &- 1)
    case .unborn: return Epoch(newest &+ 1)
    }
  }
}

extension Move.Wish {
  func input(for machine: inout Machine) -> Input {
    switch self {
    case .connect: .connect(machine.destination)
    case .connectElsewhere: .connect(EndpointID(machine.destination.rawValue ^ 1))
    case .close: .close
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
    }
  }
}

extension Move.Passage {
  func step(for machine: inout Machine, unit: TimeSpan) -> Step? {
    let now = machine.clock
    let sleep = TimeSpan(nanoseconds: unit.nanoseconds * 100_000)
    // An answer that nobody waits for does nothing but show what time it is.
    let nothing = Input.transport(Epoch(.max), .opened)
    switch self {
    case .timePasses: return Step(input: nothing, instant: now + unit)
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
    case .sessionReady: .session(epoch, .ready)
    case .sessionRefused: .session(epoch, .refused)
    }
  }
}

extension Move.MessageWish {
  func input(for machine: inout Machine, lane: UInt8) -> Input? {
    let lane = LaneID(lane)
    let (waiting, inFlight) = machine.pendingCount(in: lane)
    switch self {
    case .offer: return .offer(lane, byteCount: 1)
    case .offerLarge: return .offer(lane, byteCount: 2)
    case .offerTooLarge: return .offer(lane, byteCount: .max)
    case .cancelOldestWaiting:
      return waiting == 0 ? nil : .cancel(machine.message(inFlight, in: lane))
    case .cancelNewestWaiting:
      return waiting < 2 ? nil : .cancel(machine.message(inFlight + waiting - 1, in: lane))
    case .cancelInFlight: return inFlight == 0 ? nil : .cancel(machine.message(0, in: lane))
    case .cancelOver: return .cancel(MessageID(lane: lane, sequence: 0))
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
