import ConnectionFSM

extension Swarm {
  /// Adds what a family does.
  mutating func befall(_ family: Family) {
    switch family {
    case .connects: add(.app(draws.one(of: [.connect(nil), .reconnect])))
    case .closes:
      add(.app(draws.one(of: [.close, .drain])))
      if draws.isOn(3, in: 4) {
        add(.app(.connect(nil)), after: .milliseconds(Int64(draws.next(through: 4_000))))
      }
    case .elsewhere: add(.app(.connect(EndpointID(UInt32(draws.next(through: 2))))))
    case .messages: send(1)
    case .bursts: send(5 + Int(draws.next(through: 15)))
    case .replacements:
      guard let label = someMessage() else { return send(1) }
      if draws.isOn(1, in: 2) { replace(label) } else { add(.app(.cancel(label))) }
    case .demand: add(.app(.demand(draws.isOn(1, in: 2))))
    case .callbacks:
      let calls: [AppAction] = [.connect(nil), .close, .reconnect]
      add(.callback(draws.one(of: CallbackMoment.allCases), [draws.one(of: calls)]))
    case .partings: part()
    case .sleeps: add(.device(draws.isOn(1, in: 2) ? .sleep : .wake))
    case .lifecycle:
      add(.device(.lifecycle(draws.one(of: [.foreground, .background, .suspended]))))
    case .timers: add(.device(.timer))
    case .servers: add(.environment(draws.isOn(1, in: 2) ? .serverUp : .serverDown))
    case .refusals, .hangs, .names, .busyServers, .fatalAnswers: answer(family)
    case .hosts:
      let names = ["a", "b", "c"]
      add(.environment(.hosts(names.map { .init(name: $0, isUp: draws.isOn(1, in: 2)) })))
    case .resets, .finishes, .closeCodes, .silence, .traffic, .blocks, .viability, .drains:
      befallLink(family)
    case .paths, .lies, .interfaces, .darkness, .losses, .delays: befallWay(family)
    case .sessions: happen(.session(draws.one(of: SessionAnswer.allCases)))
    case .credentials:
      add(.provider(.answers(draws.one(of: [.available, .available, .unavailable, .refused]))))
    case .ghosts: haunt()
    }
  }

  private mutating func happen(_ action: NetworkAction, _ aim: Aim = .next, repeats: Int = 1) {
    add(.network(action, aim, repeats: repeats, every: nil))
  }

  /// How the next dials are answered.
  private mutating func answer(_ family: Family) {
    let repeats = draws.isOn(1, in: 4) ? 2 + Int(draws.next(through: 8)) : 1
    switch family {
    case .refusals: happen(.fails(.system(.connectionRefused)), repeats: repeats)
    case .hangs: happen(draws.isOn(1, in: 4) ? .openBare : .hang, repeats: repeats)
    case .names:
      happen(.fails(.resolution(draws.isOn(1, in: 2) ? .unknownName : .temporaryFailure)))
    case .busyServers:
      let status: UInt16 = draws.one(of: [429, 502, 503])
      happen(.fails(.http(status: status, retryAfter: draws.one(of: [nil, 1, 30]))))
    default: happen(.fails(.http(status: draws.one(of: [401, 403, 426, 500]))))
    }
  }

  private mutating func befallLink(_ family: Family) {
    switch family {
    // Also the link that a replacement is opened beside.
    case .resets:
      happen(.reset(draws.one(of: [.connectionReset, .notConnected])), newestOrElder())
    case .finishes: happen(.finish(nil), newestOrElder())
    case .closeCodes:
      let codes: [UInt16] = [1000, 1001, 1008, 1011, 1012, 1013, 4001]
      happen(.serverClose(CloseCode(draws.one(of: codes))))
    case .silence: happen(.goSilent)
    case .traffic:
      let action: NetworkAction = draws.one(of: [.message, .pong, .acknowledge])
      let every: TimeSpan? = draws.isOn(1, in: 4) ? .milliseconds(500) : nil
      add(.network(action, .next, repeats: every == nil ? 1 : 20, every: every))
    case .blocks: happen(.writable(draws.isOn(1, in: 2)))
    case .viability: happen(.viability(draws.isOn(1, in: 2)))
    default: replace()
    }
  }

  /// A replacement is wanted, and may be on its way when the link that it replaces ends.
  private mutating func replace() {
    happen(draws.isOn(1, in: 2) ? .drainRequested : .betterPath)
    guard draws.isOn(1, in: 2) else { return }
    // Its session stays without an answer for a while.
    if families.contains(.sessions) { happen(.openBare) }
    wait(atMost: 4_000)
    happen(.reset(.connectionReset), .elder)
    wait(atMost: draws.isOn(1, in: 2) ? 300 : 2_000)
    switch draws.next(through: 7) {
    case 0...2: happen(.sessionAgain(draws.one(of: [.ready, .ready, .refused])))
    case 3: add(.app(.close))
    case 4, 5:
      add(.environment(.path(.down, isLie: true)))
      wait(atMost: 500)
      happen(.reset(.connectionReset))
    case 6: add(.device(.lifecycle(.background)))
    default: add(.app(.connect(EndpointID(1))))
    }
  }

  private mutating func newestOrElder() -> Aim { draws.isOn(1, in: 3) ? .elder : .next }

  /// A link that is let go for a while, and what comes in between.
  private mutating func part() {
    // Sometimes a link so young that the next dial must keep its distance.
    if draws.isOn(1, in: 2) {
      add(.app(.reconnect))
      wait(atMost: 500)
    }
    add(draws.isOn(1, in: 2) ? .app(.demand(false)) : .device(.lifecycle(.background)))
    let between: [Action] = [
      .app(.demand(true)), .device(.lifecycle(.foreground)), .app(.close),
      .environment(.path(.down, isLie: true)), .device(.lifecycle(.suspended)),
      .network(.reset(.connectionReset), .lastOpened, repeats: 1, every: nil),
    ]
    wait(atMost: draws.isOn(1, in: 2) ? 50 : 6_000)
    add(draws.one(of: between))
    let back: [Action] = [
      .app(.connect(nil)), .app(.demand(true)), .device(.lifecycle(.foreground)),
      .environment(.path(.up, isLie: true)),
    ]
    wait(atMost: draws.isOn(1, in: 2) ? 200 : 3_000)
    add(draws.one(of: back))
    guard draws.isOn(1, in: 3) else { return }
    wait(atMost: 1_500)
    add(draws.isOn(1, in: 4) ? .app(.close) : .environment(.path(.down, isLie: true)))
  }

  private mutating func befallWay(_ family: Family) {
    switch family {
    case .paths, .lies:
      let path: Path = draws.one(of: [.up, .down, .down, .unknown])
      add(.environment(.path(path, isLie: family == .lies)))
    case .interfaces:
      if draws.isOn(1, in: 2) {
        let ends = draws.one(of: [("wifi", "cell"), ("cell", "wifi")])
        add(.environment(.pathSwitch(from: ends.0, to: ends.1)))
      } else {
        let (isExpensive, isConstrained) = (draws.isOn(1, in: 2), draws.isOn(1, in: 2))
        let path = Path(.up, isExpensive: isExpensive, isConstrained: isConstrained)
        add(.environment(.path(path, isLie: false)))
      }
    case .darkness:
      add(.environment(.networkDown))
      happen(.open(withSession: false))
    case .losses: add(.environment(.loss(draws.one(of: [0, 30, 90]))))
    default: add(.environment(.latency(draws.milliseconds(1, 20, 300, 1000))))
    }
  }

  /// An answer to an attempt that is over by now, or never was.
  private mutating func haunt() {
    let number = 1 + draws.next(through: 7)
    if draws.isOn(1, in: 4) {
      let answer = draws.one(of: [.available, .unavailable, .refused] as [CredentialsAnswer])
      let epoch = draws.isOn(1, in: 2) ? Epoch(number) : nil
      return add(.provider(.answersLate(answer, epoch)))
    }
    let answers = SessionAnswer.allCases.map { NetworkAction.session($0) }
    if families.contains(.sessions), draws.isOn(1, in: 2) {
      return happen(.sessionAgain(draws.one(of: SessionAnswer.allCases)))
    }
    let actions: [NetworkAction] = [
      .open(withSession: false), .fails(.system(.connectionRefused)),
      .fails(.http(status: 403)), .reset(.connectionReset), .finish(nil),
      .serverClose(CloseCode(1008)), .message, .pong, .acknowledge, .writable(true),
      .writable(false), .viability(false), .drainRequested, .betterPath,
    ]
    happen(draws.one(of: actions + answers), .generation(number))
  }
}
