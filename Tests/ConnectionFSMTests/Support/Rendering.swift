import ConnectionFSM

// Short words for inputs' answers and effects, so that an expectation reads like a sentence:
// "abort 2, ended 2 timedOut(connect), a1 inDoubt".

func render(_ disposition: Disposition) -> String {
  switch disposition {
  case .accepted: "accepted"
  case .taken(let id): "taken \(render(id))"
  case .rejected(let reason): "rejected(\(reason))"
  case .ignored(let reason): "\(reason)"
  }
}

/// Lanes are letters, so lane 0's first message is a1.
func render(_ id: MessageID) -> String {
  "\(["a", "b", "c", "d"][Int(id.lane.rawValue)])\(id.sequence)"
}

func render(_ range: MessageRange) -> String {
  range.first == range.last
    ? render(range.first) : "\(render(range.first))-\(render(range.last))"
}

func render(_ cause: Cause) -> String {
  switch cause {
  case .unsupportedEndpoint: "unsupportedEndpoint"
  case .closedByPeer(let code): "closedByPeer\(code.map { "(\($0.rawValue))" } ?? "")"
  case .timedOut(let which): "timedOut(\(which))"
  case .system(let error): "\(error)"
  case .resolution(let error): "\(error)"
  case .tls, .http, .loading: "\(cause)"
  case .slowConsumer, .closedByUser, .replaced, .pathLost, .protocolError, .truncated,
    .sessionRefused, .credentialsRefused, .credentialsUnavailable, .suspended, .pathChanged,
    .localAddressLost:
    "\(cause)"
  }
}

func render(_ effect: Effect) -> String {
  switch effect {
  case .requestCredentials(let epoch): "credentials \(epoch.rawValue)"
  case .openTransport(let epoch, let endpoint): "dial \(epoch.rawValue) @\(endpoint.rawValue)"
  case .startSession(let epoch, let resuming):
    "\(resuming ? "resume" : "session") \(epoch.rawValue)"
  case .closeTransport(let epoch): "close \(epoch.rawValue)"
  case .abortTransport(let epoch): "abort \(epoch.rawValue)"
  case .sendPing(let epoch, let number): "ping \(epoch.rawValue) #\(number)"
  case .sendBeat(let epoch, let number): "beat \(epoch.rawValue) #\(number)"
  case .transmit(let epoch, let range): "send \(epoch.rawValue) \(render(range))"
  case .settle(let range, let outcome): "\(render(range)) \(outcome)"
  case .ended(let epoch, let cause): "ended \(epoch.rawValue) \(render(cause))"
  case .pressureChanged(let lanes): "pressure \(letters(lanes))"
  }
}

/// Some lanes by their letters; nothing, if there are none.
func letters(_ lanes: LaneSet) -> String {
  zip(["a", "b", "c", "d"], UInt8(0)...).filter { lanes.contains(LaneID($0.1)) }.map(\.0).joined()
}

func render(_ effects: some Sequence<Effect>) -> String {
  effects.map { render($0) }.joined(separator: ", ")
}
