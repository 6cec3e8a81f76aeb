import ConnectionFSM

/// Replays a recorded trace and names the first difference.
struct ReplayCommand: Command {
  static let name = "replay"
  static let summary = "Replay a recorded trace, and name the first difference"
  static let help = Help.replay

  /// How many steps before a difference are shown.
  private static let contextLength = 5

  private let path: String

  init(_ arguments: inout ArgumentList) throws(Failure) {
    guard let path = arguments.operand() else { throw arguments.usage("name a trace") }
    self.path = path
  }

  func run() throws(Failure) {
    var file = try TraceFile(path)
    var replay = try replay(of: file)
    var statistics = Statistics()
    var latest: [TraceLine] = []
    do throws(Failure) {
      while let line = try file.next() {
        statistics.add(try step(line, of: &replay, file, after: latest))
        latest.append(line)
        if latest.count > Self.contextLength { latest.removeFirst() }
      }
    } catch {
      // What could be read has been replayed, and that is worth knowing of a damaged file.
      if error.status == .badData, statistics.steps > 0 { report(statistics, replay) }
      throw error
    }
    report(statistics, replay)
  }

  private func replay(of file: borrowing TraceFile) throws(Failure) -> Replay {
    let header = try file.header()
    do throws(ReplayError) { return try Replay(header) } catch {
      throw file.problem("\(error)")
    }
  }

  private func step(
    _ line: TraceLine, of replay: inout Replay, _ file: borrowing TraceFile,
    after latest: [TraceLine]
  ) throws(Failure) -> TraceRecord {
    do throws(ReplayError) { return try replay.next(line) } catch {
      guard case .different(let difference) = error else { throw file.problem("\(error)") }
      show(difference, after: latest)
      let step = difference.recorded
      let time = Instant(nanoseconds: step.instant)
      throw Failure(
        .failed,
        "\(path): line \(file.line): step \(step.sequence), at \(time) s, differs from here on"
          + (replay.otherVersion.map { Self.note(of: $0) } ?? ""))
    }
  }

  private static func note(of version: String) -> String {
    ": it was recorded by version \(version.printable), and this is \(packageVersion), which may "
      + "judge otherwise"
  }

  private func report(_ statistics: Statistics, _ replay: Replay) {
    Console.print("Replayed without a difference: \(statistics.figures).")
    if let messages = statistics.messagesInWords { Console.print("Messages: \(messages).") }
    if let version = replay.otherVersion {
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
