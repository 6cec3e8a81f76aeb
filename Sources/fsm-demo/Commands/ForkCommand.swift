import ConnectionFSM
import NetSim

/// Lets a story go on in two ways from one of its steps, and compares.
struct ForkCommand: Command {
  static let name = "fork"
  static let summary = "Let a story go on in two ways from a step, and compare"
  static let help = Help.fork

  private let source: ScenarioSource
  private let step: Int
  private let seed: UInt64?
  private let steps: [String]

  init(_ arguments: inout ArgumentList) throws(Failure) {
    let step = try arguments.number(of: "--at", in: 1...Int.max)
    seed = try arguments.number(of: "--seed", in: 0...UInt64.max)
    steps = try arguments.values(of: "--do")
    source = try ScenarioSource(&arguments)
    guard let step else { throw arguments.usage("name the step with --at STEP") }
    guard seed != nil || !steps.isEmpty else {
      throw arguments.usage("say what is to be otherwise: --seed N, --do STEP, or both")
    }
    self.step = step
  }

  func run() throws(Failure) {
    var common = Branch(try simulation())
    common.run(toStep: step)
    guard common.records.count >= step else {
      if let problem = common.problem { throw Failure(.failed, "\(source.name): \(problem)") }
      throw Failure(
        .usage, "\(source.name): there is no step \(step); there are \(common.records.count)")
    }
    var asItWas = common
    var otherwise = common
    do throws(ScenarioError) {
      try otherwise.simulation.diverge(seed: seed, doing: steps)
    } catch {
      throw Failure(.usage, "--do: \(error)")
    }
    asItWas.run()
    otherwise.run()
    report(Comparison(common, asItWas, otherwise))
    for branch in [asItWas, otherwise] {
      if let problem = branch.problem { throw Failure(.failed, "\(source.name): \(problem)") }
    }
  }

  /// The run at its beginning.
  private func simulation() throws(Failure) -> Simulation {
    if case .builtIn(let name) = source, ConditionRun.condition(named: name) != nil {
      throw Failure(
        .usage, "\(name) is a condition: it runs tasks, of which there are no copies; fork a story")
    }
    let scenario = try source.scenario()
    guard scenario.over?.isOfBytes != true else {
      throw Failure(
        .usage,
        "\(source.name): runs over bytes, with tasks, of which there are no copies; fork it "
          + "without “over”")
    }
    do throws(ScenarioError) { return try Simulation(scenario, seed: scenario.seed) } catch {
      throw Failure(.badData, "\(source.name): \(error)")
    }
  }

  private func report(_ comparison: Comparison) {
    let change = (seed.map { ["seed \($0)"] } ?? []) + steps
    for line in comparison.lines(otherwise: change.joined(separator: ", ")) { Console.print(line) }
  }
}

/// One way a story goes, as far as it has gone.
private struct Branch {
  var simulation: Simulation
  private(set) var events: [Simulation.Event] = []
  private(set) var records: [TraceRecord] = []
  private(set) var statistics = Statistics()
  /// What ended it before its time: an expectation that was not met, or a bug of this package.
  private(set) var problem: String?

  init(_ simulation: Simulation) { self.simulation = simulation }

  /// Goes on to the end, or until there are so many steps, with all that comes with the last one.
  mutating func run(toStep limit: Int = .max) {
    do {
      while records.count < limit, try advance() {}
    } catch {
      problem = "\(error)"
    }
  }

  private mutating func advance() throws -> Bool {
    var heard: [Simulation.Event] = []
    defer {
      events += heard
      for case .step(let record) in heard {
        records.append(record)
        statistics.add(record)
      }
    }
    return try simulation.advance { heard.append($0) }
  }
}

/// Two ways of a story beside what they have in common.
private struct Comparison {
  /// The most steps of a branch that are shown, and of what comes before.
  private static let shownLimit = 40
  private static let contextLength = 3

  private let common: Branch
  private let asItWas: Branch
  private let otherwise: Branch
  /// How many steps are the same in both.
  private let sameCount: Int

  init(_ common: Branch, _ asItWas: Branch, _ otherwise: Branch) {
    self.common = common
    self.asItWas = asItWas
    self.otherwise = otherwise
    sameCount = zip(asItWas.records, otherwise.records).prefix { $0 == $1 }.count
  }

  func lines(otherwise change: String) -> [String] {
    let last = common.records.count
    let time = common.records[last - 1].instant
    let isOne = sameCount == max(asItWas.records.count, otherwise.records.count)
    let table = StepTable(upTo: UInt64(max(asItWas.records.count, otherwise.records.count)))
    var lines = ["Forked after step \(last), at \(time) s, with \(change).", ""]
    lines += [table.head]
    lines += asItWas.records[max(0, sameCount - Self.contextLength)..<sameCount].map(table.line)
    if isOne {
      lines += ["", "All \(sameCount) steps are the same in both."]
    } else {
      lines += ["", "As it was, from the first difference on:"] + rest(of: asItWas, table)
      lines += ["", "Otherwise:"] + rest(of: otherwise, table)
    }
    return lines + [""] + summary
  }

  /// What happens after the common steps.
  private func rest(of branch: Branch, _ table: StepTable) -> [String] {
    var lines: [String] = []
    var passed = 0
    for event in branch.events {
      if case .step = event { passed += 1 }
      // What the network did stands before the steps that come of it.
      guard passed > sameCount || passed == sameCount && !event.isStep else { continue }
      if lines.count == Self.shownLimit {
        lines.append("… and \(branch.records.count - passed + 1) more steps")
        break
      }
      switch event {
      case .step(let record): lines.append(table.line(record))
      case .note(let instant, let note): lines.append(table.note(note, at: instant))
      }
    }
    if let problem = branch.problem { lines.append(problem) }
    return lines.isEmpty ? ["nothing more"] : lines
  }

  private var summary: [String] {
    let rows: [(String, (Branch) -> String)] = [
      ("steps", { "\($0.records.count), \(sameCount) of them the same" }),
      ("dials", { "\($0.statistics.attempts)" }),
      ("links that opened", { "\($0.statistics.opens)" }),
      ("phases after the fork", { phases(of: $0) }),
      ("messages", { $0.statistics.messagesInWords ?? "none" }),
    ]
    var lines: [String] = []
    for (name, words) in rows {
      let (old, new) = (words(asItWas), words(otherwise))
      if old == new {
        lines.append("\(name.padded(to: 23))\(old)")
      } else {
        lines.append("\(name.padded(to: 23))as it was: \(old)")
        lines.append("\("".padded(to: 23))otherwise: \(new)")
      }
    }
    let idle = otherwise.simulation.unconsumedAdditions
    if !idle.isEmpty {
      lines.append("\("befell nothing".padded(to: 23))\(idle.joined(separator: ", "))")
    }
    return lines + messages
  }

  private func phases(of branch: Branch) -> String {
    let records = branch.records[(common.records.count - 1)...]
    var phases = records.first.map { ["\($0.to)"] } ?? []
    for record in records where "\(record.to)" != phases.last { phases.append("\(record.to)") }
    let shown = phases.prefix(12).joined(separator: " → ")
    return phases.count > 12 ? "\(shown) … \(phases[phases.count - 1])" : shown
  }

  /// The messages that ended in one of the two ways otherwise than in the other.
  private var messages: [String] {
    let (old, new) = (asItWas.simulation.outcomes, otherwise.simulation.outcomes)
    let differing =
      old.filter { !new.contains($0) }.map { "as it was: \($0)" }
      + new.filter { !old.contains($0) }.map { "otherwise: \($0)" }
    return differing.map { "\("".padded(to: 23))\($0)" }
  }
}

extension Simulation.Event {
  fileprivate var isStep: Bool {
    if case .step = self { return true }
    return false
  }
}
