// What the application wants, in the order in which it said so.

extension Driver {
  func connect(to list: [Endpoint]) {
    if list != endpoints {
      // Ids of a list follow each other, and none is used for another endpoint.
      firstEndpoint = EndpointID(firstEndpoint.rawValue &+ UInt32(max(endpoints.count, 1)))
      endpoints = list
    }
    submit(.connect(firstEndpoint, count: UInt8(clamping: list.count)))
  }

  func endpoint(_ id: EndpointID) -> Endpoint {
    // A machine dials only what it was told to connect to.
    endpoints[Int(id.rawValue &- firstEndpoint.rawValue)]
  }

  /// Dials anew at once, whatever the machine does now, if a connection is wanted.
  func reconnect() {
    guard !endpoints.isEmpty, machine.wanted else { return }
    if let link = machine.primary, !link.isEnding {
      transport.abort(link.epoch)
      submit(.transport(link.epoch, .failed(.replaced)))
    }
    connect(to: endpoints)
  }

  func close(draining: Bool, completion: @escaping () -> Void) {
    submit(draining ? .drain : .close)
    whenClosed(completion)
  }

  /// Replaces the policy; the door has seen to it that the lanes are the same.
  func adopt(_ policy: Policy) {
    guard (try? machine.take(policy)) != nil else { return }
    submit(.policyReplaced)
  }

  /// Lets go of everything at once: the connection is being released.
  func shutDown() {
    isReleased = true
    submit(.close)
    if let link = machine.primary {
      transport.abort(link.epoch)
      submit(.transport(link.epoch, .failed(.closedByUser)))
    }
    // Another process, or the next connection, goes on with what the outbox holds.
    for offer in outbox?.removeAll() ?? [] { offer.completion?(.success(.inDoubt)) }
    for id in requests.keys.sorted() { answer(id, .failure(.linkLost)) }
    observers.finish()
  }
}

// MARK: Messages

extension Driver {
  func offer(_ offer: Offer) {
    if let ticket = offer.ticket, ticket.isCancelled {
      offer.completion?(.success(.cancelled))
      return
    }
    guard transport.admits(offer.message) else {
      offer.completion?(.failure(.notEncodable))
      return
    }
    if outbox?.lane == offer.lane { return keep(offer) }
    if let key = offer.ticket?.key, let id = keyed[LaneKey(lane: offer.lane, key: key)],
      replace(id, with: offer)
    {
      return
    }
    submit(offer)
  }

  /// Takes a message back: before it is offered, or while it waits.
  func cancel(_ ticket: SendTicket) {
    ticket.isCancelled = true
    if let id = ticket.id {
      submit(.cancel(id))
    } else if let offer = outbox?.remove(ticket), let number = ticket.number {
      outbox?.outbox.forget(number)
      offer.completion?(.success(.cancelled))
    }
    // The request may be with the peer already; nobody waits for its answer any more.
    if let request = ticket.request { end(request, .cancelled) }
  }

  /// The message of a key has ended; a later one may have it already.
  func forget(_ key: String, of id: MessageID) {
    let key = LaneKey(lane: id.lane, key: key)
    if keyed[key] == id { keyed[key] = nil }
  }
}

// MARK: The outbox

extension Driver {
  /// Keeps a message first; its lane takes it once it is safe.
  private func keep(_ offer: Offer) {
    // Strongly: whoever waits for the message hears of it, also when the connection is gone.
    outbox?.outbox.keep(offer.message) { [self] result in
      let isRunning = loop.execute { self.kept(offer, result) }
      if !isRunning { offer.completion?(.success(.inDoubt)) }
    }
  }

  private func kept(_ offer: Offer, _ result: Result<UInt64, OutboxError>) {
    var offer = offer
    switch result {
    case .success(let number):
      let ticket = offer.ticket ?? SendTicket()
      ticket.number = number
      offer.ticket = ticket
      if ticket.isCancelled {
        outbox?.outbox.forget(number)
        offer.completion?(.success(.cancelled))
        return
      }
      guard !isReleased else {
        offer.completion?(.success(.inDoubt))
        return
      }
      outbox?.add(offer)
      offerKept()
    case .failure(.full): offer.completion?(.failure(.full))
    case .failure(.tooLarge): offer.completion?(.failure(.tooLarge))
    case .failure(.store): offer.completion?(.failure(.notKept))
    }
  }

  /// Gives the lane of the outbox what it has room for, in order.
  func offerKept() {
    while let offer = outbox?.first, let number = offer.ticket?.number,
      machine.hasRoom(for: UInt32(clamping: offer.message.bytes.count), in: offer.lane)
    {
      outbox?.removeFirst()
      // What an earlier process kept can be larger than the lane of today.
      if !submit(offer) { outbox?.outbox.forget(number) }
    }
  }

  /// Decides what an end means to the outbox.
  /// - Returns: True if the message has not ended: it waits for the next connect.
  func keepsMessage(_ offer: Offer, _ number: UInt64, endedAs outcome: Outcome) -> Bool {
    // Also where a connect has followed the close, and the next dial comes with its end.
    let isOver =
      phaseBefore == .closing || machine.phase == .closing || machine.phase == .closed
    if isOver, outcome == .inDoubt || outcome == .cancelled && offer.ticket?.isCancelled != true {
      offer.ticket?.id = nil
      outbox?.add(offer)
      return true
    }
    outbox?.outbox.forget(number)
    return false
  }
}
