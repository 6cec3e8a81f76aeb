import ConnectionFSM
import Foundation
import Synchronization
import Testing
import Transports

/// A disk that fails as it is told to.
private final class FaultyDisk: Sendable {
  enum Call: Hashable {
    case write, sync, cut, rename, syncFolder, read
  }

  private struct State {
    var capacity = Int.max
    var failing: Set<Call> = []
    var counts: [Call: Int] = [:]
  }

  private let state = Mutex(State())

  /// No byte at or behind this offset of a file can be written.
  func limit(to capacity: Int) { state.withLock { $0.capacity = capacity } }

  func fail(_ calls: Set<Call>) { state.withLock { $0.failing = calls } }

  func count(of call: Call) -> Int { state.withLock { $0.counts[call, default: 0] } }

  private func attempt(_ call: Call, _ body: () -> Int) -> Int {
    let fails = state.withLock { state in
      state.counts[call, default: 0] += 1
      return state.failing.contains(call)
    }
    return fails ? -Int(EIO) : body()
  }

  var calls: FileCalls {
    let system = FileCalls.unsynced
    var calls = system
    calls.read = { file, buffer, offset in
      self.attempt(.read) { system.read(file, buffer, offset) }
    }
    calls.write = { file, bytes, offset in
      let room = self.state.withLock { $0.capacity } - offset
      guard room > 0 else { return -Int(ENOSPC) }
      return self.attempt(.write) {
        system.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(room)), offset)
      }
    }
    calls.sync = { file in self.attempt(.sync) { system.sync(file) } }
    calls.cut = { file, size in self.attempt(.cut) { system.cut(file, size) } }
    calls.rename = { old, new in self.attempt(.rename) { system.rename(old, new) } }
    calls.syncFolder = { path in self.attempt(.syncFolder) { system.syncFolder(path) } }
    return calls
  }
}

@Suite("An outbox whose disk fails", .timeLimit(.minutes(2)))
struct OutboxFaultTests {
  private let disk = FaultyDisk()
  private let folder: OutboxFolder

  init() throws { folder = try OutboxFolder() }

  private static let noSpace = OutboxError.store("write: No space left on device")

  @Test("B2.1: a system that takes a byte at a time gets all of them")
  func shortWrites() async throws {
    var calls = FileCalls.unsynced
    calls.write = { file, bytes, offset in
      FileCalls.system.write(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(1)), offset)
    }
    calls.read = { file, buffer, offset in
      FileCalls.system.read(
        file, UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(1)), offset)
    }
    let outbox = try folder.open(calls: calls, compactsFrom: 1)
    for index in 0..<20 { outbox.forget(try await outbox.keep("\(index)")) }
    _ = try await outbox.keep("the last")
    await outbox.close()
    let next = try folder.open(calls: calls)
    #expect(next.recovered.texts == ["the last"])
    await next.close()
  }

  @Test("a disk that is full from any byte on loses nothing that it took, and serves again later")
  func fullDisk() async throws {
    let texts = ["first", "later", "third"]
    // Behind its head, which is written before.
    for capacity in 33..<150 {
      let folder = try OutboxFolder()
      let disk = FaultyDisk()
      let outbox = try folder.open(calls: disk.calls)
      disk.limit(to: capacity)
      var kept: [String] = []
      for text in texts {
        let result = await outbox.keep(Message(text))
        if case .success = result {
          kept.append(text)
        } else {
          #expect(result == .failure(Self.noSpace))
        }
      }
      #expect(kept == Array(texts.prefix(kept.count)))
      #expect(kept.count == [69, 106, 143].count { $0 <= capacity })
      disk.limit(to: .max)
      _ = try await outbox.keep("at last")
      await outbox.close()
      #expect(try await folder.recovered().texts == kept + ["at last"])
    }
  }

  @Test("I11: what has ended while the disk was full does not return")
  func owedForgets() async throws {
    let outbox = try folder.open(calls: disk.calls)
    let first = try await outbox.keep("first")
    let second = try await outbox.keep("second")
    disk.limit(to: 0)
    outbox.forget(first)
    #expect(await outbox.keep(Message("third")) == .failure(Self.noSpace))
    outbox.forget(second)
    disk.limit(to: .max)
    let fourth = try await outbox.keep("fourth")
    await outbox.close()
    #expect(try await folder.recovered().map(\.number) == [fourth])
  }

  @Test("what has ended while the disk was full is written before the file is let go")
  func owedAtTheEnd() async throws {
    let outbox = try folder.open(calls: disk.calls)
    let first = try await outbox.keep("first")
    disk.limit(to: 0)
    outbox.forget(first)
    #expect(await outbox.keep(Message("second")) == .failure(Self.noSpace))
    disk.limit(to: .max)
    await outbox.close()
    #expect(try await folder.recovered().isEmpty)
  }

  @Test("after a failed fsync nothing is kept any more, and no later fsync is believed")
  func failedSync() async throws {
    let failed = OutboxError.store("fsync: Input/output error")
    let outbox = try folder.open(calls: disk.calls)
    let first = try await outbox.keep("first")
    disk.fail([.sync])
    #expect(await outbox.keep(Message("second")) == .failure(failed))
    disk.fail([])
    let (syncs, writes) = (disk.count(of: .sync), disk.count(of: .write))
    #expect(await outbox.keep(Message("third")) == .failure(failed))
    outbox.forget(first)
    await outbox.close()
    #expect(disk.count(of: .sync) == syncs)
    #expect(disk.count(of: .write) == writes)
    // The end of the first could not be told; the others were never kept.
    #expect(try await folder.recovered().texts == ["first"])
  }

  @Test("a half-written record that cannot be taken back is the end of the outbox")
  func failedCut() async throws {
    let outbox = try folder.open(calls: disk.calls)
    _ = try await outbox.keep("first")
    disk.limit(to: 80)
    disk.fail([.cut])
    #expect(await outbox.keep(Message("second")) == .failure(Self.noSpace))
    disk.limit(to: .max)
    disk.fail([])
    #expect(
      await outbox.keep(Message("third")) == .failure(.store("ftruncate: Input/output error")))
    await outbox.close()
    let next = try folder.open()
    #expect(next.recovered.texts == ["first"])
    #expect(next.tornTail == TornTail(offset: 69, bytes: 11))
    await next.close()
  }

  @Test("a compaction that fails leaves the old file in use", arguments: [true, false])
  func failedCompaction(atRename: Bool) async throws {
    let outbox = try folder.open(calls: disk.calls, compactsFrom: 150)
    var numbers: [UInt64] = []
    for index in 0..<3 { numbers.append(try await outbox.keep("\(index)")) }
    // Unless it is the rename that fails, it is the copying.
    disk.fail(atRename ? [.rename] : [.read])
    outbox.forget(numbers[0])
    outbox.forget(numbers[1])
    numbers.append(try await outbox.keep("3"))
    numbers.append(try await outbox.keep("4"))
    disk.fail([])
    await outbox.close()
    #expect(disk.count(of: atRename ? .rename : .read) > 0)
    #expect(try folder.names == ["outbox"])
    #expect(try await folder.recovered().map(\.number) == Array(numbers[2...]))
  }

  @Test("a rename that may not last is the end of the outbox")
  func failedFolderSync() async throws {
    let outbox = try folder.open(calls: disk.calls, compactsFrom: 1)
    let first = try await outbox.keep("first")
    let second = try await outbox.keep("second")
    disk.fail([.syncFolder])
    outbox.forget(first)
    outbox.forget(second)
    // The compaction follows the batch of the forgetting, which this may be part of.
    let third = await outbox.keep(Message("third"))
    let failed = OutboxError.store("fsync of the folder: Input/output error")
    #expect(await outbox.keep(Message("fourth")) == .failure(failed))
    await outbox.close()
    #expect(try await folder.recovered().map(\.number) == (try? third.get()).map { [$0] } ?? [])
  }

  @Test("what goes wrong at opening is told in its type")
  func opening() async throws {
    let outbox = try folder.open()
    _ = try await outbox.keep("word")
    await outbox.close()
    for (call, reason) in [
      (FaultyDisk.Call.read, "read: Input/output error"), (.sync, "fsync: Input/output error"),
      (.syncFolder, "fsync of the folder: Input/output error"),
    ] {
      disk.fail([call])
      #expect(throws: FileOutboxError.system(path: folder.file, reason: reason)) {
        try folder.open(calls: disk.calls)
      }
    }
    disk.fail([])
    disk.limit(to: 10)
    let other = try OutboxFolder()
    #expect(throws: FileOutboxError.noSpace(path: other.file)) {
      try other.open(calls: disk.calls)
    }
    // Nothing of that has hurt the file, or keeps it locked.
    #expect(try await folder.recovered().texts == ["word"])
  }

  @Test("a path where no outbox can be is refused, with the mend")
  func paths() throws {
    func open(_ path: String) throws(FileOutboxError) { _ = try FileOutbox(path: path) }
    let missing = folder.path + "/missing/outbox"
    #expect(throws: FileOutboxError.noFolder(path: missing)) { try open(missing) }
    #expect(throws: FileOutboxError.otherFormat(path: folder.path)) { try open(folder.path) }
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file)
    #expect(throws: FileOutboxError.otherFormat(path: link)) { try open(link) }
    let pipe = folder.path + "/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(throws: FileOutboxError.otherFormat(path: pipe)) { try open(pipe) }
    #if os(Linux)
      // Not even the superuser makes files there.
      #expect(throws: FileOutboxError.accessDenied(path: "/sys/outbox")) {
        try open("/sys/outbox")
      }
    #endif
    try folder.put(Array("{\"not\": \"an outbox\"}".utf8))
    #expect(throws: FileOutboxError.otherFormat(path: folder.file)) { try folder.open() }
    #expect(
      FileOutboxError.noFolder(path: missing).description
        == "\(missing): its folder does not exist; make it first")
  }

  @Test("limits that no outbox can have are refused", arguments: [0, -1, 1 << 30 + 1])
  func limits(_ value: Int) throws {
    let allowed = 1...(1 << 30)
    #expect(throws: FileOutboxError.limit(name: "countLimit", value: value, allowed: allowed)) {
      try FileOutbox(path: folder.file, countLimit: value)
    }
    #expect(throws: FileOutboxError.limit(name: "byteLimit", value: value, allowed: allowed)) {
      try FileOutbox(path: folder.file, byteLimit: value)
    }
    #expect(try folder.names.isEmpty)
  }
}
