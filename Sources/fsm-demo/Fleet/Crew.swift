import Dispatch
import Foundation
import Synchronization

/// Threads that share out pieces of work by number. What comes of them stands in the order of the
/// numbers, whoever did which.
final class Crew<Outcome: Sendable>: Sendable {
  private struct Books {
    var next = 0
    var outcomes: [Outcome?]
  }

  private let jobs: Int
  private let work: @Sendable (Int) -> Outcome
  private let books: Mutex<Books>
  private let done = Atomic<Int>(0)

  init(pieces: Int, jobs: Int, work: @escaping @Sendable (Int) -> Outcome) {
    self.jobs = min(jobs, max(1, pieces))
    self.work = work
    books = Mutex(Books(outcomes: Array(repeating: nil, count: pieces)))
  }

  /// Does all of it.
  /// - Parameter observe: Hears ten times a second how many pieces are done.
  func run(_ observe: (Int) -> Void) -> [Outcome] {
    let ends = DispatchSemaphore(value: 0)
    for _ in 0..<jobs {
      let thread = Thread { [self] in
        while let place = take() {
          let outcome = work(place)
          books.withLock { $0.outcomes[place] = outcome }
          done.add(1, ordering: .relaxed)
        }
        ends.signal()
      }
      // What threads have by themselves differs between systems.
      thread.stackSize = 4 << 20
      thread.start()
    }
    for _ in 0..<jobs {
      while ends.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
        observe(done.load(ordering: .relaxed))
      }
    }
    return books.withLock { $0.outcomes.compactMap { $0 } }
  }

  private func take() -> Int? {
    books.withLock { books in
      guard books.next < books.outcomes.count else { return nil }
      defer { books.next += 1 }
      return books.next
    }
  }
}
