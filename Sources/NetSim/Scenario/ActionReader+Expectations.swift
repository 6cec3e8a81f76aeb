import ConnectionFSM

extension ActionReader {
  func readExpectation() throws(ScenarioError) -> Expectation? {
    guard step.ev.hasPrefix("expect.") else { return nil }
    let text = try argument("what is expected")
    if let situation = try readSituation(text) { return situation }
    switch step.ev {
    case "expect.attempts": return .dials(try range(first(of: text)), since: try since(text))
    case "expect.pings": return .pings(try range(first(of: text)), since: try since(text))
    case "expect.attempt": return .attempt(try range(text))
    case "expect.waits":
      var waits: [TimeSpan] = []
      for wait in text.split(separator: ",") { waits.append(try span(String(wait))) }
      return .waits(waits)
    case "expect.waitCount": return .waitCount(try range(text))
    case "expect.waitRange":
      guard let range = try instants(text) else { throw error("write 0..60") }
      return .waitRange(range)
    case "expect.wire": return .wire(try labels(of: text))
    case "expect.outcome":
      guard let space = text.lastIndex(of: " ") else {
        throw error("write the labels and the outcome: “m1..m3 written”")
      }
      let outcome = String(text[text.index(after: space)...])
      return .outcome(try labels(of: String(text[..<space])), outcome)
    case "expect.ends": return .ends(list(text, separator: ";"))
    case "expect.phases": return .phases(list(text, separator: ","))
    case "expect.hosts": return .hosts(list(text, separator: ","))
    case "expect.sessions": return .sessions(list(text, separator: ","))
    case "expect.requests": return .requests(try range(text))
    case "expect.ignored":
      return .ignored(first(of: text), try range(String(text.split(separator: " ").last ?? "")))
    default: return nil
    }
  }

  /// What the machine is and waits for.
  private func readSituation(_ text: String) throws(ScenarioError) -> Expectation? {
    switch step.ev {
    case "expect.state":
      guard Phase.allCases.contains(where: { "\($0)" == text }) else {
        let known = Phase.allCases.map { "\($0)" }.joined(separator: ", ")
        throw error("unknown state “\(text)”; known are \(known)")
      }
      return .state(text)
    case "expect.tier": return .tier(text)
    case "expect.cause": return .cause(text)
    case "expect.reason": return .reason(text)
    case "expect.waitsFor": return .waitsFor(text)
    case "expect.deadline": return .deadline(try instants(text))
    case "expect.live": return .live(try number(text))
    case "expect.epoch": return .epoch(try number(text))
    default: return nil
    }
  }

  private func first(of text: String) -> String {
    text.split(separator: " ").first.map(String.init) ?? ""
  }

  /// `2..4 since 60`: of those from that second on.
  private func since(_ text: String) throws(ScenarioError) -> TimeSpan {
    let words = text.split(separator: " ").map(String.init)
    if words.count == 1 { return .zero }
    guard words.count == 3, words[1] == "since" else {
      throw error("“\(text)” is not understood; write 2..4 since 60")
    }
    return try span(words[2])
  }

  private func list(_ text: String, separator: Character) -> [String] {
    text.split(separator: separator).map { word in
      String(word.drop { $0 == " " })
    }
  }
}
