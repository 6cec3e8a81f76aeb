import ConnectionFSM
import Foundation
import Transports

/// Kills a process that works on an outbox, again and again on the same file, and holds what the
/// next process finds against what the killed one had heard.
@main
struct OutboxCrash {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.count == 5, arguments[0] == "load", let id = UInt64(arguments[4]) {
      do {
        try Load.run(
          arguments[1], fsync: arguments[2] == "never" ? .never : .everyBatch,
          inPieces: arguments[3] == "pieces", firstID: id)
      } catch {
        fail("the file that a kill has left: \(error)")
      }
    }
    guard arguments.count == 1 || arguments.count == 2, let rounds = Int(arguments[0]), rounds > 0,
      let seed = UInt64(arguments.count == 2 ? arguments[1] : "1")
    else {
      tell("usage: outbox-crash ROUNDS [SEED]")
      exit(2)
    }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("outbox-crash-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var trial = Trial(path: folder.appendingPathComponent("outbox").path, seed: seed)
    for round in 1...rounds {
      let problems = try await trial.round(
        fsync: round.isMultiple(of: 2) ? .never : .everyBatch, inPieces: round % 4 > 1)
      if !problems.isEmpty {
        fail("round \(round): \(problems.joined(separator: "; ")); see \(folder.path)")
      }
      if round.isMultiple(of: 100) { tell("\(round) of \(rounds) rounds") }
    }
    try FileManager.default.removeItem(at: folder)
    print("\(rounds) kills: \(trial.report)")
  }

  private static func tell(_ text: String) {
    FileHandle.standardError.write(Data("outbox-crash: \(text)\n".utf8))
  }

  private static func fail(_ text: String) -> Never {
    tell(text)
    exit(1)
  }
}

/// One file, and all that has happened to it.
private struct Trial {
  private let path: String
  private var random: SplitMix64
  private var ledger = Ledger()
  private var kept = 0
  private var recovered = 0
  private var tornTails = 0
  private var halfCompactions = 0

  init(path: String, seed: UInt64) {
    self.path = path
    random = SplitMix64(seed: seed)
  }

  var report: String {
    "\(kept) messages kept, \(recovered) recovered, \(tornTails) torn tails, "
      + "\(halfCompactions) compactions cut short; none lost, none invented"
  }

  /// Lets a process work, kills it, and looks at what it has left.
  mutating func round(fsync: FsyncPolicy, inPieces: Bool) async throws -> [String] {
    let process = Process()
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments = [
      "load", path, "\(fsync)", inPieces ? "pieces" : "whole", "\(ledger.nextID)",
    ]
    process.standardOutput = output
    try process.run()
    // Some while it still opens the file.
    var lines = Lines(output.fileHandleForReading)
    try enter(random.next() % 8 == 0 ? 0 : Int(random.next() % 800), of: &lines)
    // And then at any moment, not only right behind a line.
    usleep(UInt32(random.next() % 2000))
    kill(process.processIdentifier, SIGKILL)
    try enter(.max, of: &lines)
    process.waitUntilExit()
    guard process.terminationReason == .uncaughtSignal else { return ["it has ended by itself"] }

    if access(path + ".compacting", F_OK) == 0 { halfCompactions += 1 }
    let outbox: FileOutbox
    do {
      outbox = try Load.open(path, fsync: fsync, inPieces: false)
    } catch {
      return ["\(error)"]
    }
    await outbox.close()
    if outbox.tornTail != nil { tornTails += 1 }
    recovered += outbox.recovered.count
    defer { ledger.restarts(with: outbox.recovered) }
    return ledger.problems(with: outbox.recovered)
  }

  /// Enters so many lines in the ledger, or all until the end.
  private mutating func enter(_ limit: Int, of lines: inout Lines) throws {
    var count = 0
    while count < limit, let line = try lines.next() {
      count += 1
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { UInt64($0) }
      switch (words.first, numbers.count) {
      case ("o", 1): ledger.offers(numbers[0])
      case ("k", 2):
        ledger.hears(numbers[0], keptAs: numbers[1])
        kept += 1
      case ("r", 1): ledger.hears(refusalOf: numbers[0])
      case ("f", 1): ledger.forgets(numbers[0])
      default: throw Lines.Failure(line: line)
      }
    }
  }
}

/// The lines that a process writes.
private struct Lines {
  struct Failure: Error {
    let line: String
  }

  private let file: FileHandle
  private var bytes: [UInt8] = []
  private var start = 0

  init(_ file: FileHandle) { self.file = file }

  /// Waits for the next one; nil at the end.
  mutating func next() throws -> String? {
    while true {
      if let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return String(decoding: bytes[start..<end], as: UTF8.self)
      }
      let more = file.availableData
      guard !more.isEmpty else { return nil }
      bytes = bytes[start...] + [UInt8](more)
      start = 0
    }
  }
}
