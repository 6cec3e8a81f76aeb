package import ConnectionFSM
import Synchronization

/// Looks host names up on threads of its own, since `getaddrinfo` blocks and cannot be interrupted.
///
/// One question is about one address family: a server that never answers for one of them must not
/// hold up the other (RFC 8305 section 3).
///
/// Threads are started on demand and end when nothing waits any more. Their number is bounded: a
/// thousand connections that lose their network at once must not become a thousand threads.
package final class Resolver: Sendable {
  /// The one of the process: the system's resolver is shared by all loops too.
  package static let shared = Resolver(threads: 16) { host, port, family in
    Resolution(host: host, port: port, numeric: false, family: family)
  }

  private struct State {
    var waiting: [Lookup] = []
    var threads = 0
  }

  private let limit: Int
  private let resolve: @Sendable (String, UInt16, AddressFamily) -> Resolution
  private let state = Mutex(State())

  /// Makes a resolver.
  /// - Parameters:
  ///   - threads: The most look-ups at the same time; what comes beyond waits in order.
  ///   - resolve: Does one look-up, and may block.
  package init(
    threads: Int, resolve: @escaping @Sendable (String, UInt16, AddressFamily) -> Resolution
  ) {
    limit = threads
    self.resolve = resolve
  }

  /// Starts a look-up. The answer comes on a thread of the resolver, or, when the system gives
  /// none, inside this call; never after ``Lookup/cancel()``.
  func lookUp(
    _ host: String, port: UInt16, family: AddressFamily,
    answer: @escaping @Sendable (Resolution) -> Void
  ) -> Lookup {
    let lookup = Lookup(host: host, port: port, family: family, answer: answer)
    let startsThread = state.withLock { state in
      state.waiting.append(lookup)
      guard state.threads < limit else { return false }
      state.threads += 1
      return true
    }
    guard startsThread else { return lookup }
    do {
      try SystemThread.start("socket-resolver") { self.work() }.detach()
    } catch {
      // Another thread may be at work and take the look-up; only the last one must not go silently.
      let stranded = state.withLock { state in
        state.threads -= 1
        guard state.threads == 0 else { return [Lookup]() }
        defer { state.waiting = [] }
        return state.waiting
      }
      for lookup in stranded { lookup.take()?(.failed(.resolution(.temporaryFailure))) }
    }
    return lookup
  }

  private func work() {
    while let lookup = next() {
      guard lookup.isWanted else { continue }
      let resolution = resolve(lookup.host, lookup.port, lookup.family)
      lookup.take()?(resolution)
    }
  }

  /// The next look-up; nil ends the thread, under the same lock that a new look-up takes.
  private func next() -> Lookup? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.threads -= 1
        return nil
      }
      return state.waiting.removeFirst()
    }
  }
}

/// A look-up under way.
final class Lookup: Sendable {
  let host: String
  let port: UInt16
  let family: AddressFamily
  private let answer: Mutex<(@Sendable (Resolution) -> Void)?>

  init(
    host: String, port: UInt16, family: AddressFamily,
    answer: @escaping @Sendable (Resolution) -> Void
  ) {
    self.host = host
    self.port = port
    self.family = family
    self.answer = Mutex(answer)
  }

  /// Drops the answer, and with it whatever it would have called. A look-up that has not begun is
  /// skipped.
  func cancel() { _ = take() }

  var isWanted: Bool { answer.withLock { $0 != nil } }

  func take() -> (@Sendable (Resolution) -> Void)? {
    answer.withLock { answer in
      defer { answer = nil }
      return answer
    }
  }
}
