public import ConnectionFSM
import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Hears signals instead of dying of them, on a loop: for a process that closes its connections
/// before it ends.
///
/// ```swift
/// let signals = SignalSource([SIGTERM, SIGINT], on: loop) { _ in
///   Task { await connection.close(draining: true) }
/// }
/// ```
///
/// While one exists its signals do nothing else in this process; when the last for a signal is let
/// go of, the signal does again what it did before. Several may hear the same one.
///
/// There is none for SIGCONT, as nothing has to be done about it. A process that was stopped finds
/// its deadlines late, and a late deadline is not evidence: what has arrived is read first, then
/// the peer of a silent link is asked once, with fresh time for its answer.
public final class SignalSource: Sendable {
  // Touched when it is made and in its deinit; and Dispatch's objects may be used from anywhere.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
  private let signals: [Int32]

  /// Hears signals from now on.
  /// - Parameters:
  ///   - signals: Their numbers. SIGKILL and SIGSTOP cannot be heard.
  ///   - loop: Where the handler is called; not any more once that has stopped.
  ///   - handler: Gets the number. Signals that come in close together may be told as one.
  public init(
    _ signals: [Int32], on loop: any EventLoop, _ handler: @escaping @Sendable (Int32) -> Void
  ) {
    self.signals = signals
    sources = signals.map { number in
      // First: on Linux Dispatch takes the signal over itself.
      HeardSignals.begin(number)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      let isHeard = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { isHeard.signal() }
      source.setEventHandler { loop.execute { handler(number) } }
      source.resume()
      // A signal that came before would be lost.
      isHeard.wait()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in signals { HeardSignals.end(number) }
  }
}

/// What heard signals did before, and how many sources hear each.
private enum HeardSignals {
  private struct Record {
    var count: Int
    // A value of the system's, whose handler is a pointer to code.
    nonisolated(unsafe) var former: sigaction
  }

  private static let records = Mutex<[Int32: Record]>([:])

  static func begin(_ number: Int32) {
    records.withLock { records in
      if records[number] != nil {
        records[number]?.count += 1
        return
      }
      var former = sigaction()
      sigaction(number, nil, &former)
      records[number] = Record(count: 1, former: former)
      signal(number, SIG_IGN)
    }
  }

  static func end(_ number: Int32) {
    records.withLock { records in
      guard var record = records[number] else { return }
      record.count -= 1
      records[number] = record.count > 0 ? record : nil
      if record.count == 0 { sigaction(number, &record.former, nil) }
    }
  }
}
