import ConnectionFSM

/// Replays a recorded trace and names the first difference.
struct ReplayCommand: Command {
  static let name = "replay"
  static let summary = "Replay a recorded trace, and name the first difference"
  static let help = Help.replay

  /// How many steps before a difference are shown.
  private static let contextLength = 5

  private let paths: [String]

  init(_ arguments: inout ArgumentList) throws(Failure) {
    var paths: [String] = []
    while let path = arguments.operand() { paths.append(path) }
    guard !paths.isEmpty else { throw arguments.usage("name a trace") }
    self.paths = paths
  }

  /// A run as far as it was replayed.
  private struct Progress {
    let start: TraceStart?
    var replay: Replay
    var statistics: Statistics
    var latest: [TraceLine] = []

    init(_ header: TraceHeader) throws(ReplayError) {
      start = header.start
      replay = try Replay(header)
      statistics = Statistics(of: replay.machine)
    }
  }

  func run() throws(Failure) {
    var progress: Progress?
    do throws(Failure) {
      for path in paths { try run(path, &progress) }
    } catch {
      // What could be read has been replayed, and that is worth knowing of a damaged file.
      if error.status == .badData { report(progress) }
      throw error
    }
    report(progress)
  }

  private func run(_ path: String, _ progress: inout Progress?) throws(Failure) {
    var file = try TraceFile(path)
    try begin(file, &progress)
    while let line = try file.next() { try step(line, of: &progress, file, path) }
  }

  /// Goes on with another part, or begins with another run.
  private func begin(
    _ file: borrowing TraceFile, _ progress: inout Progress?
  ) throws(Failure) {
    let header = try file.header()
    do throws(ReplayError) {
      if let after = header.start?.after, after > 0, let before = progress {
        // With steps missing, what the run amounted to before says nothing of what follows.
        guard try progress?.replay.goOn(with: header) != 0 else { return }
        report(before)
      } else {
        report(progress)
      }
      progress = nil
      progress = try Progress(header)
    } catch {
      throw file.problem("\(error)")
    }
  }

  private func step(
    _ line: TraceLine, of progress: inout Progress?, _ file: borrowing TraceFile, _ path: String
  ) throws(Failure) {
    do throws(ReplayError) {
      if let record = try progress?.replay.next(line) { progress?.statistics.add(record) }
    } catch {
      guard case .different(let difference) = error else { throw file.problem("\(error)") }
      show(difference, after: progress?.latest ?? [])
      let step = difference.recorded
      let time = Instant(nanoseconds: step.instant)
      throw Failure(
        .failed,
        "\(path): line \(file.line): step \(step.sequence), at \(time) s, differs from here on"
          + (progress?.replay.otherVersion.map { Self.note(of: $0) } ?? ""))
    }
    progress?.latest.append(line)
    if let count = progress?.latest.count, count > Self.contextLength {
      progress?.latest.removeFirst()
    }
  }

  private static func note(of version: String) -> String {
    ": it was recorded by version \(version.printable), and this is \(packageVersion), which may "
      + "judge otherwise"
  }

  private func report(_ progress: Progress?) {
    guard let progress, progress.statistics.steps > 0 else { return }
    let statistics = progress.statistics
    Console.print("Replayed without a difference: \(statistics.figures).")
    if let messages = statistics.messagesInWords { Console.print("Messages: \(messages).") }
    if let after = progress.start?.after, after > 0 {
      let missing = progress.start?.missing.map { ", and \($0) steps before it were not recorded" }
      Console.print("It begins after step \(after)\(missing ?? "").")
    }
    if let version = progress.replay.otherVersion {
      Console.print("Recorded by version \(version.printable); this is \(packageVersion).")
    }
  }

  /// The steps that led there, and what the two sides say of this one.
  private func show(_ difference: ReplayDifference, after latest: [TraceLine]) {
    let table = StepTable(upTo: difference.recorded.sequence)
    Console.print(table.head)
    for step in latest { Console.print(table.line(step)) }
    Console.print(table.line(difference.replayed) + "\n")
    let width = difference.fields.map(\.name.count).max() ?? 0
    for field in difference.fields {
      let recorded = field.recorded.printable(upTo: 2_000)
      Console.print("\(field.name.padded(to: width))  recorded  \(recorded)")
      Console.print("\("".padded(to: width))  replayed  \(field.replayed)")
    }
  }
}
