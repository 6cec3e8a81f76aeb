import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The open file of an outbox, and what stands where in it.
final class OutboxFile: @unchecked Sendable {
  // Unchecked: opened by one thread, then used by the writer's alone.

  /// What is written to the file.
  enum Change {
    case keep(UInt64, Message)
    case forget(UInt64)
  }

  /// Why nothing can be written any more, if so.
  private(set) var fault: FileFailure?

  private let path: String
  private let calls: FileCalls
  private let policy: FsyncPolicy
  private var descriptor: Descriptor
  /// Where the next record goes.
  private var size: Int
  /// How many of these bytes are on disk.
  private var safe: Int
  /// The messages that have not ended.
  private var entries: [UInt64: OutboxEntry]
  /// How large a file with these alone would be.
  private var liveSize: Int
  /// From which size on it is compacted.
  private var compactsFrom: Int

  /// Opens the file, or makes it, and reads what is in it.
  static func open(
    _ path: String, policy: FsyncPolicy, calls: FileCalls, compactsFrom: Int
  ) throws(FileOutboxError) -> (
    file: OutboxFile, kept: [KeptMessage], nextNumber: UInt64, tornTail: TornTail?
  ) {
    let descriptor: Descriptor
    do throws(FileFailure) {
      descriptor = try lock(path)
    } catch {
      throw error.number == EWOULDBLOCK ? .inUse(path: path) : error.error(at: path)
    }
    var status = stat()
    guard fstat(descriptor.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .otherFormat(path: path)
    }
    let length = Int(status.st_size)
    var reader = OutboxReader(path: path, file: descriptor.raw, size: length, calls: calls)
    let content = length == 0 ? OutboxReader.Content() : try reader.content()
    let file = OutboxFile(
      path, policy, calls, compactsFrom, descriptor, size: content.end,
      entries: content.kept.compactMap(\.?.entry))
    do throws(FileFailure) {
      try file.settle(isNew: length == 0, isTorn: content.end < length)
    } catch {
      throw error.error(at: path)
    }
    return (
      file, content.kept.compactMap(\.?.message), content.nextNumber,
      content.end < length ? TornTail(offset: content.end, bytes: length - content.end) : nil
    )
  }

  private init(
    _ path: String, _ policy: FsyncPolicy, _ calls: FileCalls, _ compactsFrom: Int,
    _ descriptor: consuming Descriptor, size: Int, entries: [OutboxEntry]
  ) {
    self.path = path
    self.policy = policy
    self.calls = calls
    self.compactsFrom = compactsFrom
    self.descriptor = descriptor
    self.size = size
    safe = 0
    self.entries = Dictionary(uniqueKeysWithValues: entries.map { ($0.number, $0) })
    liveSize = entries.reduce(OutboxFormat.headSize) { $0 + $1.size }
  }

  deinit {
    // Closing is not enough while a process that another thread has started has a copy of the
    // descriptor: from its fork to its exec.
    _ = flock(descriptor.raw, LOCK_UN)
  }

  /// Writes all of it, as one; what is thrown says that nothing of it is kept.
  func write(_ changes: [Change]) throws(FileFailure) {
    if let fault { throw fault }
    var kept: [UInt64: OutboxEntry] = [:]
    var forgotten: [UInt64] = []
    var bytes: [UInt8] = []
    for change in changes {
      switch change {
      case .keep(let number, let message):
        kept[number] = OutboxEntry(
          number: number, offset: size + bytes.count, length: message.bytes.count)
        OutboxRecord(keeping: message, as: number, safe: safe)
          .append(to: &bytes, payload: message.bytes[...])
      case .forget(let number):
        // It may not have been kept: its own batch has failed.
        guard kept[number] != nil || entries[number] != nil else { continue }
        forgotten.append(number)
        OutboxRecord(forgetting: number, safe: safe).append(to: &bytes, payload: [])
      }
    }
    guard !bytes.isEmpty else { return }
    do throws(FileFailure) {
      try calls.writeWhole(bytes, to: descriptor.raw, at: size)
    } catch {
      takeBack()
      throw error
    }
    try sync()
    size += bytes.count
    if policy == .everyBatch { safe = size }
    entries.merge(kept) { _, new in new }
    liveSize += kept.values.reduce(0) { $0 + $1.size }
    for number in forgotten { liveSize -= entries.removeValue(forKey: number)?.size ?? 0 }
  }

  private func sync() throws(FileFailure) {
    guard policy == .everyBatch else { return }
    do throws(FileFailure) {
      try FileFailure.check("fsync", calls.sync(descriptor.raw))
    } catch {
      // The system may have dropped the pages that it could not write, and call them clean: the
      // next fsync would succeed without them. So no later one is believed.
      fault = error
      // Without a fsync this may not last; but a process that ends now must not leave them.
      _ = calls.cut(descriptor.raw, size)
      throw error
    }
  }

  /// Removes what a failed write may have left, so that it does not turn up as kept.
  private func takeBack() {
    do throws(FileFailure) {
      try FileFailure.check("ftruncate", calls.cut(descriptor.raw, size))
      try sync()
    } catch {
      fault = error
    }
  }
}

// MARK: Opening

extension OutboxFile {
  /// Opens and locks the file that has this name now.
  private static func lock(_ path: String) throws(FileFailure) -> Descriptor {
    while true {
      let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
      let opened = System.call { Int(openFile(path, flags)) }
      let descriptor = Descriptor(Int32(try FileFailure.check("open", opened)))
      try lock(descriptor.raw)
      // A compaction may have given the name to another file between the two calls, and its owner
      // may be gone: what is locked then has no name any more.
      var locked = stat()
      var named = stat()
      if fstat(descriptor.raw, &locked) == 0, lstat(path, &named) == 0,
        locked.st_dev == named.st_dev, locked.st_ino == named.st_ino
      {
        return descriptor
      }
    }
  }

  /// For its user alone.
  private static func openFile(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.open(path, flags, 0o600)
    #elseif canImport(Musl)
      Musl.open(path, flags, 0o600)
    #else
      Glibc.open(path, flags, 0o600)
    #endif
  }

  private static func lock(_ file: Int32) throws(FileFailure) {
    try FileFailure.check("flock", System.call { Int(flock(file, LOCK_EX | LOCK_NB)) })
  }

  /// Makes what was read the truth on disk: an earlier process may have been killed between a write
  /// or a rename and its fsync.
  private func settle(isNew: Bool, isTorn: Bool) throws(FileFailure) {
    // Half of a compaction, which an earlier process did not finish.
    unlink(compactedPath)
    if isNew {
      try replace(nextNumber: 1)
    } else {
      if isTorn { try FileFailure.check("ftruncate", calls.cut(descriptor.raw, size)) }
      try FileFailure.check("fsync", calls.sync(descriptor.raw))
      try FileFailure.check("fsync of the folder", calls.syncFolder(folder))
      safe = size
    }
  }

  private var folder: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

// MARK: Compaction

extension OutboxFile {
  // How much is read and written at once.
  private static let portion = 256 << 10

  private var compactedPath: String { path + ".compacting" }

  /// Drops the records of what has ended, once they are more than half of the file.
  /// - Parameter nextNumber: The lowest number that is not in use.
  func compactIfDue(nextNumber: UInt64) {
    guard fault == nil, size >= compactsFrom, size - liveSize > liveSize else { return }
    do throws(FileFailure) {
      try replace(nextNumber: nextNumber)
    } catch {
      // The old file is as good as before, only large: another try when it is larger still.
      unlink(compactedPath)
      compactsFrom = size * 2
    }
  }

  /// Puts a file with the live records alone in place of this one. A kill at any point leaves the
  /// one or the other under the name.
  private func replace(nextNumber: UInt64) throws(FileFailure) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let opened = System.call { Int(Self.openFile(compactedPath, flags)) }
    let compacted = Descriptor(Int32(try FileFailure.check("open", opened)))
    // Before it has the name: nobody else may come in between.
    try Self.lock(compacted.raw)
    let moved = try copy(to: compacted.raw, nextNumber: nextNumber)
    try FileFailure.check("fsync", calls.sync(compacted.raw))
    try FileFailure.check("rename", calls.rename(compactedPath, path))
    descriptor = compacted
    size = liveSize
    safe = liveSize
    entries = moved
    do throws(FileFailure) {
      try FileFailure.check("fsync of the folder", calls.syncFolder(folder))
    } catch {
      // After a power cut the name may be the old file's, which lacks what is written from now on.
      fault = error
      throw error
    }
  }

  /// Writes a head and the live records; where they are then.
  private func copy(
    to compacted: Int32, nextNumber: UInt64
  ) throws(FileFailure) -> [UInt64: OutboxEntry] {
    var moved: [UInt64: OutboxEntry] = [:]
    var bytes: [UInt8] = []
    var written = 0
    OutboxHead(nextNumber: nextNumber, safe: liveSize).append(to: &bytes)
    for entry in entries.values.sorted(by: { $0.number < $1.number }) {
      let old = try calls.readWhole(descriptor.raw, at: entry.offset, count: entry.size)
      let payload = old[OutboxFormat.recordHeadSize...].prefix(entry.length)
      guard var record = OutboxRecord(old[...]), record.number == entry.number,
        entry.length == 0
          || OutboxFormat.checksum(payload) == old[...].number(at: entry.size - 4)
      else {
        // What the disk gives back is not what it was given.
        throw FileFailure("read", EIO)
      }
      moved[entry.number] = OutboxEntry(
        number: entry.number, offset: written + bytes.count, length: entry.length)
      // The head of the file speaks for it.
      record.safe = 0
      record.append(to: &bytes, payload: payload)
      if bytes.count >= Self.portion {
        try calls.writeWhole(bytes, to: compacted, at: written)
        written += bytes.count
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try calls.writeWhole(bytes, to: compacted, at: written)
    return moved
  }
}
