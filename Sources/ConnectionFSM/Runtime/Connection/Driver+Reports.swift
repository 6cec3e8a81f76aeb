// What comes from outside: the transport, the credentials provider, the loop's timer.

extension Driver: TransportObserver {
  func transport(_ epoch: Epoch, reports event: TransportEvent) {
    submit(.transport(epoch, event))
  }

  func transport(_ epoch: Epoch, received message: Message) {
    guard !isBusy else { return deferred.append(.message(epoch, message)) }
    deliver(message, from: epoch)
    drain()
  }

  func transport(_ epoch: Epoch, diagnosed error: any Error) {
    for monitor in monitors { monitor.connection(linkOf: epoch, failedWith: error) }
  }
}

extension Driver {
  func deliver(_ message: Message, from epoch: Epoch) {
    // Of the link that counts, or of the one it has replaced and that finishes.
    guard machine.currentEpoch == epoch || machine.standby?.epoch == epoch else { return }
    if let isAnswer = beat?.isAnswer, isAnswer(message) {
      // Not drained here: whoever delivers does that next.
      return deferred.append(.input(.transport(epoch, .pong(lastBeat))))
    }
    let wasHolding = observers.isHolding
    observers.received(message)
    if observers.isHolding != wasHolding { setReceiving(wasHolding) }
  }

  func consumerLeft(_ buffer: MessageBuffer) {
    observers.remove(buffer)
    consumerRelaxed()
  }

  /// A consumer has room again.
  func consumerRelaxed() {
    if observers.stopHolding() { setReceiving(true) }
  }

  func blamesCredentials(_ cause: Cause) -> Bool {
    machine.policy.verdict(on: cause, in: Circumstances()).refreshesCredentials
  }

  func credentialsAnswered(_ epoch: Epoch, _ result: Result<Credentials?, any Error>) {
    let answer: CredentialsAnswer
    switch result {
    case .success(let credentials?):
      desk?.hold(credentials)
      answer = .available
    case .success(nil): answer = .refused
    case .failure: answer = .unavailable
    }
    submit(.credentials(epoch, answer))
    // It came too late, and no link took it.
    desk?.hold(nil)
  }
}

extension Driver: DeadlineHandler {
  func deadlineReached() {
    armedAt = nil
    guard let deadline = machine.nextDeadline, deadline <= loop.now else { return rearm() }
    submit(.deadlineReached)
  }
}
