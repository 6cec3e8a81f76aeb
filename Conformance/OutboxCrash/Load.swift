import ConnectionFSM
import Foundation
import Synchronization
import Transports

#if THREAD_SANITIZER
  /// See Sources/Transports/System/Mutex+Sanitizer.swift.
  private typealias Mutex = Transports.Mutex
#endif

/// What is killed: keeps and forgets without end, and writes to its output what it does and what it
/// hears, a line each, before and after.
///
/// - `o ID`: offers the message of that id next;
/// - `k ID NUMBER`, `r ID`: the outbox has kept it, or has refused it;
/// - `f NUMBER`: forgets it next.
struct Load {
  /// An outbox that is small enough to compact all the time.
  /// - Parameter inPieces: It writes a few bytes at once, so that kills cut records.
  static func open(
    _ path: String, fsync: FsyncPolicy, inPieces: Bool
  ) throws(FileOutboxError) -> FileOutbox {
    var calls = FileCalls.system
    if inPieces {
      calls.write = { file, bytes, offset in
        SystemThread.yield()
        let piece = bytes.prefix(1 + offset % 100)
        return FileCalls.system.write(file, UnsafeRawBufferPointer(rebasing: piece), offset)
      }
    }
    return try FileOutbox(
      path: path, countLimit: 100, byteLimit: 200_000, fsync: fsync, calls: calls,
      compactsFrom: 8 << 10)
  }

  private final class Held: Sendable {
    let numbers: Mutex<[UInt64]>

    init(_ numbers: [UInt64]) { self.numbers = Mutex(numbers) }
  }

  static func run(
    _ path: String, fsync: FsyncPolicy, inPieces: Bool, firstID: UInt64
  ) throws(FileOutboxError) {
    let outbox = try open(path, fsync: fsync, inPieces: inPieces)
    let held = Held(outbox.recovered.map(\.number))
    // So many at the same time: a batch has several, and the lines do not fall behind.
    let room = DispatchSemaphore(value: 16)
    var random = SplitMix64(seed: firstID)
    var id = firstID
    while true {
      room.wait()
      let offered = id
      id += 1
      tell("o \(offered)")
      outbox.keep(Ledger.message(offered)) { result in
        switch result {
        case .success(let number):
          tell("k \(offered) \(number)")
          held.numbers.withLock { $0.append(number) }
        case .failure: tell("r \(offered)")
        }
        room.signal()
      }
      let target = Int(random.next() % 60)
      let ended = held.numbers.withLock { numbers in
        // The oldest, mostly: another one leaves a hole.
        let index = random.next() % 8 == 0 ? numbers.count / 2 : 0
        return numbers.count > target ? numbers.remove(at: index) : nil
      }
      guard let ended else { continue }
      tell("f \(ended)")
      outbox.forget(ended)
    }
  }

  /// A line as one write, which a kill does not tear.
  private static func tell(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // Whoever reads it is gone: so is the reason to go on.
    if write(1, bytes, bytes.count) != bytes.count { exit(1) }
  }
}
