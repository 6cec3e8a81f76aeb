import ConnectionFSM

// The words of an action: what ActionReader understands as that action.

extension Scenario.Step {
  init(_ step: Story.Step) {
    self.init(
      t: Double((step.at - .origin).nanoseconds) / 1e9, ev: step.action.ev,
      arg: step.action.argument, lane: step.lane == LaneID(0) ? nil : step.lane.rawValue,
      bytes: step.byteCount)
  }
}

extension Action {
  /// The event's name.
  var ev: String {
    switch self {
    case .app(let action): action.ev
    case .device(let action): action.ev
    case .network(let action, _, _, _): action.ev
    case .environment(let action): action.ev
    case .provider(.asked): "auth.request"
    case .provider: "auth.token"
    case .callback(let moment, _): "cb.\(moment.rawValue)"
    case .expectation(let expectation): expectation.words.ev
    case .fleet(let count): "fleet(\(count)).open"
    case .mark: "state.mark"
    }
  }

  fileprivate var argument: String? {
    switch self {
    case .app(let action): action.argument
    case .network(let action, let aim, let repeats, let every):
      action.argument(aim, repeats: repeats, every: every)
    case .environment(let action): action.argument
    case .provider(let action): action.argument
    case .callback(_, let calls): "→" + calls.map(\.ev).joined(separator: ",")
    case .expectation(let expectation): expectation.words.arg
    case .device, .fleet, .mark: nil
    }
  }
}

extension AppAction {
  fileprivate var ev: String {
    switch self {
    case .connect: "api.connect"
    case .reconnect: "api.reconnectNow"
    case .close: "api.close"
    case .drain: "api.drain"
    case .send: "api.send"
    case .replace: "api.replace"
    case .cancel: "api.cancel"
    case .demand: "api.demand"
    }
  }

  fileprivate var argument: String? {
    switch self {
    case .connect(let endpoint): endpoint.map { "\($0)" }
    case .send(let labels): labels.joined(separator: ",")
    case .replace(let label), .cancel(let label): label
    case .demand(let demand): "\(demand)"
    case .reconnect, .close, .drain: nil
    }
  }
}

extension DeviceAction {
  fileprivate var ev: String {
    switch self {
    case .sleep: "dev.sleep"
    case .wake: "dev.wake"
    case .lifecycle(.foreground): "dev.foreground"
    case .lifecycle(.background): "dev.background"
    case .lifecycle(.suspended): "dev.suspend"
    case .timer: "dev.timer"
    }
  }
}

extension NetworkAction {
  fileprivate var ev: String {
    switch self {
    case .open, .openBare: "net.open"
    case .hang: "net.connect_hang"
    case .fails(.resolution(.unknownName)): "net.dns_fail"
    case .fails(.resolution): "net.dns_timeout"
    case .fails(.http): "net.http"
    // The vocabulary has no other failures of a dial.
    case .fails: "net.refuse"
    case .session, .sessionAgain: "net.session"
    case .reset(.notConnected): "net.error"
    case .reset: "net.rst"
    case .finish(nil): "net.fin"
    case .finish: "net.closed"
    case .serverClose: "net.server_close"
    case .goSilent: "net.silent_drop"
    case .message: "net.msg"
    case .pong: "net.pong"
    case .acknowledge: "net.ack"
    case .writable(false): "net.blocked"
    case .writable(true): "net.unblocked"
    case .viability: "net.viability"
    case .drainRequested: "net.drain"
    case .betterPath: "net.better_path"
    }
  }

  private var arguments: [String] {
    switch self {
    case .open(withSession: true): ["sid=A"]
    case .openBare: ["(tcp only)"]
    case .fails(.http(let status, nil)): ["\(status)"]
    case .fails(.http(let status, let seconds?)): ["\(status)", "retry-after=\(seconds)"]
    case .session(let answer): [answer.rawValue]
    case .sessionAgain(let answer): [answer.rawValue, "(again)"]
    case .reset(.notConnected): ["ENOTCONN"]
    case .finish(let code), .serverClose(let code): code.map { ["\($0)"] } ?? []
    case .viability(let viable): ["\(viable)"]
    case .open, .hang, .fails, .reset, .goSilent, .message, .pong, .acknowledge, .writable,
      .drainRequested, .betterPath:
      []
    }
  }

  fileprivate func argument(_ aim: Aim, repeats: Int, every: TimeSpan?) -> String? {
    var parts = arguments
    switch aim {
    case .next: break
    case .generation(let number): parts.append("#\(number)")
    case .host(let name): parts.append(name)
    case .lastOpened: parts.append("(old)")
    case .elder: parts.append("(elder)")
    case .echo: parts.append("(echo)")
    case .present: parts.append("(old token)")
    }
    if repeats > 1 { parts.append("repeat=\(repeats)") }
    if let every { parts.append("every=\(every)") }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}

extension EnvironmentAction {
  fileprivate var ev: String {
    switch self {
    case .path(let path, _):
      switch path.status {
      case .unknown: "net.path_unknown"
      case .up: "net.path_up"
      case .down: "net.path_down"
      }
    case .pathSwitch: "net.path_change"
    case .serverUp: "net.server_up"
    case .serverDown: "net.server_down"
    case .networkDown: "net.down"
    case .hosts: "net.hosts"
    case .latency: "net.latency"
    case .loss: "net.loss"
    case .heal: "net.heal"
    case .nothing: "net.noop"
    }
  }

  fileprivate var argument: String? {
    switch self {
    case .path(let path, let isLie):
      [
        path.isExpensive ? "expensive" : nil, path.isConstrained ? "constrained" : nil,
        isLie ? "(false report)" : nil,
      ].joined
    case .pathSwitch(let from, let to): "\(from)->\(to)"
    case .hosts(let hosts):
      hosts.map { "\($0.name)(\($0.isUp ? "up" : "down"))" }.joined(separator: ",")
    case .latency(let latency): "\(latency)s"
    case .loss(let percent): "\(percent)%"
    case .serverUp, .serverDown, .networkDown, .heal, .nothing: nil
    }
  }
}

extension ProviderAction {
  fileprivate var argument: String? {
    switch self {
    case .asked: nil
    case .answers(let answer): answer.word
    case .answersLate(let answer, let epoch):
      [answer.word, epoch.map { "\($0)" } ?? "(again)"].joined
    }
  }
}

extension [String?] {
  /// The words that there are, as one argument; nil without any.
  fileprivate var joined: String? {
    let words = compactMap(\.self)
    return words.isEmpty ? nil : words.joined(separator: " ")
  }
}

extension CredentialsAnswer {
  fileprivate var word: String? {
    switch self {
    case .available: nil
    case .unavailable: "401"
    case .refused: "denied"
    }
  }
}

extension Expectation {
  fileprivate var words: (ev: String, arg: String?) {
    switch self {
    case .state(let text): ("expect.state", text)
    case .tier(let text): ("expect.tier", text)
    case .cause(let text): ("expect.cause", text)
    case .reason(let text): ("expect.reason", text)
    case .waitsFor(let text): ("expect.waitsFor", text)
    case .deadline(let range): ("expect.deadline", range.map(Self.text) ?? "none")
    case .dials(let range, let since): ("expect.attempts", Self.text(range, since: since))
    case .pings(let range, let since): ("expect.pings", Self.text(range, since: since))
    case .attempt(let range): ("expect.attempt", Self.text(range))
    case .live(let count): ("expect.live", "\(count)")
    case .epoch(let number): ("expect.epoch", "\(number)")
    case .waits(let waits): ("expect.waits", waits.map { "\($0)s" }.joined(separator: ","))
    case .waitCount(let range): ("expect.waitCount", Self.text(range))
    case .waitRange(let range): ("expect.waitRange", Self.text(range))
    case .wire(let labels): ("expect.wire", labels.joined(separator: ","))
    case .outcome(let labels, let outcome):
      ("expect.outcome", "\(labels.joined(separator: ",")) \(outcome)")
    case .ends(let ends): ("expect.ends", ends.joined(separator: ";"))
    case .phases(let phases): ("expect.phases", phases.joined(separator: ","))
    case .hosts(let names): ("expect.hosts", names.joined(separator: ","))
    case .requests(let range): ("expect.requests", Self.text(range))
    case .sessions(let kinds): ("expect.sessions", kinds.joined(separator: ","))
    case .ignored(let reason, let range): ("expect.ignored", "\(reason) \(Self.text(range))")
    }
  }

  private static func text(_ range: ClosedRange<Double>) -> String {
    "\(range.lowerBound)..\(range.upperBound)"
  }

  private static func text(_ range: ClosedRange<Int>, since: TimeSpan = .zero) -> String {
    let count =
      range.lowerBound == range.upperBound
      ? "\(range.lowerBound)"
      : "\(range.lowerBound)..\(range.upperBound == .max ? "" : "\(range.upperBound)")"
    return since > .zero ? "\(count) since \(since)s" : count
  }
}
