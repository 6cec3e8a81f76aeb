/// Tells Swift code from comments and strings, byte by byte.
///
/// It knows nested comments, raw and multi-line strings, and that an interpolation holds code
/// again. It does not know regex literals; a quote in one is forgiven at the end of its line.
struct Scanner {
  private(set) var code: [UInt8]
  private(set) var comments: [UInt8]

  private enum Context {
    case code(openParentheses: Int)
    case string(hashes: Int, isMultiline: Bool)
  }

  private let text: [UInt8]
  private var place = 0
  private var contexts = [Context.code(openParentheses: 0)]

  init(_ text: String) {
    self.text = Array(text.utf8)
    // Both keep the newlines, so that a place in them is a place in the text.
    code = self.text.map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
    comments = code
  }

  mutating func scan() {
    while place < text.count {
      switch contexts[contexts.count - 1] {
      case .code(let open): scanCode(openParentheses: open)
      case .string(let hashes, let isMultiline): scanString(hashes, isMultiline)
      }
    }
  }

  private func sees(_ word: StaticString, at offset: Int = 0) -> Bool {
    let start = place + offset
    guard start + word.utf8CodeUnitCount <= text.count else { return false }
    return word.withUTF8Buffer { $0.elementsEqual(text[start..<start + $0.count]) }
  }

  private func hashes(at offset: Int) -> Int {
    text[min(place + offset, text.count)...].prefix { $0 == UInt8(ascii: "#") }.count
  }

  private mutating func take(_ count: Int, asCode: Bool) {
    for _ in 0..<count where place < text.count {
      if asCode { code[place] = text[place] }
      place += 1
    }
  }

  private mutating func scanCode(openParentheses open: Int) {
    if sees("//") { return scanLineComment() }
    if sees("/*") { return scanBlockComment() }
    let hashes = hashes(at: 0)
    if sees("\"", at: hashes) {
      let isMultiline = sees("\"\"\"", at: hashes)
      take(hashes + (isMultiline ? 3 : 1), asCode: true)
      contexts.append(.string(hashes: hashes, isMultiline: isMultiline))
      return
    }
    if sees("(") {
      contexts[contexts.count - 1] = .code(openParentheses: open + 1)
    } else if sees(")") {
      // The one that closes an interpolation leads back into its string.
      if open == 0, contexts.count > 1 {
        contexts.removeLast()
        return take(1, asCode: false)
      }
      contexts[contexts.count - 1] = .code(openParentheses: open - 1)
    }
    take(1, asCode: true)
  }

  private mutating func scanString(_ hashes: Int, _ isMultiline: Bool) {
    let isEscape = sees("\\") && self.hashes(at: 1) >= hashes
    let quotes = isMultiline ? 3 : 1
    if isEscape, sees("(", at: 1 + hashes) {
      take(2 + hashes, asCode: false)
      contexts.append(.code(openParentheses: 0))
    } else if isEscape {
      take(2 + hashes, asCode: false)
    } else if isMultiline ? sees("\"\"\"") : sees("\""), self.hashes(at: quotes) >= hashes {
      take(quotes + hashes, asCode: true)
      contexts.removeLast()
    } else {
      if sees("\n"), !isMultiline { contexts.removeLast() }
      take(1, asCode: false)
    }
  }

  private mutating func scanLineComment() {
    while place < text.count, !sees("\n") { takeComment() }
  }

  private mutating func scanBlockComment() {
    var depth = 0
    repeat {
      if sees("/*") {
        depth += 1
        takeComment()
      } else if sees("*/") {
        depth -= 1
        takeComment()
      }
      takeComment()
    } while depth > 0 && place < text.count
  }

  private mutating func takeComment() {
    guard place < text.count else { return }
    comments[place] = text[place]
    place += 1
  }
}
