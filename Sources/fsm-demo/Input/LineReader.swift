import Foundation

/// Reads a file or a pipe by lines, with bounded memory whatever comes.
struct LineReader {
  enum Line {
    case bytes([UInt8])
    /// A line above the limit, of which nothing is kept. Told as soon as that is clear: a device
    /// may never end it.
    case tooLong
  }

  /// Whether the line that was given last had no line feed: the input ended in it.
  private(set) var isCutOff = false
  /// Why reading failed, as an errno; 0 while it did not.
  private(set) var problem: Int32 = 0

  private let descriptor: Int32
  private let lengthLimit: Int
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)
  private var unread = 0..<0
  /// Whether what comes next is the rest of a line that was too long.
  private var isSkipping = false

  /// Makes a reader of an open descriptor, which it leaves open.
  init(of descriptor: Int32, lengthLimit: Int) {
    self.descriptor = descriptor
    self.lengthLimit = lengthLimit
  }

  /// The next line without its line feed; nil at the end of the input, or where reading failed.
  /// Blocks.
  mutating func next() -> Line? {
    var line: [UInt8] = []
    while true {
      if unread.isEmpty, !fill() {
        isCutOff = !line.isEmpty
        return line.isEmpty ? nil : .bytes(line)
      }
      let end = chunk[unread].firstIndex(of: UInt8(ascii: "\n"))
      let piece = chunk[unread.lowerBound..<(end ?? unread.upperBound)]
      unread = (end.map { $0 + 1 } ?? unread.upperBound)..<unread.upperBound
      if isSkipping {
        isSkipping = end == nil
        continue
      }
      guard line.count + piece.count <= lengthLimit else {
        isSkipping = end == nil
        return .tooLong
      }
      line += piece
      if end != nil { return .bytes(line) }
    }
  }

  private mutating func fill() -> Bool {
    while true {
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { problem = errno }
      unread = 0..<max(0, count)
      return count > 0
    }
  }
}
