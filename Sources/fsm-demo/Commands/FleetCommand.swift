import ConnectionFSM
import Foundation
import NetSim

/// What happens when a server restarts and all its clients come back.
struct FleetCommand: Command {
  static let name = "fleet"
  static let summary = "What your server sees when all its clients come back at once"
  static let help = Help.fleet

  private let plan: FleetPlan
  private let clients: [FleetClient]
  private let seeds: ClosedRange<UInt64>
  private let jobs: Int
  private let advises: Bool
  private let csvPath: String?
  private let jsonPath: String?
  private let htmlPath: String?
  /// What the user wrote, for the page.
  private let words: [String]

  init(_ arguments: inout ArgumentList) throws(Failure) {
    words = Array(CommandLine.arguments.dropFirst())
    plan = try FleetPlan(&arguments)
    advises = arguments.flag("--advise")
    let deadline = try arguments.span(of: "--connect-deadline")
    var names = try arguments.values(of: "--policy")
    if names.isEmpty { names = advises ? ["default"] : FleetClient.usual }
    var clients: [FleetClient] = []
    for name in names { clients.append(try FleetClient(name, connectDeadline: deadline)) }
    self.clients = clients
    seeds = try arguments.seeds(of: "--seeds") ?? 1...1
    guard seeds.upperBound - seeds.lowerBound < 10_000 else {
      throw arguments.usage("--seeds takes 10,000 at most")
    }
    jobs =
      try arguments.number(of: "--jobs", in: 1...1024)
      ?? ProcessInfo.processInfo.activeProcessorCount
    csvPath = try arguments.value(of: "--csv")
    jsonPath = try arguments.value(of: "--json")
    htmlPath = try arguments.value(of: "--html")
    guard !advises || (csvPath == nil && jsonPath == nil && htmlPath == nil && clients.count == 1)
    else {
      throw arguments.usage(
        "--advise searches around one --policy, and prints; no --csv, --json or --html beside it")
    }
  }

  func run() throws(Failure) {
    // Before the work, not after it.
    for path in [csvPath, jsonPath, htmlPath] {
      if let path { try OutputFile.probe(path) }
    }
    #if DEBUG
      Console.complain("this is a debug build, many times slower; build with -c release")
    #endif
    if advises { return try advise() }
    let rows = try compare()
    let paint = Paint()
    let table = FleetTable(rows, shedding: plan.server.shedding != nil)
    Console.print(
      ([paint.title(plan.title)] + plan.facts + ["", table.text(paint), ""]).joined(separator: "\n")
        + "\n" + FleetSparklines(rows: rows).text(paint))
    if let csvPath { try OutputFile.write(FleetFiles.csv(rows, seeds: seeds), to: csvPath) }
    if let jsonPath {
      try OutputFile.write(FleetFiles.json(plan, rows, seeds: seeds), to: jsonPath)
    }
    if let htmlPath {
      let page = FleetPage(
        title: plan.title, facts: plan.facts, command: command, columns: table.columns,
        cells: table.cells, rows: rows, shaded: plan.down, bound: plan.bound)
      try OutputFile.write(page.html, to: htmlPath)
    }
  }

  /// As a shell takes it.
  private var command: String {
    let safe = words.map { word in
      word.allSatisfy { $0.isLetter || $0.isNumber || "-_=.,:/%+".contains($0) }
        ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
    return (["fsm-demo"] + safe).joined(separator: " ")
  }

  // MARK: Comparison

  private func compare() throws(Failure) -> [FleetRow] {
    let seeds = Array(seeds)
    // Threads that have no run of their own help with those that there are.
    let shards = max(1, jobs / (clients.count * seeds.count))
    let runs = try work(clients.count * seeds.count, unit: "clients", weight: plan.clients) {
      [plan, clients] place in
      let client = clients[place / seeds.count]
      return FleetRun(
        try FleetSimulation(
          clients: plan.clients, policy: client.policy, server: plan.server,
          seed: seeds[place % seeds.count], start: client.start, limit: plan.limit,
          shards: shards
        ).run())
    }
    return clients.enumerated().map { place, client in
      let own = place * seeds.count..<(place + 1) * seeds.count
      return FleetRow(name: client.name, runs: Array(runs[own]))
    }
  }

  /// Does pieces of work on all cores, and shows how far it is.
  private func work<Outcome: Sendable>(
    _ pieces: Int, unit: String, weight: Int,
    _ piece: @escaping @Sendable (Int) throws -> Outcome
  ) throws(Failure) -> [Outcome] {
    let crew = Crew(pieces: pieces, jobs: jobs) { place in Result { try piece(place) } }
    let clock = ContinuousClock()
    let start = clock.now
    let outcomes = crew.run { done in
      let progress = CheckProgress(
        done: done * weight, of: pieces * weight, failed: 0, unit: unit)
      Console.progress(progress.line(after: (clock.now - start) / .seconds(1)))
    }
    Console.progress("")
    do {
      return try outcomes.map { try $0.get() }
    } catch let error as FleetError {
      throw Failure(.usage, "\(error); try “fsm-demo help fleet”")
    } catch {
      throw Failure(
        .failed,
        "fleet: \(error): a bug of this package, which the same words replay; please report it")
    }
  }

  // MARK: Advice

  private func advise() throws(Failure) {
    let trials = try trials()
    let outcomes = try work(trials.count, unit: "policies", weight: 1) { try trials[$0].run() }
    Console.print(
      FleetAdvice(plan: plan, tried: trials.count, runs: seeds.count, front: outcomes.front)
        .text(Paint()))
  }

  private func trials() throws(Failure) -> [FleetTrial] {
    do {
      return try PolicySweep().policies(like: clients[0].policy).map { policy in
        try FleetTrial(
          of: policy, clients: plan.clients, server: plan.server, seeds: Array(seeds),
          limit: plan.limit)
      }
    } catch {
      throw Failure(.usage, "\(error); try “fsm-demo help fleet”")
    }
  }
}
