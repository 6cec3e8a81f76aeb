import ConnectionFSM
import Foundation

/// Reads standard input by lines, with bounded memory whatever comes.
struct LineReader {
  /// The longest line that is sent; what the framing admits.
  static let lengthLimit = 65_536

  enum Line {
    case bytes([UInt8])
    /// A line above the limit, of which nothing was kept.
    case tooLong
  }

  private var chunk = [UInt8](repeating: 0, count: 1 << 16)
  private var unread = 0..<0

  /// The next line without its line feed; nil at the end of the input. Blocks.
  mutating func next() -> Line? {
    var line: [UInt8] = []
    var isTooLong = false
    while true {
      if unread.isEmpty, !fill() {
        return isTooLong ? .tooLong : line.isEmpty ? nil : .bytes(line)
      }
      let piece = chunk[unread]
      let end = piece.firstIndex(of: UInt8(ascii: "\n"))
      if line.count + (end ?? piece.endIndex) - piece.startIndex > Self.lengthLimit {
        isTooLong = true
        line = []
      }
      if !isTooLong { line += piece[..<(end ?? piece.endIndex)] }
      unread = (end.map { $0 + 1 } ?? unread.upperBound)..<unread.upperBound
      if end != nil { return isTooLong ? .tooLong : .bytes(line) }
    }
  }

  private mutating func fill() -> Bool {
    while true {
      let count = chunk.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      unread = 0..<max(0, count)
      return count > 0
    }
  }
}
