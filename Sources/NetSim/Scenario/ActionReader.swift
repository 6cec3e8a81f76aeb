import ConnectionFSM

/// Turns the words of a step into an action, or says what is wrong with them.
struct ActionReader {
  let step: Scenario.Step
  let place: Int

  /// The events that can stand in a scenario, for messages and help.
  static let vocabulary = [
    "api.connect", "api.close", "api.send", "api.cancel", "api.demand", "dev.sleep", "dev.wake",
    "dev.background", "dev.foreground", "dev.suspend", "dev.clock_step", "net.open",
    "net.handshake_ok", "net.refuse", "net.connect_hang", "net.dns_fail", "net.rst", "net.error",
    "net.fin", "net.closed", "net.server_close", "net.silent_drop", "net.msg", "net.ping",
    "net.pong", "net.ack", "net.blocked", "net.unblocked", "net.path_down", "net.path_up",
    "net.path_unknown", "net.server_up", "net.server_down", "net.latency", "net.noop",
    "expect.state", "expect.cause", "expect.attempts", "expect.live", "expect.pings",
    "expect.waits", "expect.wire", "expect.outcome",
  ]

  private static let marks = ["hb.", "timer.", "state."]

  func read() throws(ScenarioError) -> Action {
    guard step.t.isFinite, (0...9e9).contains(step.t) else {
      throw error("t must be a number of seconds from 0 to 9,000,000,000")
    }
    if Self.marks.contains(where: { step.ev.hasPrefix($0) }) { return .mark }
    if let action = readDevice() { return action }
    if let action = try readApp() { return action }
    if let action = try readEnvironment() { return action }
    if let action = try readExpectation() { return action }
    if let action = try readNetwork() {
      try rejectOtherWords()
      return .network(action, attempt: try attempt(), repeats: try repeats())
    }
    throw error("unknown event “\(step.ev)”; known are \(Self.vocabulary.joined(separator: ", "))")
  }

  private func readApp() throws(ScenarioError) -> Action? {
    switch step.ev {
    case "api.connect":
      guard let text = step.arg else { return .app(.connect(EndpointID(0))) }
      guard text.hasPrefix("@"), let number = UInt32(text.dropFirst()) else {
        throw error("“\(text)” names no endpoint; write @0, @1 …")
      }
      return .app(.connect(EndpointID(number)))
    case "api.close": return .app(.close)
    case "api.send": return .app(.send(try labels(of: try argument("the labels of messages"))))
    case "api.cancel": return .app(.cancel(try argument("the label of a message")))
    case "api.demand": return .app(.demand(try truth()))
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
    // Wall clocks may do what they like: nothing here reads one.
    case "dev.clock_step": .environment(.nothing)
    default: nil
    }
  }

  private func readEnvironment() throws(ScenarioError) -> Action? {
    switch step.ev {
    case "net.path_down":
      guard step.arg == nil || step.arg == "(false report)" else {
        throw error("“\(step.arg ?? "")” is not understood; the one argument is (false report)")
      }
      return .environment(.path(.down, isLie: step.arg != nil))
    case "net.path_up": return .environment(.path(.up, isLie: false))
    case "net.path_unknown": return .environment(.path(.unknown, isLie: false))
    case "net.server_up": return .environment(.serverUp)
    case "net.server_down": return .environment(.serverDown)
    case "net.latency": return .environment(.latency(try span(try argument("a span such as 8s"))))
    case "net.noop": return .environment(.nothing)
    default: return nil
    }
  }

  private func readNetwork() throws(ScenarioError) -> NetworkAction? {
    switch step.ev {
    case "net.open", "net.handshake_ok": return .open
    case "net.refuse": return .refuse
    case "net.connect_hang": return .hang
    case "net.dns_fail": return .resolutionFails
    case "net.rst", "net.error": return .reset
    case "net.fin", "net.closed": return .finish
    case "net.server_close":
      let codes = words.filter { !$0.contains("=") && !$0.hasPrefix("#") }
      guard let text = codes.first else { return .serverClose(nil) }
      guard let code = UInt16(text) else { throw error("“\(text)” is no close code") }
      return .serverClose(CloseCode(code))
    case "net.silent_drop": return .goSilent
    case "net.msg", "net.ping": return .message
    case "net.pong": return .pong
    case "net.ack": return .acknowledge
    case "net.blocked": return .writable(false)
    case "net.unblocked": return .writable(true)
    default: return nil
    }
  }

  private func readExpectation() throws(ScenarioError) -> Action? {
    guard step.ev.hasPrefix("expect.") else { return nil }
    let text = try argument("what is expected")
    switch step.ev {
    case "expect.state":
      guard Phase.allCases.contains(where: { "\($0)" == text }) else {
        let known = Phase.allCases.map { "\($0)" }.joined(separator: ", ")
        throw error("unknown state “\(text)”; known are \(known)")
      }
      return .expectation(.state(text))
    case "expect.cause": return .expectation(.cause(text))
    case "expect.attempts": return .expectation(.dials(try range(text)))
    case "expect.live": return .expectation(.live(try number(text)))
    case "expect.pings": return .expectation(.pings(try number(text)))
    case "expect.waits":
      var waits: [TimeSpan] = []
      for wait in text.split(separator: ",") { waits.append(try span(String(wait))) }
      return .expectation(.waits(waits))
    case "expect.wire": return .expectation(.wire(try labels(of: text)))
    case "expect.outcome":
      guard let space = text.lastIndex(of: " ") else {
        throw error("write the labels and the outcome: “m1..m3 written”")
      }
      let outcome = String(text[text.index(after: space)...])
      return .expectation(.outcome(try labels(of: String(text[..<space])), outcome))
    default: return nil
    }
  }
}

// MARK: Words

extension ActionReader {
  private func error(_ problem: String) -> ScenarioError {
    ScenarioError(step: place, "\(step.ev): \(problem)")
  }

  private var words: [String] { (step.arg ?? "").split(separator: " ").map(String.init) }

  /// What is no generation, no `key=value`, no code and no hint in parentheses is a mistake.
  private func rejectOtherWords() throws(ScenarioError) {
    var text = step.arg ?? ""
    if let hint = text.firstIndex(of: "(") { text = String(text[..<hint]) }
    for word in text.split(separator: " ") {
      let isKnown = word.hasPrefix("#") || word.hasPrefix("repeat=") || UInt16(word) != nil
      if !isKnown { throw error("“\(word)” is not understood; write #1 or repeat=50") }
    }
  }

  private func argument(_ what: String) throws(ScenarioError) -> String {
    guard let argument = step.arg, !argument.isEmpty else { throw error("needs an arg: \(what)") }
    return argument
  }

  private func truth() throws(ScenarioError) -> Bool {
    switch step.arg {
    case "true": return true
    case "false": return false
    default: throw error("needs an arg: true or false")
    }
  }

  private func number(_ text: String) throws(ScenarioError) -> Int {
    guard let number = Int(text), number >= 0 else { throw error("“\(text)” is no count") }
    return number
  }

  /// `3`, `2..5`, or `..5`.
  private func range(_ text: String) throws(ScenarioError) -> ClosedRange<Int> {
    guard let dots = text.firstRange(of: "..") else {
      let exact = try number(text)
      return exact...exact
    }
    let low = text[..<dots.lowerBound]
    let least = low.isEmpty ? 0 : try number(String(low))
    let most = try number(String(text[dots.upperBound...]))
    guard least <= most else { throw error("“\(text)” is no range") }
    return least...most
  }

  /// `8s`, `250ms`, or a bare number of seconds.
  private func span(_ text: String) throws(ScenarioError) -> TimeSpan {
    let word = text.filter { $0 != " " }
    let isMilliseconds = word.hasSuffix("ms")
    let digits = word.prefix { $0.isNumber || $0 == "." }
    guard let count = Double(digits), count.isFinite, count <= 9e9,
      ["", "s", "ms"].contains(word.dropFirst(digits.count))
    else { throw error("“\(text)” is no span; write 8s or 250ms") }
    return TimeSpan(seconds: isMilliseconds ? count / 1000 : count)
  }

  /// `a`, `a,b,c`, or `m1..m25`.
  private func labels(of text: String) throws(ScenarioError) -> [String] {
    var labels: [String] = []
    for part in text.split(separator: ",").map(String.init) {
      guard let dots = part.firstRange(of: "..") else {
        labels.append(part)
        continue
      }
      let (prefix, first) = split(String(part[..<dots.lowerBound]))
      let (other, last) = split(String(part[dots.upperBound...]))
      guard let first, let last, prefix == other, first <= last, last - first < 100_000 else {
        throw error("“\(part)” is no range of labels; write m1..m25")
      }
      for number in first...last { labels.append("\(prefix)\(number)") }
    }
    return labels
  }

  private func split(_ label: String) -> (prefix: String, number: Int?) {
    let digits = String(label.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
    return (String(label.dropLast(digits.count)), Int(digits))
  }

  /// `#2`: the second transport generation.
  private func attempt() throws(ScenarioError) -> UInt64? {
    guard let word = words.first(where: { $0.hasPrefix("#") }) else { return nil }
    guard let number = UInt64(word.dropFirst().prefix { $0.isNumber }), number > 0 else {
      throw error("“\(word)” is no transport generation; write #1")
    }
    return number
  }

  /// `repeat=50`: the same befalls the next 50 attempts.
  private func repeats() throws(ScenarioError) -> Int {
    guard let word = words.first(where: { $0.hasPrefix("repeat=") }) else { return 1 }
    guard let count = Int(word.dropFirst(7)), count > 0 else {
      throw error("“\(word)” repeats nothing; write repeat=50")
    }
    return count
  }
}
