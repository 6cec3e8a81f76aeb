// How inputs, effects and the rest are written in traces, tables and messages: one notation for
// people and programs. `#3` is an epoch, `0:7` a message (lane 0, sequence 7), `0:7...9` a range.
//
// Left out of the Embedded build, which has no use for text.

#if !hasFeature(Embedded)
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
      case .sessionRefused: "sessionRefused"
      case .credentialsRefused: "credentialsRefused"
      case .credentialsUnavailable: "credentialsUnavailable"
      }
    }
  }

  extension Input: CustomStringConvertible {
    public var description: String {
      switch self {
      case .connect(let endpoint): "connect \(endpoint)"
      case .close: "close"
      case .offer(let lane, let byteCount): "offer \(lane.rawValue) \(byteCount)B"
      case .cancel(let id): "cancel \(id)"
      case .demandChanged(let demand): demand ? "demand on" : "demand off"
      case .lifecycleChanged(let lifecycle): "\(lifecycle)"
      case .pathChanged(let status): "path \(status)"
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
      }
    }
  }

  extension Effect: CustomStringConvertible {
    public var description: String {
      switch self {
      case .requestCredentials(let epoch): "credentials \(epoch)"
      case .openTransport(let epoch, let endpoint): "dial \(epoch) \(endpoint)"
      case .startSession(let epoch): "login \(epoch)"
      case .closeTransport(let epoch): "close \(epoch)"
      case .abortTransport(let epoch): "abort \(epoch)"
      case .sendPing(let epoch, let number): "ping \(epoch) \(number)"
      case .transmit(let epoch, let range): "transmit \(epoch) \(range)"
      case .settle(let range, let outcome): "settle \(range) \(outcome)"
      case .ended(let epoch, let cause): "ended \(epoch) \(cause)"
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
#endif
