import ConnectionFSM

// The words of an action: what ActionReader understands as that action.

extension Scenario.Step {
  init(_ step: Story.Step) {
    let (ev, arg) = step.action.words
    let seconds = Double((step.at - .origin).nanoseconds) / 1e9
    self.init(
      t: seconds, ev: ev, arg: arg, lane: step.lane == LaneID(0) ? nil : step.lane.rawValue,
      bytes: step.byteCount)
  }
}

extension Action {
  /// The event and its argument.
  fileprivate var words: (ev: String, arg: String?) {
    switch self {
    case .app(let action): action.words
    case .device(let action): (action.word, nil)
    case .network(let action, let aim, let repeats, let every):
      action.words(aim, repeats: repeats, every: every)
    case .environment(let action): action.words
    case .provider(let action): action.words
    case .callback(let moment, let calls):
      ("cb.\(moment.rawValue)", "→" + calls.map(\.words.ev).joined(separator: ","))
    case .expectation(let expectation): expectation.words
    case .fleet(let count): ("fleet(\(count)).open", nil)
    case .mark: ("state.mark", nil)
    }
  }
}

extension AppAction {
  fileprivate var words: (ev: String, arg: String?) {
    switch self {
    case .connect(nil): ("api.connect", nil)
    case .connect(let endpoint?): ("api.connect", "\(endpoint)")
    case .reconnect: ("api.reconnectNow", nil)
    case .close: ("api.close", nil)
    case .drain: ("api.drain", nil)
    case .send(let labels): ("api.send", labels.joined(separator: ","))
    case .replace(let label): ("api.replace", label)
    case .cancel(let label): ("api.cancel", label)
    case .demand(let demand): ("api.demand", "\(demand)")
    }
  }
}

extension DeviceAction {
  fileprivate var word: String {
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
  fileprivate func words(
    _ aim: Aim, repeats: Int, every: TimeSpan?
  ) -> (ev: String, arg: String?) {
    var (ev, parts) = words
    switch aim {
    case .next: break
    case .generation(let number): parts.append("#\(number)")
    case .host(let name): parts.append(name)
    case .lastOpened: parts.append("(old)")
    case .echo: parts.append("(echo)")
    case .present: parts.append("(old token)")
    }
    if repeats > 1 { parts.append("repeat=\(repeats)") }
    if let every { parts.append("every=\(every)") }
    return (ev, parts.isEmpty ? nil : parts.joined(separator: " "))
  }

  private var words: (ev: String, arg: [String]) {
    switch self {
    case .open(withSession: false): ("net.open", [])
    case .open(withSession: true): ("net.open", ["sid=A"])
    case .openBare: ("net.open", ["(tcp only)"])
    case .hang: ("net.connect_hang", [])
    case .fails(let cause): cause.words
    case .session(let answer): ("net.session", [answer.rawValue])
    case .reset(.notConnected): ("net.error", ["ENOTCONN"])
    case .reset: ("net.rst", [])
    case .finish(nil): ("net.fin", [])
    case .finish(let code?): ("net.closed", ["\(code)"])
    case .serverClose(let code): ("net.server_close", code.map { ["\($0)"] } ?? [])
    case .goSilent: ("net.silent_drop", [])
    case .message: ("net.msg", [])
    case .pong: ("net.pong", [])
    case .acknowledge: ("net.ack", [])
    case .writable(false): ("net.blocked", [])
    case .writable(true): ("net.unblocked", [])
    case .viability(let viable): ("net.viability", ["\(viable)"])
    case .drainRequested: ("net.drain", [])
    case .betterPath: ("net.better_path", [])
    }
  }
}

extension Cause {
  /// How a dial that fails with this is written.
  fileprivate var words: (ev: String, arg: [String]) {
    switch self {
    case .resolution(.unknownName): ("net.dns_fail", [])
    case .resolution: ("net.dns_timeout", [])
    case .http(let status, nil): ("net.http", ["\(status)"])
    case .http(let status, let seconds?): ("net.http", ["\(status)", "retry-after=\(seconds)"])
    // The vocabulary has no other failures of a dial.
    case _: ("net.refuse", [])
    }
  }
}

extension EnvironmentAction {
  fileprivate var words: (ev: String, arg: String?) {
    switch self {
    case .path(let path, let isLie):
      (
        "net.path_\(path.status)",
        [
          path.isExpensive ? "expensive" : nil, path.isConstrained ? "constrained" : nil,
          isLie ? "(false report)" : nil,
        ].compactMap(\.self).joined(separator: " ").nonEmpty
      )
    case .pathSwitch(let from, let to): ("net.path_change", "\(from)->\(to)")
    case .serverUp: ("net.server_up", nil)
    case .serverDown: ("net.server_down", nil)
    case .networkDown: ("net.down", nil)
    case .hosts(let hosts):
      ("net.hosts", hosts.map { "\($0.name)(\($0.isUp ? "up" : "down"))" }.joined(separator: ","))
    case .latency(let latency): ("net.latency", "\(latency)s")
    case .loss(let percent): ("net.loss", "\(percent)%")
    case .heal: ("net.heal", nil)
    case .nothing: ("net.noop", nil)
    }
  }
}

extension ProviderAction {
  fileprivate var words: (ev: String, arg: String?) {
    switch self {
    case .asked: ("auth.request", nil)
    case .answers(let answer): ("auth.token", answer.word)
    case .answersLate(let answer, let epoch):
      ("auth.token", [answer.word, "\(epoch)"].compactMap(\.self).joined(separator: " "))
    }
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

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
