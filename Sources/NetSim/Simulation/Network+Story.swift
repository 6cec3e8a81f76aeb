import ConnectionFSM

// What befalls attempts and links: what the story says, and what follows from it.

extension Network {
  mutating func serverUp() -> [Answer] {
    server = .up
    return []
  }

  /// The server is killed: its host lives on, ends the links with a FIN and refuses new ones.
  mutating func serverDown() -> [Answer] {
    server = .down
    return ends(of: links)
  }

  /// A host that goes down ends its links; what the story does not name stays as it is.
  mutating func hostsChanged(_ changed: [EnvironmentAction.Host]) -> [Answer] {
    var died: [Link] = []
    for host in changed {
      guard let place = hosts.firstIndex(where: { $0.name == host.name }) else {
        hosts.append(host)
        continue
      }
      if hosts[place].isUp, !host.isUp {
        died += links.filter { Int($0.endpoint.rawValue) == place && $0.isOpen }
      }
      hosts[place] = host
    }
    return ends(of: died)
  }

  /// Everything is well from here on. A link that has gone silent stays so: whoever was behind it
  /// has forgotten it.
  mutating func healed() -> [Answer] {
    server = .up
    for place in hosts.indices { hosts[place].isUp = true }
    latency = Self.healthyLatency
    loss = nil
    pathIsDown = false
    isDark = false
    isSessionScripted = false
    isProviderScripted = false
    moot += waiting.filter { $0.applied == 0 }.map(\.step) + providerAnswers.map(\.step)
    waiting = []
    providerAnswers = []
    var answers = answerRequest()
    for place in links.indices where links[place].isOpen && !links[place].isSilent {
      let epoch = links[place].epoch
      if links[place].isBlocked {
        links[place].isBlocked = false
        answers.append(
          Answer(epoch: epoch, report: .transport(.writabilityChanged(true)), delay: .zero))
        answers += written(links[place].unwritten, on: epoch)
        links[place].unwritten = []
      }
      // What was lost on the way is sent again by the system of a link that lives.
      answers += acknowledgements(on: epoch, after: roundTrip())
    }
    return answers
  }

  private mutating func ends(of links: [Link]) -> [Answer] {
    guard !pathIsDown else { return [] }
    return links.filter { !$0.isSilent }
      .map { Answer(epoch: $0.epoch, report: .transport(.closed(nil)), delay: roundTrip()) }
  }

  /// The event that an action is on an attempt that is over; nil if it is not about such a one.
  func stale(_ action: NetworkAction, _ aim: Aim, repeats: Int) -> (Epoch, Report)? {
    var epoch: Epoch?
    switch aim {
    case .generation(let number): epoch = Epoch(number)
    case .lastOpened: epoch = lastOpened
    case .next:
      // An end with no link that could end, and nothing on its way to make one, is the second end
      // of the last attempt.
      let isSecond = action.isEnd && repeats == 1 && links.isEmpty && waiting.isEmpty
      if isSecond { epoch = lastEpoch }
      // Silence and viability befall the link that was open, and none that is to come.
      if action.isOfOpenLink, lastOpened > Epoch(0) { epoch = lastOpened }
    case .echo, .host, .present, .elder: break
    }
    guard let epoch, epoch > Epoch(0), epoch <= lastEpoch, place(of: epoch) == nil else {
      return nil
    }
    if case .session(let answer) = action { return (epoch, .session(answer.event)) }
    return (epoch, .transport(action.event))
  }

  /// Applies an action to the link there is, or lets it wait for the next one.
  mutating func befall(_ waiting: Waiting) -> [Answer] {
    var waiting = waiting
    if waiting.aim == .echo {
      return [Answer(epoch: lastEpoch, report: .transport(waiting.action.event), delay: Self.soon)]
    }
    if hasHappened(waiting) { return [] }
    var answers: [Answer] = []
    let isFirst = self.waiting.isEmpty || waiting.action.isAnswer == false
    if isFirst, let place = target(of: waiting.aim),
      let now = apply(waiting.action, to: place, isFresh: true)
    {
      answers = now
      waiting.applied = 1
    }
    if waiting.applied == 0, waiting.aim == .present || isOutOfDate(waiting.action) {
      moot.append(waiting.step)
      return []
    }
    // “The next n attempts” come after the one that it befell at once.
    if waiting.applied == 0 || waiting.repeats > 1 { self.waiting.append(waiting) }
    return answers
  }

  /// A server or host that is known to be up or down gives that answer by itself, and may have done
  /// so.
  private func hasHappened(_ waiting: Waiting) -> Bool {
    if waiting.action == .open(withSession: false), waiting.aim == .next, server == .up,
      self.waiting.isEmpty, links.last?.isOpen == true
    {
      return true
    }
    guard case .host(let name) = waiting.aim,
      let place = hosts.firstIndex(where: { $0.name == name }),
      !links.contains(where: { Int($0.endpoint.rawValue) == place && !$0.isOpen })
    else { return false }
    return hosts[place].isUp == (waiting.action == .open(withSession: false))
      && waiting.action.isAnswer
  }

  /// Whether it answers a question about an old session while a new one is under way.
  private func isOutOfDate(_ action: NetworkAction) -> Bool {
    guard case .session(let answer) = action, links.last?.asksToResume == false else {
      return false
    }
    return answer == .resumed || answer == .resumeRefused
  }

  /// Applies what waits, oldest first, as far as the links admit.
  mutating func pump() -> [Answer] {
    var answers: [Answer] = []
    while let head = waiting.first, let place = target(of: head.aim) {
      guard let now = apply(head.action, to: place, isFresh: false) else {
        // What befalls a link, for each of the next attempts: open it first.
        if head.repeats > 1 || head.action.isSession, !head.action.isAnswer,
          let opening = apply(.open(withSession: false), to: place, isFresh: false)
        {
          answers += opening
        }
        break
      }
      answers += now
      waiting[0].applied += 1
      if waiting[0].applied >= waiting[0].repeats { waiting.removeFirst() }
    }
    return answers
  }

  func admits(_ aim: Aim, _ link: Link) -> Bool {
    switch aim {
    case .next: true
    case .generation(let number): link.epoch == Epoch(number)
    case .lastOpened: link.epoch == lastOpened
    case .elder: link.epoch == links.first?.epoch
    case .host(let name):
      hosts.firstIndex { $0.name == name } == Int(link.endpoint.rawValue)
    case .echo, .present: false
    }
  }

  /// The place of the newest link that an action is aimed at.
  private func target(of aim: Aim) -> Int? {
    if aim == .present { return links.indices.last }
    if aim == .elder { return links.indices.first }
    return links.lastIndex { admits(aim, $0) }
  }

  /// Nil if the action finds nothing that it can befall now.
  private mutating func apply(
    _ action: NetworkAction, to place: Int, isFresh: Bool
  ) -> [Answer]? {
    let link = links[place]
    if action == .open(withSession: true), link.isOpen, let resumes = link.asksToResume {
      return sessionAnswered(resumes ? .resumed : .ready, on: link.epoch)
    }
    // A step at its own time answers the attempt at once, even one that was left hanging before.
    let delay = isFresh ? .zero : Self.soon
    func answer(_ event: TransportEvent) -> [Answer] {
      [Answer(epoch: link.epoch, report: .transport(event), delay: delay)]
    }
    if action.isAnswer {
      guard !link.isOpen, isFresh || !link.isAnswered else { return nil }
      links[place].isAnswered = true
    } else if !action.isReset || !isFresh {
      guard link.isOpen else { return nil }
    }
    switch action {
    case .hang: return []
    case .open(let withSession):
      links[place].acceptsSession = withSession
      isDark = false
      return answer(.opened)
    case .openBare:
      links[place].isSessionMute = true
      return answer(.opened)
    case .session(let answer): return apply(answer, to: place)
    // Heard as it comes: it finds nobody who asks.
    case .sessionAgain: return []
    case .fails, .reset, .finish, .serverClose: return end(place, answer(action.event))
    case .goSilent:
      links[place].isSilent = true
      return []
    case .message, .viability, .drainRequested, .betterPath: return answer(action.event)
    case .pong: return answer(link.lastPing.map { .pong($0) } ?? action.event)
    case .acknowledge: return acknowledgements(on: link.epoch, after: delay)
    case .writable(let writable):
      links[place].isBlocked = !writable
      let unwritten = writable ? link.unwritten : []
      if writable { links[place].unwritten = [] }
      return answer(action.event) + written(unwritten, on: link.epoch)
    }
  }

  private mutating func apply(_ answer: SessionAnswer, to place: Int) -> [Answer]? {
    guard let resumes = links[place].asksToResume else { return nil }
    // Only a session that resumes can be resumed, or refused as unknown.
    guard resumes || answer != .resumed && answer != .resumeRefused else { return nil }
    return sessionAnswered(answer.event, on: links[place].epoch)
  }

  /// Nothing more befalls a link whose end is on its way.
  private mutating func end(_ place: Int, _ answers: [Answer]) -> [Answer] {
    links[place].isOpen = false
    links[place].isAnswered = true
    return answers
  }
}

extension NetworkAction {
  fileprivate var isReset: Bool {
    if case .reset = self { return true }
    return false
  }

  fileprivate var isOfOpenLink: Bool {
    switch self {
    case .goSilent, .viability: true
    case .open, .openBare, .hang, .fails, .session, .sessionAgain, .reset, .finish, .serverClose,
      .message, .pong,
      .acknowledge, .writable, .drainRequested, .betterPath:
      false
    }
  }

  fileprivate var isSession: Bool {
    if case .session = self { return true }
    return false
  }

  /// What the client hears of it.
  var event: TransportEvent {
    switch self {
    case .open, .openBare: .opened
    case .fails(let cause): .failed(cause)
    case .reset(let error): .failed(.system(error))
    case .finish(let code), .serverClose(let code): .closed(code)
    case .hang, .session, .sessionAgain, .goSilent, .message, .acknowledge: .received(byteCount: 1)
    case .pong: .pong(1)
    case .writable(let writable): .writabilityChanged(writable)
    case .viability(let viable): .viabilityChanged(viable)
    case .drainRequested: .drainRequested
    case .betterPath: .betterPathAvailable
    }
  }
}

extension SessionAnswer {
  var event: SessionEvent {
    switch self {
    case .ready: .ready
    case .resumed: .resumed
    case .resumeRefused: .resumeRefused
    case .refused: .refused(.denied)
    case .unavailable: .refused(.unavailable)
    }
  }
}
