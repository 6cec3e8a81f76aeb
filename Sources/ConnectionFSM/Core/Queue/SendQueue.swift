/// The pending-send queue: up to four lanes, inline, the first served first.
struct SendQueue: Sendable {
  static let laneLimit = 4

  // Four properties, because the lanes must lie inside the machine: an array would put even an
  // unused queue on the heap.
  private var lane0 = LaneQueue()
  private var lane1 = LaneQueue()
  private var lane2 = LaneQueue()
  private var lane3 = LaneQueue()

  subscript(lane: Int) -> LaneQueue {
    _read {
      switch lane {
      case 0: yield lane0
      case 1: yield lane1
      case 2: yield lane2
      default: yield lane3
      }
    }
    _modify {
      switch lane {
      case 0: yield &lane0
      case 1: yield &lane1
      case 2: yield &lane2
      default: yield &lane3
      }
    }
  }
}

// MARK: What the machine asks of it

extension SendQueue {
  /// Takes a message or turns it away; may evict older ones.
  mutating func offer(
    _ id: LaneID, byteCount: UInt32, at now: Instant, lanes: [Lane], into effects: inout Effects
  ) -> Disposition {
    let index = Int(id.rawValue)
    guard index < lanes.count else { return .rejected(.noSuchLane) }
    let lane = lanes[index]
    guard byteCount <= lane.byteLimit else { return .rejected(.tooLarge) }
    if self[index].count >= lane.countLimit || self[index].byteCount > lane.byteLimit - byteCount {
      guard lane.overflow == .dropOldest,
        let evictions = self[index].evictionsNeeded(for: byteCount, in: lane)
      else { return .rejected(.full) }
      effects.append(self[index].dropWaiting(evictions), in: id, else: .evicted)
    }
    return .taken(MessageID(lane: id, sequence: self[index].append(byteCount: byteCount, at: now)))
  }

  /// Gives waiting messages to the link, lane by lane, as far as the windows admit.
  mutating func launch(on epoch: Epoch, lanes: [Lane], into effects: inout Effects) {
    for index in lanes.indices {
      if let launched = self[index].launch(window: lanes[index].window) {
        effects.append(.transmit(epoch, MessageRange(launched, in: LaneID(UInt8(index)))))
      }
    }
  }

  /// Ends what the transport reported of a lane with the given promise; false if it ended nothing.
  mutating func settle(
    through id: MessageID, promise: Lane.Delivery, as outcome: Outcome, lanes: [Lane],
    into effects: inout Effects
  ) -> Bool {
    let index = Int(id.lane.rawValue)
    guard index < lanes.count, lanes[index].delivery == promise,
      let settled = self[index].settle(through: id.sequence)
    else { return false }
    effects.append(.settle(MessageRange(settled, in: id.lane), outcome))
    return true
  }

  /// The link is gone: at-most-once messages in flight are in doubt, at-least-once ones wait again.
  mutating func linkEnded(lanes: [Lane], into effects: inout Effects) {
    for index in lanes.indices {
      switch lanes[index].delivery {
      case .atLeastOnce: self[index].returnToWaiting()
      case .atMostOnce:
        if let lost = self[index].settleInFlight() {
          effects.append(.settle(MessageRange(lost, in: LaneID(UInt8(index))), .inDoubt))
        }
      }
    }
  }

  /// Takes one waiting message back; false if it does not wait.
  mutating func cancel(_ id: MessageID, lanes: [Lane], into effects: inout Effects) -> Bool {
    let index = Int(id.lane.rawValue)
    guard index < lanes.count, let ended = self[index].cancel(id.sequence) else { return false }
    effects.append(ended, in: id.lane, else: .cancelled)
    return true
  }

  /// Takes every waiting message back.
  mutating func cancelWaiting(lanes: [Lane], into effects: inout Effects) {
    for index in lanes.indices {
      let ended = self[index].dropWaiting(self[index].waiting)
      effects.append(ended, in: LaneID(UInt8(index)), else: .cancelled)
    }
  }

  /// Ends every message there is.
  mutating func endAll(lanes: [Lane], into effects: inout Effects) {
    for index in lanes.indices {
      effects.append(self[index].removeAll(), in: LaneID(UInt8(index)), else: .cancelled)
    }
  }

  /// Ends the waiting messages whose time to live has passed.
  mutating func expire(at now: Instant, lanes: [Lane], into effects: inout Effects) {
    for index in lanes.indices {
      guard let timeToLive = lanes[index].timeToLive else { continue }
      let offered = Instant(nanoseconds: now.nanoseconds - timeToLive.nanoseconds)
      let ended = self[index].expire(offeredThrough: offered)
      effects.append(ended, in: LaneID(UInt8(index)), else: .expired)
    }
  }

  /// When the next waiting message expires.
  func nextExpiry(lanes: [Lane]) -> Instant? {
    var next: Instant?
    for index in lanes.indices where self[index].waiting > 0 {
      guard let timeToLive = lanes[index].timeToLive,
        let since = self[index].oldestWaitingSince
      else { continue }
      let expiry = since + timeToLive
      if next == nil || expiry < next! { next = expiry }  // next was just seen not to be nil
    }
    return next
  }
}

extension Effects {
  /// Never-sent and in-doubt are different words: what some transport was given before is in doubt,
  /// whatever ends the rest.
  fileprivate mutating func append(_ ended: Ended, in lane: LaneID, else outcome: Outcome) {
    if let everSent = ended.everSent {
      append(.settle(MessageRange(everSent, in: lane), .inDoubt))
    }
    if let neverSent = ended.neverSent {
      append(.settle(MessageRange(neverSent, in: lane), outcome))
    }
  }
}

extension MessageRange {
  fileprivate init(_ sequences: ClosedRange<UInt64>, in lane: LaneID) {
    self.init(
      MessageID(lane: lane, sequence: sequences.lowerBound),
      MessageID(lane: lane, sequence: sequences.upperBound))
  }
}

extension SendQueue: Equatable {}

#if !hasFeature(Embedded)
  extension SendQueue: Hashable {
    func hash(into hasher: inout Hasher) {
      for lane in 0..<Self.laneLimit { hasher.combine(self[lane]) }
    }
  }
#endif
