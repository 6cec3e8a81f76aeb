public import ConnectionFSM

/// Records what a connection does, as JSON Lines that `fsm-demo replay` replays (F56). One for each
/// connection, given to it as a monitor.
///
/// The recording lies in a folder as segments, `NAME-000001.jsonl` and so on, each of which replays
/// alone: it begins with the policy and with what the machine was before its first step. The oldest
/// go when there are too many, those of earlier runs too.
///
/// Nothing in it says who talked to whom or what was said: ids, byte counts, causes and times
/// alone. There are no payloads, no credentials, no host names and no addresses in it.
///
/// A thread of its own writes; the connection waits for nothing. If the thread falls behind by a
/// thousand steps, steps are left out, and the segment that begins thereafter says how many. What
/// was written survives the end of the process; of what the thread had not come to, at most those
/// steps are lost. Ends when it is released, after writing what it heard.
public final class TraceRecorder: ConnectionMonitor {
  private let queue: RecordingQueue

  /// Starts a recording.
  /// - Parameters:
  ///   - folder: Where the segments go; it must exist.
  ///   - name: What their names begin with; another for each connection that records there.
  ///   - segmentBytes: How large a segment may be, 4 KiB to 1 GiB. Default 4 MiB, some ten thousand
  ///     steps. One that begins with more messages than half of it can hold is larger by those.
  ///   - segmentCount: How many segments there may be, at least two. Default 8.
  ///   - onFailure: Hears once, on the recorder's thread, that nothing more is recorded, and why.
  /// - Throws: ``RecordingError``.
  public convenience init(
    folder: String, name: String, segmentBytes: Int = 4 << 20, segmentCount: Int = 8,
    onFailure: @escaping @Sendable (RecordingError) -> Void
  ) throws(RecordingError) {
    guard !name.isEmpty, name.utf8.count <= 200, !name.utf8.contains(where: { $0 == 47 || $0 == 0 })
    else {
      throw .setting("name", mend: "must be 1 to 200 bytes without a slash or NUL")
    }
    guard !folder.isEmpty else {
      throw .setting("folder", mend: "must name a folder; . is the current one")
    }
    guard 4 << 10...1 << 30 ~= segmentBytes else {
      throw .setting("segmentBytes", mend: "must be 4 KiB to 1 GiB")
    }
    guard 2...100_000 ~= segmentCount else {
      throw .setting("segmentCount", mend: "must be 2 to 100,000")
    }
    try self.init(
      SegmentFolder(folder, name: name), segmentBytes: segmentBytes, segmentCount: segmentCount,
      waitingLimit: 1_000, onFailure: onFailure)
  }

  package init(
    _ store: any SegmentStore, segmentBytes: Int, segmentCount: Int, waitingLimit: Int,
    onFailure: @escaping @Sendable (RecordingError) -> Void
  ) throws(RecordingError) {
    queue = RecordingQueue(limit: waitingLimit)
    try queue.start(
      store, byteLimit: segmentBytes, countLimit: segmentCount, onFailure: onFailure)
  }

  deinit { queue.stop() }

  public func connection(startsWith machine: Machine) { queue.begin(machine) }

  public func connection(made record: TraceRecord, leaving machine: Machine) {
    queue.add(record, machine)
  }

  /// Comes back once all that was heard so far is written, or the recording has ended.
  public func flush() async {
    await withCheckedContinuation { continuation in queue.tell { continuation.resume() } }
  }
}
