import Synchronization

/// What callers ask of a connection, from anywhere: carried out on its loop, in the order of the
/// calls.
///
/// One piece of the loop's work carries out all that has come in, so that messages which are sent
/// close together travel in one write.
final class Commands: Sendable {
  private struct State {
    var waiting: [Command] = []
    /// Work that will take what waits is with the loop.
    var isScheduled = false
  }

  private let loop: any EventLoop
  private let state = Mutex(State())

  init(loop: any EventLoop) { self.loop = loop }

  /// Gives a command to the driver; refuses it, on the caller's thread, if the loop has stopped.
  func give(_ command: Command, to driver: Driver) {
    let isFirst = state.withLock { state in
      state.waiting.append(command)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    guard isFirst, !loop.execute({ driver.carryOutCommands() }) else { return }
    // Others may have come in behind the first, and rely on its work.
    var refused: [Command] = []
    take(into: &refused)
    for command in refused { command.refuse() }
  }

  /// Exchanges what has come in for the given empty array.
  func take(into batch: inout [Command]) {
    state.withLock { state in
      state.isScheduled = false
      swap(&state.waiting, &batch)
    }
  }
}

/// One call of a caller.
enum Command: Sendable {
  case offer(Offer)
  case cancel(SendTicket)
  /// Anything rarer. Refused in its place where the loop has stopped.
  case perform(@Sendable (Driver) -> Void, orElse: (@Sendable () -> Void)? = nil)

  func refuse() {
    switch self {
    // Nothing is left that could take it.
    case .offer(let offer): offer.completion?(.failure(.closed))
    case .cancel: break
    case .perform(_, let refuse): refuse?()
    }
  }
}

/// A message on its way to its lane.
struct Offer: Sendable {
  typealias Completion = @Sendable (Result<Outcome, Rejection>) -> Void

  let message: Message
  let lane: LaneID
  /// Needed by few.
  var ticket: SendTicket?
  var completion: Completion?
}

/// What is known of a message beside its bytes; so its sender may take it back. Confined to the
/// loop, like the driver.
final class SendTicket: @unchecked Sendable {
  /// What a later message of the same key replaces while this one waits.
  let key: String?
  var id: MessageID?
  /// Its number in the lane's outbox.
  var number: UInt64?
  /// Its id as a request.
  var request: UInt64?
  var isCancelled = false

  init(key: String? = nil, number: UInt64? = nil) {
    self.key = key
    self.number = number
  }
}
