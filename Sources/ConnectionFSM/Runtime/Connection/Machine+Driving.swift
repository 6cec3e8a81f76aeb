// What a driver asks of its machine with every message. As mutating getters, though they change
// nothing: a getter of a class's stored value has all of it copied first.

extension Machine {
  /// The phase and the attempt that counts.
  var situation: Situation {
    mutating get { Situation(phase: phase, epoch: hasLink ? link.epoch : nil) }
  }

  /// The epoch of the attempt that counts; nil without one.
  var currentEpoch: Epoch? {
    @inline(__always) mutating get { hasLink ? link.epoch : nil }
  }

  /// Whether a lane would take a message of that size just now; one that it never takes is not held
  /// back.
  mutating func hasRoom(for byteCount: UInt32, in id: LaneID) -> Bool {
    let terms = policy.lanes[Int(id.rawValue)]
    if link.stage != .open, rejection != nil || terms.admission == .whileOpen { return false }
    guard let lane = queue[Int(id.rawValue)] else { return true }
    return byteCount > terms.byteLimit
      || lane.count < terms.countLimit && byteCount <= lane.bytesLeft
  }

  /// What consumers of states hear changes of.
  struct Situation: Equatable {
    let phase: Phase
    let epoch: Epoch?
  }
}
