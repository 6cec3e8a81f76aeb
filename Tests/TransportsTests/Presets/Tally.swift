import Synchronization

/// What was heard, by whatever thread.
final class Tally: Sendable {
  private let words = Mutex<[String]>([])

  func add(_ word: String) { words.withLock { $0.append(word) } }

  func count(of word: String) -> Int { words.withLock { $0.count { $0 == word } } }

  var all: [String] { words.withLock { $0 } }
}
