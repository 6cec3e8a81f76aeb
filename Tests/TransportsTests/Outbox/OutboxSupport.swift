import ConnectionFSM
import Foundation
import Synchronization
import Transports

/// A folder of its own for a test, with everything in it gone afterwards.
final class OutboxFolder: Sendable {
  /// The head of a file.
  static let headSize = 32

  let path: String

  /// - Parameter inMemory: Not on a disk, where there is such a place: for thousands of files.
  init(inMemory: Bool = false) throws {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let hasMemory = inMemory && FileManager.default.fileExists(atPath: memory.path)
    let folder = (hasMemory ? memory : FileManager.default.temporaryDirectory)
      .appendingPathComponent("outbox-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    path = folder.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var file: String { path + "/outbox" }

  /// The names of all that is in it.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  var bytes: [UInt8] {
    get throws { [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))) }
  }

  func put(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: file)) }

  /// Puts another file in place, or none, which nobody has a lock on.
  func replace(by bytes: [UInt8]?) throws {
    try? FileManager.default.removeItem(atPath: file)
    if let bytes { try put(bytes) }
  }

  /// Opens an outbox here.
  func open(
    countLimit: Int = 100, byteLimit: Int = 10_000, fsync: FsyncPolicy = .everyBatch,
    calls: FileCalls = .system, compactsFrom: Int = 1 << 20
  ) throws(FileOutboxError) -> FileOutbox {
    try FileOutbox(
      path: file, countLimit: countLimit, byteLimit: byteLimit, fsync: fsync, calls: calls,
      compactsFrom: compactsFrom)
  }

  /// What a process that begins now would find.
  func recovered() async throws -> [KeptMessage] {
    let outbox = try open()
    await outbox.close()
    return outbox.recovered
  }
}

extension FileCalls {
  /// Does not wait for the disk: for tests that open many files, none of which must last.
  static var unsynced: FileCalls {
    var calls = FileCalls.system
    calls.sync = { _ in 0 }
    calls.syncFolder = { _ in 0 }
    return calls
  }
}

/// How messages have ended at the door, in the order in which it was heard.
final class Completions: Sendable {
  private let results = Mutex<[(index: Int, result: Result<UInt64, OutboxError>)]>([])

  func add(_ index: Int, _ result: Result<UInt64, OutboxError>) {
    results.withLock { $0.append((index, result)) }
  }

  var all: [(index: Int, result: Result<UInt64, OutboxError>)] { results.withLock { $0 } }

  /// The numbers of those that are kept.
  var numbers: [UInt64] { all.compactMap { try? $0.result.get() } }
}

extension FileOutbox {
  /// Comes back once the message is kept, or not.
  func keep(_ message: Message) async -> Result<UInt64, OutboxError> {
    await withCheckedContinuation { continuation in
      keep(message) { continuation.resume(returning: $0) }
    }
  }

  func keep(_ text: String) async throws -> UInt64 { try await keep(Message(text)).get() }
}

extension [KeptMessage] {
  var texts: [String] { map(\.message.text) }
}
