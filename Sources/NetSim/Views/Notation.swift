import ConnectionFSM

// How the views write numbers and foreign text. By hand: no Foundation here, and the same bytes
// everywhere.

extension String {
  /// The text as a JSON string, quotes included. Also safe inside an HTML script element, where
  /// `</script>` and `<!--` would end or change it, and in JavaScript of any age.
  var json: String {
    var text = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\u{0}"..."\u{1F}", "<", ">", "&", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  /// The text as HTML shows it, in an element or in a quoted attribute.
  package var html: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "'": text += "&#39;"
      // HTML has no way to write these.
      case "\u{0}"..."\u{8}", "\u{B}"..."\u{1F}": text += "\u{FFFD}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The text without what would move a terminal's cursor.
  var oneLine: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: text += " "
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  func paddedLeft(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }

  /// The words in lines of at most so many characters; a longer word is cut.
  func wrapped(at width: Int) -> [String] {
    var lines = [""]
    for word in split(separator: " ") {
      var rest = word[...]
      if let last = lines.last, !last.isEmpty, last.count + 1 + rest.count <= width {
        lines[lines.count - 1] += " " + rest
        continue
      }
      while !rest.isEmpty {
        if lines.last?.isEmpty != true { lines.append("") }
        lines[lines.count - 1] = String(rest.prefix(width))
        rest = rest.dropFirst(width)
      }
    }
    return lines
  }
}

extension Instant {
  /// Seconds with three decimals, rounded down.
  var milliseconds: String {
    let whole = nanoseconds / 1_000_000
    return "\(whole / 1000)." + String(whole % 1000).zeros(to: 3)
  }

  /// Microseconds with three decimals: exact.
  var microseconds: String { "\(nanoseconds / 1000)." + String(nanoseconds % 1000).zeros(to: 3) }
}

extension String {
  fileprivate func zeros(to width: Int) -> String {
    String(repeating: "0", count: max(0, width - count)) + self
  }
}

extension TimeSpan {
  /// As people say it: `450 ms`, `2.83 s`, `3 min 20 s`, `4 h 5 min`.
  var spoken: String {
    let milliseconds = nanoseconds / 1_000_000
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    let seconds = milliseconds / 1000
    if seconds < 60 { return "\(seconds).\(String(milliseconds % 1000 / 10).zeros(to: 2)) s" }
    let (large, small, size) = seconds < 3600 ? (" min", " s", Int64(60)) : (" h", " min", 3600)
    let rest = seconds % size / (size / 60)
    return "\(seconds / size)\(large)" + (rest > 0 ? " \(rest)\(small)" : "")
  }
}
