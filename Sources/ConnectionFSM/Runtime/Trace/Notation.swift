// How inputs, effects and the rest are written in traces, tables and messages: one notation for
// people and programs. `#3` is an epoch, `0:7` a message (lane 0, sequence 7), `0:7...9` a range.
//
extension Instant: CustomStringConvertible {
  /// Seconds with as many decimals as there are, at least three.
  public var description: String { TimeSpan(nanoseconds: nanoseconds).description }
}

extension TimeSpan: CustomStringConvertible {
  /// Seconds with milliseconds; finer digits only where there are any.
  public var description: String {
    let magnitude = nanoseconds.magnitude
    var fraction = String(magnitude % 1_000_000_000)
    fraction = String(repeating: "0", count: 9 - fraction.count) + fraction
    while fraction.count > 3, fraction.last == "0" { fraction.removeLast() }
    return "\(nanoseconds < 0 ? "-" : "")\(magnitude / 1_000_000_000).\(fraction)"
  }
}

extension Epoch: CustomStringConvertible {
  public var description: String { "#\(rawValue)" }
}

extension EndpointID: CustomStringConvertible {
  public var description: String { "@\(rawValue)" }
}

extension MessageID: CustomStringConvertible {
  public var description: String { "\(lane.rawValue):\(sequence)" }
}

extension LaneSet: CustomStringConvertible {
  /// The lanes by number; `none` without any.
  public var description: String {
    let lanes = (0..<4).filter { contains(LaneID(UInt8($0))) }.map(String.init)
    return lanes.isEmpty ? "none" : lanes.joined(separator: "+")
  }
}

extension Path: CustomStringConvertible {
  /// The status, and what is known beside it: `up if2 expensive`.
  public var description: String {
    var words = ["\(status)"]
    if interface > 0 { words.append("if\(interface)") }
    if isExpensive { words.append("expensive") }
    if isConstrained { words.append("constrained") }
    return words.joined(separator: " ")
  }
}

extension SessionEvent: CustomStringConvertible {
  public var description: String {
    switch self {
    case .ready: "ready"
    case .resumed: "resumed"
    case .resumeRefused: "resume refused"
    case .refused(let refusal): "refused \(refusal)"
    }
  }
}

extension MessageRange: CustomStringConvertible {
  public var description: String {
    first == last ? first.description : "\(first)...\(last.sequence)"
  }
}

extension CloseCode: CustomStringConvertible {
  public var description: String { String(rawValue) }
}

extension Cause: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closedByPeer(nil): "closedByPeer"
    case .closedByPeer(let code?): "closedByPeer(\(code))"
    case .timedOut(let timeout): "timedOut(\(timeout))"
    case .system(let error): "system(\(error))"
    case .resolution(let error): "resolution(\(error))"
    case .tls(let failure): "tls(\(failure))"
    case .http(let status, nil): "http(\(status))"
    case .http(let status, let seconds?): "http(\(status), retry after \(seconds) s)"
    case .loading(let error): "loading(\(error))"
    case .slowConsumer: "slowConsumer"
    case .closedByUser: "closedByUser"
    case .replaced: "replaced"
    case .pathLost: "pathLost"
    case .protocolError: "protocolError"
    case .unsupportedEndpoint: "unsupportedEndpoint"
    case .truncated: "truncated"
    case .sessionRefused(let refusal): "sessionRefused(\(refusal))"
    case .suspended: "suspended"
    case .pathChanged: "pathChanged"
    case .localAddressLost: "localAddressLost"
    case .credentialsRefused: "credentialsRefused"
    case .credentialsUnavailable: "credentialsUnavailable"
    }
  }
}

extension Input: CustomStringConvertible {
  public var description: String {
    switch self {
    case .connect(let endpoint, 0...1): "connect \(endpoint)"
    case .connect(let endpoint, let count): "connect \(endpoint) of \(count)"
    case .close: "close"
    case .drain: "drain"
    case .offer(let lane, let byteCount): "offer \(lane.rawValue) \(byteCount)B"
    case .cancel(let id): "cancel \(id)"
    case .demandChanged(let demand): demand ? "demand on" : "demand off"
    case .lifecycleChanged(let lifecycle): "\(lifecycle)"
    case .resized(let id, let byteCount): "resized \(id) \(byteCount)B"
    case .pathChanged(let path): "path \(path)"
    case .policyReplaced: "policy"
    case .deadlineReached: "deadline"
    case .credentials(let epoch, let answer): "\(epoch) credentials \(answer)"
    case .transport(let epoch, let event): "\(epoch) \(event)"
    case .session(let epoch, let event): "\(epoch) session \(event)"
    }
  }
}

extension TransportEvent: CustomStringConvertible {
  public var description: String {
    switch self {
    case .opened: "opened"
    case .failed(let cause): "failed \(cause)"
    case .closed(nil): "closed"
    case .closed(let code?): "closed \(code)"
    case .received(let byteCount): "received \(byteCount)B"
    case .pong(let number): "pong \(number)"
    case .written(let id): "written \(id)"
    case .acknowledged(let id): "acknowledged \(id)"
    case .writabilityChanged(let writable): writable ? "writable" : "blocked"
    case .viabilityChanged(let viable): viable ? "viable" : "not viable"
    case .drainRequested: "drain requested"
    case .betterPathAvailable: "better path"
    }
  }
}

extension Effect: CustomStringConvertible {
  public var description: String {
    switch self {
    case .requestCredentials(let epoch): "credentials \(epoch)"
    case .openTransport(let epoch, let endpoint): "dial \(epoch) \(endpoint)"
    case .startSession(let epoch, let resuming): "\(resuming ? "resume" : "login") \(epoch)"
    case .closeTransport(let epoch): "close \(epoch)"
    case .abortTransport(let epoch): "abort \(epoch)"
    case .sendPing(let epoch, let number): "ping \(epoch) \(number)"
    case .sendBeat(let epoch, let number): "beat \(epoch) \(number)"
    case .transmit(let epoch, let range): "transmit \(epoch) \(range)"
    case .settle(let range, let outcome): "settle \(range) \(outcome)"
    case .ended(let epoch, let cause): "ended \(epoch) \(cause)"
    case .pressureChanged(let lanes): "pressure \(lanes)"
    }
  }
}

extension Disposition: CustomStringConvertible {
  public var description: String {
    switch self {
    case .accepted: "accepted"
    case .taken(let id): "taken \(id)"
    case .rejected(let rejection): "rejected \(rejection)"
    case .ignored(let reason): "ignored \(reason)"
    }
  }
}

extension Explanation: CustomStringConvertible {
  /// One line for people: `backingOff: waits for retry until 12.345 (attempt 3,
  /// system(connectionRefused))`.
  public var description: String {
    var line = "\(phase): waits for \(waitsFor)"
    if let until { line += " until \(until)" }
    line += " (attempt \(attempt)"
    if let cause { line += ", \(cause)" }
    return line + ")"
  }
}
