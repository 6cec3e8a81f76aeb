/// What whoever thinks up inputs must know of a machine: read once for all inputs that are tried,
/// since each question from another module copies the whole machine.
package struct Bearings: Sendable {
  /// The live messages of a lane that can be meant by an input.
  package struct Messages: Sendable {
    package var waiting = 0
    package var inFlight = 0
    package var oldestInFlight: MessageID?
    package var newestInFlight: MessageID?
    package var oldestWaiting: MessageID?
    package var newestWaiting: MessageID?
  }

  package let phase: Phase
  /// The last instant seen.
  package let clock: Instant
  package let nextDeadline: Instant?
  /// The attempt that counts: the one whose link lives, else the newest.
  package let current: Epoch
  /// The attempt beside it in a replacement.
  package let standby: Epoch?
  package let newest: Epoch
  /// The first of the endpoints that the application wants to go to.
  package let destination: EndpointID
  /// Of the first two lanes.
  package let messages: (Messages, Messages)
}

extension Machine {
  /// What whoever thinks up inputs must know.
  package var bearings: Bearings {
    Bearings(
      phase: phase, clock: now, nextDeadline: nextDeadline,
      current: hasLink ? link.epoch : lastEpoch, standby: standby?.epoch, newest: lastEpoch,
      destination: endpoints.first, messages: (messages(in: 0), messages(in: 1)))
  }

  private func messages(in lane: Int) -> Bearings.Messages {
    var messages = Bearings.Messages()
    guard let lane = queue[lane], lane.count > 0 else { return messages }
    messages.waiting = Int(lane.waiting)
    messages.inFlight = Int(lane.inFlight)
    if lane.inFlight > 0 {
      messages.oldestInFlight = lane[0].id
      messages.newestInFlight = lane[lane.inFlight - 1].id
    }
    if lane.waiting > 0 {
      messages.oldestWaiting = lane[lane.inFlight].id
      messages.newestWaiting = lane[lane.count - 1].id
    }
    return messages
  }
}
