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
    guard hasSession else { return hand(message, of: nil) }
    withSession { session, now, actions in
      session.receive(message, on: epoch, at: now, into: &actions)
    }
  }

  /// Gives a message to the consumers.
  func hand(_ message: Message, of topic: String?) {
    changingHolds { observers.received(message, of: topic) }
  }

  /// Lets the links go on or wait, if the consumers come to want that.
  func changingHolds(_ change: () -> Void) {
    let wasHolding = observers.isHolding
    change()
    if observers.isHolding != wasHolding { setReceiving(wasHolding) }
  }

  func consumerLeft(_ buffer: MessageBuffer) { changingHolds { observers.remove(buffer) } }

  /// A consumer has room again.
  func consumerRelaxed() { changingHolds { observers.lookForRoom() } }

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
    if let deadline = session?.nextDeadline, deadline <= loop.now {
      withSession { session, now, actions in
        session.deadlineReached(at: now, into: &actions)
      }
    }
    guard let deadline = machine.nextDeadline, deadline <= loop.now else { return rearm() }
    submit(.deadlineReached)
  }
}
