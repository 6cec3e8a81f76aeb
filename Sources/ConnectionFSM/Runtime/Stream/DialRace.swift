/// Runs a ``HappyEyeballs`` race on a loop: keeps its sockets and arms its deadline, for dialers
/// that can connect.
package final class DialRace<Address: Equatable & Sendable, Socket> {
  /// How an attempt, or the whole race, went.
  package enum Outcome {
    case connected(Socket)
    case failed(Cause)
  }

  private let loop: any EventLoop
  private let connect: (Address) -> Outcome
  private let abandon: (Socket) -> Void
  private let over: (Outcome) -> Void
  private var race: HappyEyeballs<Address>
  private var running: [(attempt: Int, socket: Socket)] = []
  private var armedAt: Instant?

  /// Makes a race whose look-ups begin now. The loop retains it while it is armed: what the
  /// closures need of their stream they hold weakly.
  /// - Parameters:
  ///   - connect: Starts an attempt; a socket that is on its way counts as connected here.
  ///   - abandon: Closes a socket that has lost.
  ///   - over: Hears how the race ended, once; the winner's socket is the hearer's.
  package init(
    _ timing: DialTiming, on loop: any EventLoop, connect: @escaping (Address) -> Outcome,
    abandon: @escaping (Socket) -> Void, over: @escaping (Outcome) -> Void
  ) {
    self.loop = loop
    self.connect = connect
    self.abandon = abandon
    self.over = over
    race = HappyEyeballs(timing, at: loop.now)
    rearm()
  }

  /// The sockets that are on their way, oldest first.
  package var sockets: [Socket] { running.map(\.socket) }

  /// The look-up of a family is over.
  package func resolved(_ family: AddressFamily, _ addresses: [Address]) {
    handle(.resolved(family, addresses))
  }

  /// The look-up of a family has failed.
  package func resolutionFailed(_ family: AddressFamily, _ cause: Cause) {
    handle(.resolutionFailed(family, cause))
  }

  /// That socket is connected.
  package func connected(where isIt: (Socket) -> Bool) {
    guard let attempt = running.first(where: { isIt($0.socket) })?.attempt else { return }
    handle(.connected(attempt: attempt))
  }

  /// That socket's attempt has failed; the caller has closed it.
  package func failed(_ cause: Cause, where isIt: (Socket) -> Bool) {
    guard let place = running.firstIndex(where: { isIt($0.socket) }) else { return }
    handle(.failed(attempt: running.remove(at: place).attempt, cause))
  }

  /// Ends the race without a word: closes what is on its way and arms nothing more.
  package func cancel() {
    let sockets = sockets
    running = []
    disarm()
    for socket in sockets { abandon(socket) }
  }

  private func handle(_ input: HappyEyeballs<Address>.Input) {
    let now = loop.now
    var effects: [HappyEyeballs<Address>.Effect] = []
    var outcome: Outcome?
    race.handle(input, at: now, into: &effects)
    var place = 0
    while place < effects.count {
      switch effects[place] {
      case .connect(let attempt, let address):
        switch connect(address) {
        case .connected(let socket): running.append((attempt, socket))
        case .failed(let cause):
          race.handle(.failed(attempt: attempt, cause), at: now, into: &effects)
        }
      case .abandon(let attempt): take(attempt).map(abandon)
      case .won(let attempt): outcome = take(attempt).map { .connected($0) }
      case .fail(let cause): outcome = .failed(cause)
      }
      place += 1
    }
    rearm()
    if let outcome { over(outcome) }
  }

  private func take(_ attempt: Int) -> Socket? {
    running.firstIndex { $0.attempt == attempt }.map { running.remove(at: $0).socket }
  }

  private func rearm() {
    let next = race.nextDeadline
    guard next != armedAt else { return }
    armedAt = next
    loop.arm(self, at: next)
  }

  private func disarm() {
    guard armedAt != nil else { return }
    armedAt = nil
    loop.arm(self, at: nil)
  }
}

extension DialRace: DeadlineHandler {
  package func deadlineReached() {
    armedAt = nil
    handle(.deadlineReached)
  }
}
