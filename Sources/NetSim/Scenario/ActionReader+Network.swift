import ConnectionFSM

// What the network and the server do.

extension ActionReader {
  func readEnvironment() throws(ScenarioError) -> EnvironmentAction? {
    switch step.ev {
    case "net.path_down": return try path(.down)
    case "net.path_up": return try path(.up)
    case "net.path_unknown": return try path(.unknown)
    case "net.path_change":
      let text = try argument("two interfaces: wifi->cell")
      guard let arrow = text.firstRange(of: "->") else { throw error("write wifi->cell") }
      return .pathSwitch(
        from: String(text[..<arrow.lowerBound]), to: String(text[arrow.upperBound...]))
    case "net.server_up": return .serverUp
    case "net.server_down": return .serverDown
    case "net.down": return .networkDown
    case "net.hosts", "net.dns":
      return .hosts(try Self.hosts(try argument("hosts: a(down),b(up)"), place: place))
    case "net.latency": return .latency(try span(try argument("a span such as 8s")))
    case "net.loss":
      let text = try argument("a share such as 90%")
      guard text.hasSuffix("%"), let percent = UInt8(text.dropLast()), percent <= 100 else {
        throw error("“\(text)” is no share; write 90%")
      }
      return .loss(percent)
    case "net.heal": return .heal
    // A scripted peer answers no ping unless the story says so.
    case "net.noop", "net.no_pong": return .nothing
    default: return nil
    }
  }

  private func path(_ status: PathStatus) throws(ScenarioError) -> EnvironmentAction {
    var path = Path(status)
    for word in words.plain {
      switch word {
      case "expensive": path.isExpensive = true
      case "constrained": path.isConstrained = true
      case _:
        throw error("“\(word)” is not understood; write expensive, constrained, or (false report)")
      }
    }
    // That the way is free may have a remark of the reporter's beside it.
    guard status != .down || words.hints.allSatisfy({ $0 == "false report" }) else {
      throw error("“\(step.arg ?? "")” is not understood; the one hint is (false report)")
    }
    return .path(path, isLie: words.hints.contains("false report"))
  }

  func readNetwork() throws(ScenarioError) -> NetworkAction? {
    if let answer = try readAnswer() { return answer }
    switch step.ev {
    case "net.rst": return .reset(.connectionReset)
    case "net.error":
      return .reset(words.plain.contains("ENOTCONN") ? .notConnected : .connectionReset)
    case "net.fin": return .finish(nil)
    case "net.closed": return .finish(try closeCode())
    case "net.server_close": return .serverClose(try closeCode())
    case "net.silent_drop": return .goSilent
    case "net.msg", "net.ping": return .message
    case "net.pong": return .pong
    case "net.ack": return .acknowledge
    case "net.blocked": return .writable(false)
    case "net.unblocked": return .writable(true)
    case "net.viability": return .viability(try truth(words.plain.first { !$0.hasPrefix("#") }))
    case "net.drain": return .drainRequested
    case "net.better_path": return .betterPath
    case "net.session":
      let text = try argument("the server's answer")
      guard let word = words.plain.first(where: { !$0.hasPrefix("#") }),
        let answer = SessionAnswer(rawValue: word)
      else {
        let known = SessionAnswer.allCases.map(\.rawValue).joined(separator: ", ")
        throw error("“\(text)” is no answer; known are \(known)")
      }
      return words.hints.contains("again") ? .sessionAgain(answer) : .session(answer)
    case "net.reject", "net.resume_failed": return .session(.resumeRefused)
    case "app.reject": return .session(.unavailable)
    default: return nil
    }
  }

  /// What a dial is answered.
  private func readAnswer() throws(ScenarioError) -> NetworkAction? {
    switch step.ev {
    case "net.open" where words.hints.contains("tcp only"): return .openBare
    case "net.open", "net.handshake_ok":
      return .open(withSession: words.value(of: "sid") != nil)
    case "net.refuse": return .fails(.system(.connectionRefused))
    case "net.connect_hang", "net.os_waiting": return .hang
    case "net.dns_fail": return .fails(.resolution(.unknownName))
    case "net.dns_timeout": return .fails(.resolution(.temporaryFailure))
    case "net.handshake_fail":
      return .fails(.http(status: try status(words.value(of: "status"))))
    case "net.http":
      let status = try status(words.plain.first)
      return .fails(.http(status: status, retryAfter: try retryAfter()))
    default:
      guard step.ev.hasPrefix("net.http_") else { return nil }
      return .fails(.http(status: try status(String(step.ev.dropFirst(9)))))
    }
  }

  private func retryAfter() throws(ScenarioError) -> UInt16? {
    guard let text = words.value(of: "retry-after") else { return nil }
    guard let seconds = UInt16(text) else { throw error("“\(text)” is no number of seconds") }
    return seconds
  }

  private func status(_ text: String?) throws(ScenarioError) -> UInt16 {
    guard let text, let status = UInt16(text), (100...599).contains(status) else {
      throw error("“\(text ?? "")” is no status of HTTP")
    }
    return status
  }

  /// Words that stand for the server's own reasons.
  private static let closeWords: [String: UInt16?] = [
    "heartbeat": nil, "keepalive": nil, "token-expired": 4401,
  ]

  private func closeCode() throws(ScenarioError) -> CloseCode? {
    guard let word = words.plain.first(where: { !$0.hasPrefix("#") }) else { return nil }
    if let code = Self.closeWords[word] { return code.map { CloseCode($0) } }
    guard let code = UInt16(word) else { throw error("“\(word)” is no close code") }
    return CloseCode(code)
  }
}

// MARK: Which attempt, how often

extension ActionReader {
  /// What is no generation, no host, no code and no name of what the peer answers is a mistake.
  func rejectOtherWords(_ action: NetworkAction) throws(ScenarioError) {
    // Some are the reporter's remarks: which address, which code the library made up.
    let keys = [
      "repeat", "every", "status", "code", "retry-after", "sid", "url", "client", "pingInterval",
    ]
    if let key = words.keys.map(\.key).first(where: { !keys.contains($0) }) {
      throw error("“\(key)=” is not understood; known are \(keys.joined(separator: ", "))")
    }
    if case .session = action { return }
    if case .sessionAgain = action { return }
    if case .viability = action { return }
    let known = ["ENOTCONN"] + Array(Self.closeWords.keys) + cast.hosts + cast.clients
    for word in words.plain {
      // `p1` names a ping, which the simulation numbers by itself.
      let isPing = step.ev == "net.pong" && word.hasPrefix("p")
      if word.hasPrefix("#") || UInt16(word) != nil || isPing || known.contains(word) { continue }
      throw error("“\(word)” is not understood; write #1 or repeat=50")
    }
  }

  func aim() throws(ScenarioError) -> Aim {
    // `#2`: the second transport generation.
    if let word = words.plain.first(where: { $0.hasPrefix("#") }) {
      guard let number = UInt64(word.dropFirst()), number > 0 else {
        throw error("“\(word)” is no transport generation; write #1")
      }
      return .generation(number)
    }
    if let host = words.plain.first(where: { cast.hosts.contains($0) }) { return .host(host) }
    if words.hints.contains("old") { return .lastOpened }
    if words.hints.contains("elder") { return .elder }
    if words.hints.contains("old token") { return .present }
    let echoes = ["local", "echo", "sync", "closed before established"]
    return words.hints.contains(where: { echoes.contains($0) }) ? .echo : .next
  }

  /// `repeat=50`: the same befalls the next 50 attempts.
  func repeats() throws(ScenarioError) -> Int {
    guard let text = words.value(of: "repeat") else { return 1 }
    guard let count = Int(text), count > 0 else {
      throw error("“repeat=\(text)” repeats nothing; write repeat=50")
    }
    return count
  }

  /// `every=0.1`: on one link, so many seconds apart.
  func interval() throws(ScenarioError) -> TimeSpan? {
    guard let text = words.value(of: "every") else { return nil }
    let interval = try span(text)
    guard interval > .zero else { throw error("“every=\(text)” is no interval; write every=0.1") }
    return interval
  }
}
