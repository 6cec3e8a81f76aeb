/// A body with its head: the lines from the keyword to the closing brace, numbered from 1.
struct Function: Equatable {
  let first: Int
  let last: Int
}

private let functionKeywords: Set<Substring> = ["func", "init", "deinit", "subscript", "var"]
private let typeKeywords: Set<Substring> = [
  "struct", "class", "enum", "actor", "extension", "protocol",
]

extension Rule {
  /// The functions, initialisers, subscripts and computed properties of a file.
  ///
  /// A brace belongs to the last declaration keyword since the brace before it. Inside a function
  /// that may be a wrong guess (`var a = 1; if b {`), but such a body is shorter than the function
  /// around it.
  static func functions(in file: SourceFile) -> [Function] {
    var found: [Function] = []
    var open: [(start: Int?, parentheses: Int, outerStart: Int?)] = []
    var start: Int?
    var parentheses = 0
    for (index, line) in file.code.enumerated() {
      for token in tokens(of: line) {
        switch token {
        case "{":
          open.append((start, parentheses, start))
          start = nil
        case "}":
          guard let frame = open.popLast() else { continue }
          if let first = frame.start { found.append(Function(first: first, last: index + 1)) }
          // A closure among the parameters does not end the head it stands in.
          start = frame.parentheses > (open.last?.parentheses ?? 0) ? frame.outerStart : nil
        case "(": parentheses += 1
        case ")": parentheses -= 1
        default:
          if parentheses > (open.last?.parentheses ?? 0) { continue }
          if functionKeywords.contains(token) { start = index + 1 }
          if typeKeywords.contains(token) { start = nil }
        }
      }
    }
    return found
  }

  private static func tokens(of line: String) -> [Substring] {
    var tokens: [Substring] = []
    var rest = Substring(line)
    while let first = rest.first {
      let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      if !word.isEmpty {
        tokens.append(word)
      } else if "{}()".contains(first) {
        tokens.append(rest.prefix(1))
      }
      rest = rest.dropFirst(max(1, word.count))
    }
    return tokens
  }
}
