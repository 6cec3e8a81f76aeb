import ConnectionFSM
import Foundation
import NetSim

/// A fleet and the server it comes back to, as the command line says.
struct FleetPlan: Sendable {
  let clients: Int
  let server: FleetServer
  let limit: TimeSpan

  init(_ arguments: inout ArgumentList) throws(Failure) {
    clients = try arguments.number(of: "--clients", in: 1...10_000_000) ?? 10_000
    limit = try arguments.span(of: "--limit") ?? .seconds(600)
    let outage = try arguments.value(of: "--outage") ?? "restart:5s"
    var server = FleetServer(
      serviceTime: .milliseconds(2), backlog: 4096, outage: try arguments.outage(outage))
    var hint: UInt16?
    for part in try arguments.value(of: "--server")?.split(separator: ",") ?? [] {
      try arguments.set(part, of: &server, hint: &hint)
    }
    // Whatever stood first: a hint goes with a 503, at the latest when the line is full.
    if let hint {
      let limit = server.shedding?.queueLimit ?? server.backlog
      server.shedding = FleetServer.Shedding(queueLimit: limit, retryAfter: hint)
    }
    self.server = server
  }

  /// How many clients lose their link.
  var lost: Int {
    guard case .zoneLoss(let percent) = server.outage else { return clients }
    return max(1, clients * percent / 100)
  }

  /// How long the server is not there for dials.
  var down: TimeSpan {
    switch server.outage {
    case .restart(let span), .silence(let span): span
    case .drain, .zoneLoss: .zero
    }
  }

  /// The soonest that a server of this rate can have shaken hands with all.
  var bound: TimeSpan {
    let work = TimeSpan.nanoseconds(
      Int64(clamping: Int(server.serviceTime.nanoseconds) * lost))
    guard case .drain(let span) = server.outage else { return down + work }
    return max(span, work)
  }

  var title: String {
    let clients = lost == clients ? clients.grouped : "\(lost.grouped) of \(clients.grouped)"
    return switch server.outage {
    case .restart: "\(clients) clients come back to a restarted server"
    case .silence: "\(clients) clients come back to a server that fell silent"
    case .drain: "\(clients) clients are let go by a server that drains"
    case .zoneLoss: "\(clients) clients come back after the loss of a zone"
    }
  }

  /// Sentences about fleet and server.
  var facts: [String] {
    let outage =
      switch server.outage {
      case .restart(let span):
        "All links are lost at once, and the server refuses dials for \(span.words)."
      case .silence(let span):
        "All links are lost at once, and dials vanish for \(span.words)."
      case .drain(let span):
        "The server closes its links evenly over \(span.words), and goes on to serve."
      case .zoneLoss(let percent):
        "\(percent) % of the links are lost at once; the server goes on to serve."
      }
    let rate = 1e9 / Double(server.serviceTime.nanoseconds)
    let figures = rate < 10 ? String(format: "%.2f", rate) : Int(rate.rounded()).grouped
    var facts = [
      outage,
      "It shakes hands with \(figures) clients a second; \(server.backlog.grouped) may stand in "
        + "line, one more dial vanishes.",
    ]
    if let shedding = server.shedding {
      let hint = shedding.retryAfter.map { " and “Retry-After: \($0)”" } ?? ""
      facts.append(
        "A dial that finds \(shedding.queueLimit.grouped) in line gets a 503\(hint) at once.")
    }
    facts.append("No server of this rate has served all before \(bound.words).")
    return facts
  }
}

extension TimeSpan {
  /// `250 ms`, `24.8 s`, `600 s`
  var words: String {
    if self < .seconds(1), nanoseconds > 0 { return "\(nanoseconds / 1_000_000) ms" }
    let text = String(format: "%.1f", Double(nanoseconds) / 1e9)
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " s"
  }
}

extension ArgumentList {
  fileprivate func outage(_ text: String) throws(Failure) -> FleetServer.Outage {
    let parts = text.split(separator: ":", maxSplits: 1)
    let value = parts.count > 1 ? parts[1] : ""
    if parts.first == "zone" {
      guard let percent = Int(value.hasSuffix("%") ? value.dropLast() : value) else {
        throw usage("--outage “\(text)” needs percent, as in zone:17%")
      }
      return .zoneLoss(percent: percent)
    }
    guard let kind = parts.first, ["restart", "silence", "drain"].contains(kind) else {
      throw usage(
        "--outage “\(text)” is unknown; there are restart:5s, silence:5s, drain:60s, zone:17%")
    }
    guard let span = TimeSpan(words: value) else {
      throw usage("--outage “\(text)” needs a time, as in \(kind):5s")
    }
    return kind == "restart"
      ? .restart(down: span) : kind == "silence" ? .silence(span) : .drain(over: span)
  }

  fileprivate func set(
    _ part: Substring, of server: inout FleetServer, hint: inout UInt16?
  ) throws(Failure) {
    let words = part.split(separator: "=", maxSplits: 1)
    let value = words.count > 1 ? words[1] : ""
    switch words.first {
    case "rate":
      guard let rate = Double(value), rate.isFinite, rate >= 1e-3, rate <= 1e9 else {
        throw usage("--server “\(part)”: rate is handshakes a second, as in rate=500")
      }
      server.serviceTime = .nanoseconds(Int64((1e9 / rate).rounded()))
    case "backlog":
      guard let count = Int(value) else { throw whole(part) }
      server.backlog = count
    case "shed":
      guard let count = Int(value) else { throw whole(part) }
      server.shedding = FleetServer.Shedding(queueLimit: count)
    case "retry-after":
      guard let seconds = UInt16(value.hasSuffix("s") ? value.dropLast() : value) else {
        throw usage("--server “\(part)”: retry-after is whole seconds, 0 to 65535")
      }
      hint = seconds
    case "latency":
      guard let span = TimeSpan(words: value) else {
        throw usage("--server “\(part)”: latency is a time one way, as in latency=25ms")
      }
      server.latency = LatencyRange(span, span)
    default:
      throw usage(
        "--server “\(part)” is unknown; there are rate, backlog, shed, retry-after, latency")
    }
  }

  private func whole(_ part: Substring) -> Failure {
    usage("--server “\(part)” needs a whole number, as in backlog=4096")
  }
}
