import ConnectionFSM
import Dispatch
import Foundation
import NetSim

/// Runs stories drawn from seeds, with every promise checked, and makes small what fails.
struct CheckCommand: Command {
  static let name = "check"
  static let summary = "Stories drawn from seeds, every promise checked, what fails made small"
  static let help = Help.check

  private enum Work {
    case seeds(ClosedRange<UInt64>, ProfileName, jobs: Int, failsFast: Bool)
    case merge([String])
  }

  private let work: Work
  /// Where the summary for programs goes.
  private let summaryPath: String?
  /// Where the small scenarios go.
  private let folder: String?

  init(_ arguments: inout ArgumentList) throws(Failure) {
    let seeds = try arguments.seeds(of: "--seeds")
    let jobs = try arguments.number(of: "--jobs", in: 1...1024)
    let profile = try arguments.choice(of: "--profile", ProfileName.self)
    summaryPath = try arguments.value(of: "--summary")
    folder = try arguments.value(of: "--out")
    let failsFast = arguments.flag("--fail-fast")
    guard arguments.flag("--merge") else {
      work = .seeds(
        seeds ?? 0...9999, profile ?? .machine,
        jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount, failsFast: failsFast)
      return
    }
    guard seeds == nil, jobs == nil, profile == nil, !failsFast else {
      throw arguments.usage(
        "--merge runs nothing: no --seeds, --jobs, --profile or --fail-fast beside it")
    }
    var paths: [String] = []
    while let path = arguments.operand() { paths.append(path) }
    guard !paths.isEmpty else { throw arguments.usage("--merge needs the files of summaries") }
    work = .merge(paths)
  }

  func run() throws(Failure) {
    // Before the work, not after it.
    if let summaryPath { try OutputFile.probe(summaryPath) }
    if let folder { try OutputFile.makeFolder(folder) }
    switch work {
    case .merge(let paths): try conclude(CheckReport(SummaryFile.merged(paths), speed: nil))
    case .seeds(let seeds, let profile, let jobs, let failsFast):
      #if DEBUG
        Console.complain("this is a debug build, many times slower; build with -c release")
      #endif
      let report = Self.run(
        seeds, try profile.profile(), jobs: jobs, failsFast: failsFast)
      try conclude(report)
      let total = seeds.upperBound - seeds.lowerBound + 1
      guard report.summary.stories == total else {
        throw Failure(
          .interrupted,
          "check: interrupted after \(report.summary.stories.grouped) of \(total.grouped) stories")
      }
    }
  }

  private static func run(
    _ seeds: ClosedRange<UInt64>, _ profile: CheckProfile, jobs: Int, failsFast: Bool
  ) -> CheckReport {
    let crew = CheckCrew(profile, seeds: seeds, jobs: jobs, stopsAtFailure: failsFast)
    let interrupts = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { crew.stop() }
      source.resume()
      return source
    }
    let clock = ContinuousClock()
    let (start, coreStart) = (clock.now, coresTime())
    let summary = crew.run {
      Console.progress(crew.progress.line(after: (clock.now - start) / .seconds(1)))
    }
    let seconds = (clock.now - start) / .seconds(1)
    let coreSeconds = coresTime() - coreStart
    Console.progress("")
    // What comes now, the making small, may be ended as any program.
    for source in interrupts { source.cancel() }
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    return CheckReport(
      summary, speed: .init(seconds: seconds, coreSeconds: coreSeconds))
  }

  /// What this process had of the cores so far.
  private static func coresTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func conclude(_ report: CheckReport) throws(Failure) {
    let summary = report.summary
    Console.print(report.text)
    if let summaryPath { try SummaryFile.write(summary, to: summaryPath) }
    guard !summary.failures.isEmpty else { return }
    // A summary is of a known profile: one was run, or read.
    let profile = try (ProfileName(rawValue: summary.profile) ?? .machine).profile()
    for failure in CheckFinding.firsts(of: summary.failures) {
      Console.progress("making \(failure.promise), seed \(failure.seed), small …")
      let finding = CheckFinding(failure, of: profile)
      Console.progress("")
      try show(finding)
    }
    throw Failure(
      .failed,
      "check: \(summary.failures.count.grouped) of \(summary.stories.grouped) stories failed: a "
        + "bug of this package, which a seed replays; please report it")
  }

  private func show(_ finding: CheckFinding) throws(Failure) {
    let paint = Paint()
    Console.print("\n" + finding.story(paint))
    if let trace = finding.trace { Console.print("\n" + trace) }
    guard let files = finding.files else { return }
    guard let folder else {
      let seed = finding.failure.seed
      Console.print(
        """

        \(paint.faint("As a test, for a file that imports \(files.test.imports):"))

        \(files.test.text)

        \(paint.faint("As files:"))  \(Tool.invocation) check --seeds \(seed) --out .
        """)
      return
    }
    let path = URL(fileURLWithPath: folder, isDirectory: true)
      .appendingPathComponent(finding.scenario.name).relativePath
    try OutputFile.write(files.scenario, to: path + ".json")
    try OutputFile.write(files.test.file, to: path + ".swift")
    Console.print(
      """

      \(paint.faint("Scenario:"))  \(path).json
      \(paint.faint("Test:    "))  \(path).swift
      \(paint.faint("Replay:  "))  \(Tool.invocation) simulate \(path).json
      """)
  }
}
