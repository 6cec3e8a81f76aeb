import ConnectionFSM

// What becomes a row.

extension SequenceDiagram {
  mutating func draw(_ record: TraceRecord) {
    let ignored = record.disposition.remark
    switch record.input {
    case .connect, .close, .drain, .demandChanged, .lifecycleChanged, .pathChanged,
      .policyReplaced:
      say("\(record.input)\(ignored)", record)
    case .offer:
      switch record.disposition {
      case .taken(let id) where !record.transmits(id): say("message \(id) waits", record)
      case .rejected(let reason): say("message turned away: \(reason)", record)
      case .taken, .accepted, .ignored: return
      }
    case .cancel, .resized:
      if !ignored.isEmpty { say("\(record.input)\(ignored)", record) }
    case .deadlineReached: return
    case .credentials(let epoch, let answer): say("\(epoch) credentials \(answer)", record)
    case .session(let epoch, let event): hear("\(epoch) \(event)\(ignored)", record)
    case .transport(let epoch, let event): draw(event, of: epoch, record, ignored)
    }
  }

  private mutating func draw(
    _ event: TransportEvent, of epoch: Epoch, _ record: TraceRecord, _ ignored: String
  ) {
    switch event {
    case .failed(let cause):
      let words = "\(epoch) failed: \(cause)\(ignored)"
      if cause.isTold { hear(words, record) } else { say(words, record) }
    case .received(let byteCount):
      arrival = (rows.count, epoch, record.instant)
      rows.append(Row(record.instant, .toClient("\(epoch) \(byteCount) bytes\(ignored)")))
    case .pong, .acknowledged:
      // The bytes that this came in need no row of their own; on a real clock they are told of a
      // moment before.
      if let arrival, arrival.row == rows.count - 1, arrival.epoch == epoch,
        record.instant - arrival.instant < .milliseconds(1), rows[arrival.row].phase == nil
      {
        rows.removeLast()
        self.arrival = nil
      }
      hear("\(record.input)\(ignored)", record)
    case .opened, .closed, .drainRequested: hear("\(record.input)\(ignored)", record)
    case .written: return
    case .writabilityChanged, .viabilityChanged, .betterPathAvailable:
      say("\(record.input)\(ignored)", record)
    }
  }

  mutating func draw(_ effect: Effect, of record: TraceRecord) {
    switch effect {
    case .requestCredentials(let epoch): say("\(epoch) asks for credentials", record)
    case .openTransport(let epoch, let endpoint):
      forget(before: epoch)
      ask(.dial, of: epoch, "dial \(endpoint)", at: record.instant)
    case .startSession(let epoch, let resuming):
      ask(.session, of: epoch, resuming ? "resume session" : "login", at: record.instant)
    case .closeTransport(let epoch): ask(.close, of: epoch, "close", at: record.instant)
    case .sendPing(let epoch, let number):
      ask(.ping(number), of: epoch, "ping \(number)", at: record.instant)
    case .sendBeat(let epoch, let number):
      ask(.ping(number), of: epoch, "beat \(number)", at: record.instant)
    case .transmit(let epoch, let range):
      let noun = range.first == range.last ? "message" : "messages"
      ask(.messages(range), of: epoch, "\(noun) \(range)", at: record.instant)
    case .settle(let range, let outcome):
      switch outcome {
      case .written: noteWritten(range)
      case .acknowledged: return
      case .expired, .evicted, .cancelled: say("message \(range) \(outcome)", record)
      case .inDoubt: say("message \(range) in doubt: it may have arrived, or not", record)
      }
    case .ended(let epoch, let cause):
      lose(epoch)
      if record.input.epoch != epoch { say("lets go of \(epoch): \(cause)", record) }
    case .abortTransport, .pressureChanged: return
    }
  }

  /// What the machine waits for in a phase that no arrow explains.
  mutating func drawWait(_ record: TraceRecord) {
    switch record.to {
    case .backingOff:
      guard let until = record.explanation.until else { return }
      say("next dial in \((until - record.instant).spoken)", record)
    case .offline, .suspended, .waitingForCredentials:
      say("waits for: \(record.explanation.waitsFor)", record)
    case .closed:
      guard case .closed(let closed)? = record.entered else { return }
      switch closed.reason {
      case .requested: say("at rest, as the application wished", record)
      case .terminal: say("at rest: another try would fail alike", record)
      case .exhausted: say("at rest: gave up", record)
      }
    case .idle, .connecting, .authenticating, .open, .closing: return
    }
  }

  private mutating func say(_ words: String, _ record: TraceRecord) {
    rows.append(Row(record.instant, .word(words)))
  }

  private mutating func hear(_ words: String, _ record: TraceRecord) {
    rows.append(Row(record.instant, .toClient(words)))
  }
}

extension TraceRecord {
  fileprivate func transmits(_ id: MessageID) -> Bool {
    effects.contains { effect in
      if case .transmit(_, let range) = effect { return range.contains(id) }
      return false
    }
  }
}

extension Disposition {
  /// ` (ignored: stale epoch)`; nothing where the input counted.
  fileprivate var remark: String {
    switch self {
    case .accepted, .taken: ""
    case .rejected(let reason): " (rejected: \(reason))"
    case .ignored(.staleEpoch): " (ignored: too late)"
    case .ignored(.early): " (ignored: too early)"
    case .ignored(.redundant): " (nothing new)"
    }
  }
}

extension Cause {
  /// Whether a packet brought the news; the rest the client's own system found out.
  var isTold: Bool {
    switch self {
    case .closedByPeer, .protocolError, .truncated, .tls, .http, .sessionRefused: true
    case .system(let error): error == .connectionRefused || error == .connectionReset
    case .closedByUser, .replaced, .suspended, .pathChanged, .localAddressLost, .pathLost,
      .timedOut, .resolution, .unsupportedEndpoint, .loading, .slowConsumer, .credentialsRefused,
      .credentialsUnavailable:
      false
    }
  }
}
