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

  /// The step that this move is for a machine with these bearings; nil where there is nothing of
  /// the kind.
  @inline(__always)
  func step(from bearings: Bearings, scale: Scale) -> Step? {
    let now = bearings.clock
    switch self {
    case .wish(let wish): return Step(input: wish.input(from: bearings, scale), instant: now)
    case .message(let wish, let lane):
      return wish.input(from: bearings, lane: lane).map { Step(input: $0, instant: now) }
    case .condition(let condition): return Step(input: condition.input, instant: now)
    case .time(let passage): return passage.step(from: bearings, scale)
    case .answer(let answer, let attempt):
      return attempt.epoch(from: bearings).map { Step(input: answer.input($0), instant: now) }
    case .report(let report, let lane, let attempt):
      guard let epoch = attempt.epoch(from: bearings),
        let id = report.message(from: bearings, lane: lane)
      else { return nil }
      return Step(input: .transport(epoch, report.event(through: id)), instant: now)
    }
  }
}

extension Move.Attempt {
  @inline(__always)
  func epoch(from bearings: Bearings) -> Epoch? {
    switch self {
    case .current: return bearings.current
    case .standby: return bearings.standby
    case .past:
      // At most two are not over.
      var past = bearings.newest
      while past.rawValue > 0, past == bearings.current || past == bearings.standby {
        past = Epoch(past.rawValue - 1)
      }
      return past
    case .unborn: return Epoch(bearings.newest.rawValue + 1)
    }
  }
}

extension Move.Wish {
  func input(from bearings: Bearings, _ scale: Scale) -> Input {
    let first = bearings.destination
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
  func step(from bearings: Bearings, _ scale: Scale) -> Step? {
    let now = bearings.clock
    let sleep = TimeSpan(nanoseconds: scale.unit.nanoseconds * 100_000)
    // An answer that nobody waits for does nothing but show what time it is.
    let nothing = Input.transport(Epoch(.max), .opened)
    switch self {
    case .timePasses: return Step(input: nothing, instant: now + scale.unit)
    case .longSleep: return Step(input: nothing, instant: now + sleep)
    case .timer: return Step(input: .deadlineReached, instant: now)
    case .dueTimer:
      return bearings.nextDeadline.map { Step(input: .deadlineReached, instant: max($0, now)) }
    case .lateTimer:
      return bearings.nextDeadline.map {
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

extension Bearings {
  @inline(__always)
  fileprivate func messages(in lane: UInt8) -> Messages { lane == 0 ? messages.0 : messages.1 }
}

extension Move.MessageWish {
  func input(from bearings: Bearings, lane: UInt8) -> Input? {
    let messages = bearings.messages(in: lane)
    let id = LaneID(lane)
    switch self {
    case .offer: return .offer(id, byteCount: 1)
    case .offerLarge: return .offer(id, byteCount: 2)
    case .offerTooLarge: return .offer(id, byteCount: .max)
    case .cancelOldestWaiting: return messages.oldestWaiting.map { .cancel($0) }
    case .cancelNewestWaiting:
      return messages.waiting < 2 ? nil : messages.newestWaiting.map { .cancel($0) }
    case .cancelInFlight: return messages.oldestInFlight.map { .cancel($0) }
    case .cancelOver: return .cancel(MessageID(lane: id, sequence: 0))
    case .growWaiting: return messages.oldestWaiting.map { .resized($0, byteCount: 2) }
    case .shrinkWaiting: return messages.oldestWaiting.map { .resized($0, byteCount: 1) }
    case .growInFlight: return messages.oldestInFlight.map { .resized($0, byteCount: 2) }
    }
  }
}

extension Move.Report {
  /// The message that is reported; nil where there is none of the kind.
  func message(from bearings: Bearings, lane: UInt8) -> MessageID? {
    let messages = bearings.messages(in: lane)
    switch self {
    case .writtenOldest, .acknowledgedOldest: return messages.oldestInFlight
    case .writtenAll, .acknowledgedAll:
      return messages.inFlight < 2 ? nil : messages.newestInFlight
    case .writtenTooMuch, .acknowledgedTooMuch: return messages.newestWaiting
    case .writtenOver, .acknowledgedOver: return MessageID(lane: LaneID(lane), sequence: 0)
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
