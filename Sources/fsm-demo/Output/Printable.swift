extension String {
  /// The text as a line of a terminal may show it: what a peer sends must not move the cursor, and
  /// a long line must not hide the others.
  var printable: String { printable(upTo: 60) }

  /// The same of a text that may be longer.
  func printable(upTo limit: Int) -> String {
    var text = ""
    for (place, scalar) in unicodeScalars.enumerated() {
      if place == limit { return text + "…" }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The text with spaces behind it up to the width.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// The text with spaces before it up to the width.
  func padded(left width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}

extension BinaryInteger {
  /// 1,234,567
  var grouped: String {
    var digits = ""
    for (place, digit) in String(self).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3) { digits.append(",") }
      digits.append(digit)
    }
    return String(digits.reversed())
  }
}

extension String {
  /// The words in lines of at most so many characters; a longer word has a line of its own.
  func wrapped(to width: Int) -> [String] {
    var lines: [String] = []
    for word in split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
