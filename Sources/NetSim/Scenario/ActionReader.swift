import ConnectionFSM

/// Turns the words of a step into an action, or says what is wrong with them.
struct ActionReader {
  let step: Scenario.Step
  let place: Int
  let cast: Cast
  let words: Words

  init(step: Scenario.Step, place: Int, cast: Cast) {
    self.step = step
    self.place = place
    self.cast = cast
    words = Words(step.arg ?? "")
  }

  /// The events that can stand in a scenario, for messages and help.
  static let vocabulary = [
    "api.connect", "api.close", "api.drain", "api.send", "api.request", "api.replace",
    "api.cancel", "api.demand", "api.reconnectNow", "dev.sleep", "dev.wake", "dev.background",
    "dev.foreground", "dev.suspend", "dev.timer", "dev.clock_step", "auth.request",
    "auth.token_fetch", "auth.refresh", "auth.token",
    "cb.connecting", "cb.open", "cb.closed", "app.reject", "fleet(n).open", "net.open",
    "net.handshake_ok", "net.refuse", "net.connect_hang", "net.os_waiting", "net.dns_fail",
    "net.dns_timeout", "net.http", "net.http_401", "net.handshake_fail", "net.rst", "net.error",
    "net.fin", "net.closed", "net.server_close", "net.silent_drop", "net.msg", "net.ping",
    "net.pong", "net.no_pong", "net.ack", "net.blocked", "net.unblocked", "net.viability",
    "net.session", "net.reject", "net.resume_failed", "net.path_down", "net.path_up",
    "net.path_unknown", "net.path_change", "net.hosts", "net.dns", "net.server_up",
    "net.server_down", "net.down", "net.latency", "net.loss", "net.drain", "net.better_path",
    "net.heal", "net.noop", "expect.state",
    "expect.tier", "expect.cause", "expect.reason", "expect.waitsFor", "expect.deadline",
    "expect.attempts", "expect.attempt", "expect.pings", "expect.live", "expect.epoch",
    "expect.waits", "expect.waitCount", "expect.waitRange", "expect.wire", "expect.outcome",
    "expect.ends", "expect.phases", "expect.hosts", "expect.requests", "expect.sessions",
    "expect.ignored",
  ]

  private static let marks = ["hb.", "timer.", "state.", "api.internal_"]

  func read() throws(ScenarioError) -> Action {
    guard step.t.isFinite, (0...9e9).contains(step.t) else {
      throw error("t must be a number of seconds from 0 to 9,000,000,000")
    }
    if cast.isForeign(words) { return .mark }
    if Self.marks.contains(where: { step.ev.hasPrefix($0) }) { return .mark }
    if let action = readDevice() { return action }
    if let action = try readApp() {
      return words.hints.contains("in callback") ? .callback(.closed, [action]) : .app(action)
    }
    if let action = try readEnvironment() { return .environment(action) }
    if let action = try readProvider() { return .provider(action) }
    if let action = try readCallback() { return action }
    if let expectation = try readExpectation() { return .expectation(expectation) }
    if let count = try readFleet() { return .fleet(count) }
    if let action = try readNetwork() {
      try rejectOtherWords(action)
      return .network(action, try aim(), repeats: try repeats(), every: try interval())
    }
    let known = Self.vocabulary.joined(separator: ", ")
    throw error("unknown event “\(step.ev)”; known are \(known)")
  }

  func error(_ problem: String) -> ScenarioError {
    ScenarioError(step: place, "\(step.ev): \(problem)")
  }

  func argument(_ what: String) throws(ScenarioError) -> String {
    guard let argument = step.arg, !argument.isEmpty else { throw error("needs an arg: \(what)") }
    return argument
  }

  func truth(_ text: String?) throws(ScenarioError) -> Bool {
    switch text {
    case "true": return true
    case "false": return false
    default: throw error("needs an arg: true or false")
    }
  }
}

// MARK: The application and its device

extension ActionReader {
  private func readApp() throws(ScenarioError) -> AppAction? {
    switch step.ev {
    case "api.connect":
      guard let text = words.plain.first(where: { !cast.clients.contains($0) }) else {
        return .connect(nil)
      }
      guard text.hasPrefix("@"), let number = UInt32(text.dropFirst()) else {
        throw error("“\(text)” names no endpoint; write @0, @1 …")
      }
      return .connect(EndpointID(number))
    case "api.reconnectNow": return .reconnect
    case "api.close": return .close
    case "api.drain": return .drain
    case "api.replace": return .replace(try argument("the label of a message"))
    case "api.send", "api.request":
      let text = try argument("the labels of messages")
      return .send(try labels(of: Words(text).plain.joined(separator: ",")))
    case "api.cancel": return .cancel(try argument("the label of a message"))
    case "api.demand": return .demand(try truth(step.arg))
    default: return nil
    }
  }

  private func readDevice() -> Action? {
    switch step.ev {
    case "dev.sleep": .device(.sleep)
    case "dev.wake": .device(.wake)
    case "dev.background": .device(.lifecycle(.background))
    case "dev.foreground": .device(.lifecycle(.foreground))
    case "dev.suspend": .device(.lifecycle(.suspended))
    case "dev.timer": .device(.timer)
    // Wall clocks may do what they like: nothing here reads one.
    case "dev.clock_step": .environment(.nothing)
    default: nil
    }
  }

  private func readProvider() throws(ScenarioError) -> ProviderAction? {
    switch step.ev {
    case "auth.request": return .asked
    case "auth.token_fetch", "auth.refresh", "auth.token":
      let answer: CredentialsAnswer
      switch words.plain.first(where: { !$0.hasPrefix("#") }) {
      case "401": answer = .unavailable
      case "denied": answer = .refused
      case _: answer = .available
      }
      if words.hints.contains("again") { return .answersLate(answer, nil) }
      guard case .generation(let number) = try aim() else { return .answers(answer) }
      return .answersLate(answer, Epoch(number))
    default: return nil
    }
  }

  /// `→api.close,api.connect`: what the application calls; without an arrow it calls nothing.
  private func readCallback() throws(ScenarioError) -> Action? {
    guard step.ev.hasPrefix("cb.") else { return nil }
    guard let text = step.arg, text.hasPrefix("→") else { return .mark }
    guard let moment = CallbackMoment(rawValue: String(step.ev.dropFirst(3))) else {
      let known = CallbackMoment.allCases.map { "cb.\($0.rawValue)" }.joined(separator: ", ")
      throw error("unknown callback; known are \(known)")
    }
    var calls: [AppAction] = []
    for call in text.dropFirst().split(separator: ",") {
      let step = Scenario.Step(t: step.t, ev: String(call))
      guard let action = try ActionReader(step: step, place: place, cast: cast).readApp() else {
        throw error("“\(call)” is nothing that an application calls")
      }
      calls.append(action)
    }
    return .callback(moment, calls)
  }

  private func readFleet() throws(ScenarioError) -> Int? {
    guard step.ev.hasPrefix("fleet("), step.ev.hasSuffix(").open") else { return nil }
    let count = try number(String(step.ev.dropFirst(6).dropLast(6)))
    guard count > 0 else { throw error("a fleet has at least one client") }
    return count
  }
}
