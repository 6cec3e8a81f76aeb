public import ConnectionFSM

/// When an outbox waits for the disk.
public enum FsyncPolicy: Hashable, Sendable {
  /// Before the completions of each batch: what is kept survives a power cut. Messages that come in
  /// meanwhile are the next batch, so the rate does not fall with the disk's. `fdatasync` on Linux,
  /// `F_FULLFSYNC` on Apple platforms.
  case everyBatch
  /// Only when the file is opened and compacted: what is kept survives the end of the process, by
  /// whatever signal, and the system writes it within half a minute or so. A power cut, or a crash
  /// of the system, may lose the last messages, and let some that have ended return.
  case never
}

/// What opening an outbox has found besides its messages.
public struct TornTail: Equatable, Sendable {
  /// Where the last whole record ended.
  public let offset: Int
  /// How many bytes of an unfinished write stood behind it, and were cut off.
  public let bytes: Int

  /// Makes a report.
  public init(offset: Int, bytes: Int) {
    self.offset = offset
    self.bytes = bytes
  }
}

/// An `Outbox` in one file, to which it only appends (RC199).
///
/// The file is for one outbox at a time: a lock holds off others, also of other processes, as long
/// as this lives and is not closed. On iOS it belongs into the application's own container: the
/// system ends applications that hold a lock in a shared one while they are suspended. Nobody else
/// may move or remove it meanwhile: what is kept goes with it.
///
/// The file is readable for its user alone; the messages in it are not encrypted. It has at most
/// twice ``byteLimit`` and some for the heads of its records: what has ended is removed once it is
/// more than half.
///
/// When it is released, what was given to it is still written, by its thread.
public final class FileOutbox: Outbox {
  public let recovered: [KeptMessage]
  /// The unfinished write that an earlier process left, when it was killed or the power failed; nil
  /// if there was none. Nobody had been told that the messages in it are kept; with
  /// ``FsyncPolicy/never`` and after a power cut somebody may have been.
  public let tornTail: TornTail?
  /// The most messages that are kept at the same time.
  public let countLimit: Int
  /// The most bytes of payload that are kept at the same time.
  public let byteLimit: Int

  private let writer: OutboxWriter

  /// Opens the file, or makes it. Reads all of it, and waits for the disk.
  /// - Parameters:
  ///   - path: Its folder must exist. A second file beside it, whose name ends in `.compacting`, is
  ///     there at times.
  ///   - countLimit: 1 to 2³⁰.
  ///   - byteLimit: 1 to 2³⁰.
  ///   - fsync: When it waits for the disk.
  ///
  /// The limits are F46's of a queue. What an earlier process has left is recovered also if it is
  /// more.
  public convenience init(
    path: String, countLimit: Int = 1000, byteLimit: Int = 8 << 20,
    fsync: FsyncPolicy = .everyBatch
  ) throws(FileOutboxError) {
    try self.init(
      path: path, countLimit: countLimit, byteLimit: byteLimit, fsync: fsync, calls: .system,
      compactsFrom: 64 << 10)
  }

  /// Makes one over other calls than the system's.
  /// - Parameter compactsFrom: A smaller file is not worth three fsyncs.
  package init(
    path: String, countLimit: Int, byteLimit: Int, fsync: FsyncPolicy, calls: FileCalls,
    compactsFrom: Int
  ) throws(FileOutboxError) {
    let allowed = 1...(1 << 30)
    for (name, value) in [("countLimit", countLimit), ("byteLimit", byteLimit)]
    where !allowed.contains(value) {
      throw .limit(name: name, value: value, allowed: allowed)
    }
    self.countLimit = countLimit
    self.byteLimit = byteLimit
    let opened = try OutboxFile.open(
      path, policy: fsync, calls: calls, compactsFrom: compactsFrom)
    recovered = opened.kept
    tornTail = opened.tornTail
    writer = OutboxWriter(
      opened.kept, nextNumber: opened.nextNumber, countLimit: countLimit, byteLimit: byteLimit)
    do throws(Errno) {
      try writer.start(on: opened.file)
    } catch {
      throw FileFailure("thread", error.number).error(at: path)
    }
  }

  deinit { writer.stop() }

  public func keep(
    _ message: Message,
    completion: @escaping @Sendable (Result<UInt64, OutboxError>) -> Void
  ) {
    writer.keep(message, completion)
  }

  public func forget(_ number: UInt64) { writer.forget(number) }

  /// Writes what was given to it, and lets go of the file: it can be opened again when this comes
  /// back. What is given to it later is not kept.
  public func close() async {
    await withCheckedContinuation { continuation in
      writer.close { continuation.resume() }
    }
  }
}
