import ConnectionFSM
import Foundation
import Testing
import Transports
import outbox_crash

/// One life of an outbox: keeps and forgets by dice, and at each moment asks what the next process
/// would find if this were the end.
private final class OutboxLife: @unchecked Sendable {
  // Unchecked: after its first message all happens on the outbox's thread, in completions, so that
  // what comes in during one of them is the next batch.

  struct End {
    var leftover = ShadowDisk.Leftover()
    var ledger = Ledger()
  }

  private let folder: OutboxFolder
  private let disk: ShadowDisk
  private let isPowerCut: Bool
  private let trial: OutboxFolder
  private var outbox: FileOutbox?
  private var ledger: Ledger
  private var held: [UInt64] = []
  private var random: SplitMix64
  private var batches = 20
  private var unanswered = 0
  private var done: CheckedContinuation<Void, Never>?
  private(set) var problems: [String] = []
  /// How it ended at one of its moments, whichever the dice chose.
  private(set) var end: End?
  private var moments: UInt64 = 0
  private(set) var tornTails = 0

  init(
    after former: End, in folder: OutboxFolder, trial: OutboxFolder, isPowerCut: Bool, seed: UInt64
  ) throws {
    self.folder = folder
    self.isPowerCut = isPowerCut
    self.trial = trial
    ledger = former.ledger
    disk = try ShadowDisk(former.leftover, at: folder.file, seed: seed)
    random = SplitMix64(seed: seed)
  }

  func run() async throws {
    disk.atMoment = { [weak self] in self?.examine($0) }
    let outbox = try folder.open(
      countLimit: 20, byteLimit: 100_000, fsync: isPowerCut ? .everyBatch : .never,
      calls: disk.calls, compactsFrom: 2000)
    ledger.restarts(with: outbox.recovered)
    held = outbox.recovered.map(\.number)
    self.outbox = outbox
    await withCheckedContinuation { continuation in
      done = continuation
      keep()
    }
    await outbox.close()
  }

  private func keep() {
    let id = ledger.nextID
    ledger.offers(id)
    unanswered += 1
    outbox?.keep(Ledger.message(id)) { [self] result in
      switch result {
      case .success(let number):
        ledger.hears(id, keptAs: number)
        held.append(number)
      case .failure: ledger.hears(refusalOf: id)
      }
      unanswered -= 1
      if unanswered == 0 { nextBatch() }
    }
  }

  private func nextBatch() {
    batches -= 1
    guard batches > 0 else {
      done?.resume()
      return
    }
    for _ in 0..<(1 + random.next() % 4) {
      if !held.isEmpty, random.next() % 2 == 0 {
        let number = held.remove(at: Int(random.next() % UInt64(held.count)))
        ledger.forgets(number)
        outbox?.forget(number)
      }
      keep()
    }
  }

  /// What if this were the last moment?
  private func examine(_ disk: ShadowDisk) {
    let ends = [disk.killed] + (isPowerCut ? (0..<3).map { _ in disk.powerless() } : [])
    for (index, leftover) in ends.enumerated() {
      do {
        try trial.replace(by: leftover.bytes)
        let next = try trial.open(calls: .unsynced)
        if next.tornTail != nil { tornTails += 1 }
        let found = ledger.problems(with: next.recovered)
        problems += found.map { "\($0), after \(index == 0 ? "a kill" : "a power cut")" }
      } catch {
        problems.append("after \(index == 0 ? "a kill" : "a power cut"): \(error)")
      }
      moments += 1
      // One of all, by equal chances; but few are right behind a rename.
      let isRare = !leftover.hasSafeName
      if random.next() % (isRare ? 2 : moments) == 0 {
        end = End(leftover: leftover, ledger: ledger)
      }
    }
  }
}

@Suite("An outbox that is cut off", .timeLimit(.minutes(2)))
struct OutboxCrashTests {
  /// Lives on one file, each of which begins where the one before was cut off.
  private static func lives(isPowerCut: Bool, seed: UInt64) async throws -> (Int, [String]) {
    var end = OutboxLife.End()
    var tornTails = 0
    for life in 0..<4 {
      let outbox = try OutboxLife(
        after: end, in: OutboxFolder(inMemory: true), trial: OutboxFolder(inMemory: true),
        isPowerCut: isPowerCut, seed: seed << 8 + UInt64(life))
      try await outbox.run()
      guard outbox.problems.isEmpty, let last = outbox.end else {
        return (tornTails, outbox.problems)
      }
      tornTails += outbox.tornTails
      end = last
    }
    return (tornTails, [])
  }

  @Test("RC199: a power cut at any moment loses nothing kept, and invents nothing")
  func powerCuts() async throws {
    var tornTails = 0
    for seed in UInt64(0)..<20 {
      let (torn, problems) = try await Self.lives(isPowerCut: true, seed: seed)
      #expect(problems.first == nil, "seed \(seed)")
      tornTails += torn
    }
    #expect(tornTails > 100)
  }

  @Test("RC199: without fsync, a kill at any byte loses nothing kept, and invents nothing")
  func kills() async throws {
    var tornTails = 0
    for seed in UInt64(0)..<20 {
      let (torn, problems) = try await Self.lives(isPowerCut: false, seed: seed)
      #expect(problems.first == nil, "seed \(seed)")
      tornTails += torn
    }
    #expect(tornTails > 100)
  }

  @Test("RC199: a process that is killed while it keeps and forgets loses nothing, 20 times")
  func killedProcesses() throws {
    final class Place {}
    let tests = Bundle(for: Place.self).bundleURL
    // SwiftPM builds it beside the bundle, or the executable, of the tests.
    let build = tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests
    let process = Process()
    let output = Pipe()
    process.executableURL = build.appendingPathComponent("outbox-crash")
    process.arguments = ["20"]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text.hasPrefix("20 kills: "))
  }
}
