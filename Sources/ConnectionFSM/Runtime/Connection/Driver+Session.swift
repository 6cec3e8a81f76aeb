// What the session adds to messages, topics and requests.

/// Tells whoever waits for the answer to a request.
typealias RequestCompletion = @Sendable (Result<Message, RequestError>) -> Void

extension Driver {
  /// A message in the words in which the peer is to get it.
  func worded(_ offer: Offer, _ id: MessageID, on epoch: Epoch) -> Message {
    guard let session else { return offer.message }
    if let request = offer.ticket?.request { self.session?.requestGiven(request, to: epoch) }
    guard offer.lane == numberedLane else { return offer.message }
    return session.dialect.number(offer.message, as: offer.ticket?.number ?? id.sequence)
  }

  /// The peer has our messages up to that number.
  func acknowledged(through number: UInt64, on epoch: Epoch) {
    guard let lane = numberedLane else { return }
    let isMeant = { (offer: Offer, sequence: UInt64) in (offer.ticket?.number ?? sequence) <= number
    }
    guard let id = payloads.lastID(in: lane, while: isMeant) else { return }
    submit(.transport(epoch, .acknowledged(through: id)))
  }
}

// MARK: What it decides

extension Driver {
  /// Lets the session decide, and does what it wants; behind the transition, if one is running.
  func withSession(_ body: (inout Session, Instant, inout [SessionAction]) -> Void) {
    guard session != nil else { return }
    body(&session!, loop.now, &actions)  // There is one, as the line above has seen.
    if !isBusy { carryOutActions() }
  }

  func carryOutActions() {
    guard !actions.isEmpty, !isBusy else { return }
    while !actions.isEmpty {
      let wanted = actions
      actions.removeAll(keepingCapacity: true)
      for action in wanted { carryOut(action) }
    }
    rearm()
  }

  private func carryOut(_ action: SessionAction) {
    switch action {
    case .send(let epoch, let message): say(message, on: epoch)
    case .report(let epoch, let event): transition(.session(epoch, event)) { _ in }
    case .deliver(let message, let topic): hand(message, of: topic)
    case .acknowledged(let epoch, let number): acknowledged(through: number, on: epoch)
    case .answered(let id, let message): answer(id, .success(message))
    case .requestFailed(let id, .timedOut): answer(id, .failure(.timedOut))
    case .requestFailed(let id, .linkLost): answer(id, .failure(.linkLost))
    case .topicRefused(let topic, let reason):
      changingHolds { observers.refuse(topic, because: reason) }
    }
  }

  private func say(_ message: Message, on epoch: Epoch) {
    guard transport.admits(message) else {
      transport.abort(epoch)
      return transition(.transport(epoch, .failed(.protocolError))) { _ in }
    }
    isBusy = true
    transport.send(message, id: nil, on: epoch, more: false)
    isBusy = false
  }
}

// MARK: Topics

extension Driver {
  func subscribe(_ buffer: MessageBuffer, to topic: String) {
    guard session != nil else { return buffer.finish(throwing: .noSession) }
    observers.add(buffer, of: topic)
    withSession { session, now, actions in
      session.subscribe(to: topic, at: now, into: &actions)
    }
  }

  func unsubscribe(_ buffer: MessageBuffer, from topic: String) {
    // One that the peer refused is not wanted any more.
    var wasSubscribed = false
    changingHolds { wasSubscribed = observers.remove(buffer, of: topic) }
    guard wasSubscribed else { return }
    withSession { session, now, actions in
      session.unsubscribe(from: topic, at: now, into: &actions)
    }
  }
}

// MARK: Requests

extension Driver {
  func request(
    _ message: Message, in lane: LaneID, timeout: TimeSpan, ticket: SendTicket,
    completion: @escaping RequestCompletion
  ) {
    guard let dialect = session?.dialect else { return completion(.failure(.noSession)) }
    guard !ticket.isCancelled else { return completion(.failure(.cancelled)) }
    let survivesLink =
      Int(lane.rawValue) < machine.policy.lanes.count
      && machine.policy.lanes[Int(lane.rawValue)].delivery == .atLeastOnce
    guard
      let id = session?.beginRequest(
        timeout: timeout, survivesLink: survivesLink, at: loop.now)
    else { return completion(.failure(.tooMany)) }
    requests[id] = completion
    ticket.request = id
    var offer = Offer(message: dialect.request(message, id: id), lane: lane)
    offer.ticket = ticket
    offer.completion = { [self] result in
      switch result {
      case .success(.written), .success(.acknowledged): break
      // The session tells that, if nobody has answered before.
      case .success(.inDoubt): end(id, .linkLost)
      case .success(.cancelled) where ticket.isCancelled: end(id, .cancelled)
      case .success(let outcome): end(id, .notSent(outcome))
      case .failure(let rejection): end(id, .rejected(rejection))
      }
    }
    self.offer(offer)
    rearm()
  }

  /// The request has no answer, and will have none.
  func end(_ id: UInt64, _ error: RequestError) {
    session?.endRequest(id)
    answer(id, .failure(error))
  }

  func answer(_ id: UInt64, _ result: Result<Message, RequestError>) {
    requests.removeValue(forKey: id)?(result)
  }
}

/// Why a request has no answer.
public enum RequestError: Error, Equatable, Sendable {
  /// The connection has no session, whose dialect would know a request's answer.
  case noSession
  /// As many requests wait for their answers as may (``SessionSettings/requestLimit``).
  case tooMany
  /// The message was turned away at the door.
  case rejected(Rejection)
  /// The message ended in its lane and was never sent.
  case notSent(Outcome)
  /// The link ended that carried it. The peer may have acted on it or not.
  case linkLost
  /// No answer came in time. The peer may have acted on it or not.
  case timedOut
  /// The task was cancelled. If the request was sent, the peer may have acted on it or not.
  case cancelled
}
