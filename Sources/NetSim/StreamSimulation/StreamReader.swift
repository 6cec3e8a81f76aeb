import ConnectionFSM

/// Turns the steps of a scenario over bytes into actions, one after the other, or says what is
/// wrong with one of them.
struct StreamReader {
  private let stage = StreamStage(seed: 0)
  private let lanes: Int
  private var known: Set<String> = []
  /// How many bytes all messages have so far.
  private var byteCount = 0

  private static let byteLimit = 64 << 20
  private var latency = TimeSpan.milliseconds(1)...TimeSpan.milliseconds(1)
  /// Lost packets in ten thousand.
  private var loss = 0
  private var interface: UInt16 = 1
  /// How many bytes the buffers hold; nil is what the system has.
  private(set) var buffer: Int?

  init(lanes: Int) { self.lanes = lanes }

  /// The events that can stand in a scenario over bytes.
  static let vocabulary = [
    "api.connect", "api.close", "api.release", "api.send", "api.cancel", "api.demand",
    "cb.connecting", "cb.open",
    "cb.closed", "cb.end", "dev.sleep", "dev.freeze", "dev.wake", "dev.background",
    "dev.foreground", "dev.suspend", "net.path_down", "net.path_up", "net.path_unknown",
    "net.path_change", "net.server_down", "net.server_up", "net.server_mute", "net.server_finish",
    "net.server_cut", "net.rst", "net.fin", "net.server_close", "net.crash", "net.restart",
    "net.silent_drop", "net.cut", "net.block", "net.down", "net.unblock", "net.deaf", "net.heard",
    "net.local_fail", "net.local_ok", "net.dns_fail", "net.dns_timeout", "net.dns_slow",
    "net.dns_moved", "net.dns_ok", "net.latency", "net.loss", "net.chunks", "net.buffers",
    "net.heal", "net.noop", "expect.state", "expect.outcome", "expect.live",
  ]

  mutating func read(_ step: Scenario.Step, place: Int, cast: Cast) throws(ScenarioError)
    -> StreamAction
  {
    let reader = ActionReader(step: step, place: place, cast: cast)
    guard step.t.isFinite, (0...9e9).contains(step.t) else {
      throw reader.error("t must be a number of seconds from 0 to 9,000,000,000")
    }
    if step.ev.hasPrefix("state.") || step.ev == "net.noop" { return .mark }
    if let call = try readCall(reader) { return .call(call) }
    if let callback = try readCallback(reader) { return callback }
    if let expectation = try readExpectation(reader) { return .expectation(expectation) }
    if step.ev == "net.heal" {
      interface = stage.wifi
      (latency, loss) = (.milliseconds(1)...TimeSpan.milliseconds(1), 0)
      return .heal(stage.health)
    }
    if step.ev == "net.buffers" {
      buffer = try readBuffers(reader)
      return .mark
    }
    if let action = try readDevice(reader) { return action }
    if let faults = try readServer(reader) { return .faults(faults) }
    if let faults = try readNames(reader) { return .faults(faults) }
    if let faults = try readWay(reader) { return .faults(faults) }
    if let faults = try readLink(reader) { return .faults(faults) }
    let known = Self.vocabulary.joined(separator: ", ")
    throw reader.error("unknown event “\(step.ev)”; known over bytes are \(known)")
  }

  private func readBuffers(_ reader: ActionReader) throws(ScenarioError) -> Int {
    guard reader.step.t == 0 else {
      throw reader.error("buffers have one size from the beginning on: let t be 0")
    }
    let count = try reader.number(reader.argument("a number of bytes"))
    guard (64...1 << 24).contains(count) else { throw reader.error("write 64 to 16777216") }
    return count
  }
}

// MARK: The application

extension StreamReader {
  private mutating func readCall(_ reader: ActionReader) throws(ScenarioError) -> StreamCall? {
    switch reader.step.ev {
    case "api.connect":
      guard let text = reader.step.arg else { return .connect(0) }
      guard let number = ["@0", "@1"].firstIndex(of: text) else {
        throw reader.error("“\(text)” names no endpoint; write @0 or @1")
      }
      return .connect(number)
    case "api.close": return .close
    case "api.release": return .release
    case "api.send": return .send(try readMessages(reader))
    case "api.cancel": return .cancel(try reader.argument("the label of a message"))
    case "api.demand": return .demand(try reader.truth(reader.step.arg))
    default: return nil
    }
  }

  private mutating func readMessages(_ reader: ActionReader) throws(ScenarioError)
    -> [StreamMessage]
  {
    let text = try reader.argument("the labels of messages")
    let lane = reader.step.lane ?? 0
    // One lane too many may be asked for: its messages are rejected.
    guard lane <= lanes else { throw reader.error("there are \(lanes) lanes, from 0 on") }
    var messages: [StreamMessage] = []
    let labels = try reader.labels(of: text)
    // Every payload is made when the story is read: what it must match is known before it is sent.
    let (sum, overflow) = labels.count.multipliedReportingOverflow(by: Int(reader.step.bytes ?? 0))
    byteCount += overflow ? Self.byteLimit : sum
    guard byteCount <= Self.byteLimit else {
      throw reader.error("a story may send \(Self.byteLimit) bytes in all; write fewer, or smaller")
    }
    for label in labels {
      guard label.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw reader.error("“\(label)” is no label; write words: a, a,b or m1..m25")
      }
      guard known.insert(label).inserted else {
        throw reader.error("“\(label)” was sent before; give each message a label of its own")
      }
      messages.append(
        StreamMessage(label: label, lane: lane, byteCount: reader.step.bytes.map(Int.init)))
    }
    return messages
  }

  /// `→api.close,api.send x`: what the application calls.
  private mutating func readCallback(_ reader: ActionReader) throws(ScenarioError)
    -> StreamAction?
  {
    guard reader.step.ev.hasPrefix("cb.") else { return nil }
    guard let moment = StreamMoment(rawValue: String(reader.step.ev.dropFirst(3))) else {
      let known = StreamMoment.allCases.map { "cb.\($0.rawValue)" }.joined(separator: ", ")
      throw reader.error("unknown callback; known are \(known)")
    }
    let text = try reader.argument("calls: →api.close,api.send x")
    var calls: [StreamCall] = []
    for call in text.drop(while: { $0 == "→" }).split(separator: ",") {
      let words = call.split(separator: " ").map(String.init)
      var step = reader.step
      step.ev = words.first ?? ""
      step.arg = words.count > 1 ? words[1] : nil
      let inner = ActionReader(step: step, place: reader.place, cast: reader.cast)
      guard words.count <= 2, let action = try readCall(inner) else {
        throw reader.error("“\(call)” is nothing that an application calls")
      }
      calls.append(action)
    }
    return .callback(moment, calls)
  }

  private func readExpectation(_ reader: ActionReader) throws(ScenarioError)
    -> StreamExpectation?
  {
    guard reader.step.ev.hasPrefix("expect.") else { return nil }
    switch try reader.readExpectation() {
    case .state(let phase)?: return .state(phase)
    case .outcome(let labels, let outcome)?: return .outcome(labels, outcome)
    case .live(let count)?: return .live(count)
    default:
      throw reader.error("over bytes there are expect.state, expect.outcome and expect.live")
    }
  }
}

// MARK: The device and its network

extension StreamReader {
  private func readDevice(_ reader: ActionReader) throws(ScenarioError) -> StreamAction? {
    let client = stage.client
    switch reader.step.ev {
    case "dev.sleep": return .faults([.sleep(client)])
    case "dev.freeze": return .faults([.suspend(client)])
    case "dev.wake": return .faults([.wake(client, sockets: try fate(reader, .connectionAborted))])
    case "dev.background": return .lifecycle(.background)
    case "dev.foreground": return .lifecycle(.foreground)
    case "dev.suspend": return .lifecycle(.suspended)
    default: return nil
    }
  }

  /// `fail`: the sockets that are there fail at once.
  private func fate(_ reader: ActionReader, _ error: SystemError) throws(ScenarioError)
    -> SocketFate
  {
    switch reader.step.arg {
    case nil: return .kept
    case "fail": return .failed(error)
    case let text?: throw reader.error("“\(text)” is not understood; the one argument is fail")
    }
  }

  private mutating func readWay(_ reader: ActionReader) throws(ScenarioError) -> [Fault]? {
    let (client, server) = (stage.client, stage.server)
    switch reader.step.ev {
    case "net.path_down":
      if reader.words.hints.contains("false report") { return [.claimPath(client, .down)] }
      return [.leaveNetwork(client, sockets: try fate(reader, .networkDown))]
    case "net.path_unknown": return [.claimPath(client, .unknown)]
    case "net.path_up":
      return [.join(client, interface: interface, sockets: .kept)]
    case "net.path_change":
      let words = reader.words.plain
      guard let names = words.first?.split(separator: ">"), let name = names.last,
        ["wifi", "cell"].contains(name), words.count == 1 || words == [words[0], "fail"]
      else { throw reader.error("write wifi, cell, or wifi->cell, and fail if sockets fail") }
      interface = name == "wifi" ? stage.wifi : stage.cell
      let fate: SocketFate = words.count == 1 ? .kept : .failed(.connectionAborted)
      return [.join(client, interface: interface, sockets: fate)]
    case "net.silent_drop": return [.sever(client)]
    case "net.cut": return [.cut(client)]
    case "net.block": return try readBlock(reader)
    case "net.down":
      return [.block(from: client, to: server, .drop), .block(from: server, to: client, .drop)]
    case "net.unblock": return stage.waysAreFree
    case "net.deaf": return stage.internet.addresses(of: server).map { .deaf(address: $0) }
    case "net.heard": return stage.internet.addresses(of: server).map { .heard(address: $0) }
    case "net.local_fail": return [.failLocally(client, .networkUnreachable)]
    case "net.local_ok": return [.failLocally(client, nil)]
    default: return nil
    }
  }

  /// `up`, `down hold`: one direction, whose packets are lost or held.
  private func readBlock(_ reader: ActionReader) throws(ScenarioError) -> [Fault] {
    let words = reader.words.plain
    guard let direction = words.first, ["up", "down"].contains(direction),
      words.count == 1 || words.count == 2 && ["drop", "hold"].contains(words[1])
    else { throw reader.error("write up or down, and drop or hold: “up hold”") }
    let ends =
      direction == "up" ? (stage.client, stage.server) : (stage.server, stage.client)
    return [.block(from: ends.0, to: ends.1, words.last == "hold" ? .hold : .drop)]
  }

  private mutating func readLink(_ reader: ActionReader) throws(ScenarioError) -> [Fault]? {
    switch reader.step.ev {
    case "net.latency":
      let text = try reader.argument("one way: 80ms, or 5ms..60ms")
      guard let dots = text.firstRange(of: "..") else {
        let span = try reader.span(text)
        latency = span...span
        break
      }
      let least = try reader.span(String(text[..<dots.lowerBound]))
      let most = try reader.span(String(text[dots.upperBound...]))
      guard least <= most else { throw reader.error("“\(text)” is no range") }
      latency = least...most
    case "net.loss":
      let text = try reader.argument("a share such as 5%")
      // All of it is net.down: here a lost packet is repaired.
      guard text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...90).contains(percent)
      else { throw reader.error("“\(text)” is no share; write 0% to 90%") }
      loss = percent * 100
    case "net.chunks":
      let text = try reader.argument("how long the pieces are at most: 7, or whole")
      if text == "whole" { return [.chunking(.whole)] }
      let most = try reader.number(text)
      guard most > 0 else { throw reader.error("a piece has at least one byte") }
      return [.chunking(most == 1 ? .single : .atMost(most))]
    default: return nil
    }
    let channel = Channel(
      latency: .uniform(latency), loss: loss == 0 ? .none : .independent(perTenThousand: loss))
    return [
      .link(
        stage.client,
        LinkProfile("told", about: "as the story says", source: "", up: channel, down: channel))
    ]
  }
}

// MARK: The server and its names

extension StreamReader {
  private func readServer(_ reader: ActionReader) throws(ScenarioError) -> [Fault]? {
    let (server, port) = (stage.server, StreamStage.port)
    switch reader.step.ev {
    case "net.server_down": return [.refuse(server, port: port)]
    case "net.server_up": return [stage.served]
    case "net.server_mute": return [.serve(server, port: port, Service(script: [.hang]))]
    case "net.server_finish":
      return [.serve(server, port: port, Service(script: [.receive(1), .finish]))]
    case "net.server_cut":
      let count = try reader.number(reader.argument("after how many bytes"))
      return [.serve(server, port: port, Service(script: [.receive(count), .reset]))]
    case "net.rst": return [.resetAll(server, port: port, within: try window(reader))]
    case "net.fin", "net.server_close":
      return [.closeAll(server, port: port, lastWords: [], within: try window(reader))]
    case "net.crash": return [.crash(server)]
    case "net.restart": return [.restart(server)]
    default: return nil
    }
  }

  private func window(_ reader: ActionReader) throws(ScenarioError) -> TimeSpan {
    guard let text = reader.step.arg else { return .zero }
    return try reader.span(text)
  }

  private func readNames(_ reader: ActionReader) throws(ScenarioError) -> [Fault]? {
    let names = StreamStage.names
    switch reader.step.ev {
    case "net.dns_fail": return names.map { .unknownName($0) }
    case "net.dns_timeout": return names.map { .silentName($0) }
    case "net.dns_slow":
      let delay = try reader.span(reader.argument("how much longer it takes: 3s"))
      return names.map { .slowName($0, delay) }
    // An address for documentation (RFC 5737): nobody has it.
    case "net.dns_moved": return names.map { .moveName($0, to: ["192.0.2.1"], staleFor: .zero) }
    case "net.dns_ok": return stage.namesAreWell
    default: return nil
    }
  }
}
