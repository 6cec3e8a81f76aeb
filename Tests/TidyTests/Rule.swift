/// Something that must hold of a file, and the lines where it does not.
struct Rule: Sendable, CustomStringConvertible {
  let description: String
  let appliesTo: @Sendable (SourceFile) -> Bool
  /// Line numbers from 1.
  let breaches: @Sendable (SourceFile) -> [Int]

  static let all = [
    lineLength, functionLength, sourceLength, testLength, coreImports, coreDefaults,
    systemTimeAndDice, unprovedUnwraps, unfinishedWork, simulatorArrow, transportsArrow,
    libraryArrow,
    lastNewline,
  ]

  private static func isSwift(_ file: SourceFile) -> Bool { file.path.hasSuffix(".swift") }
}

// MARK: Size

extension Rule {
  static let lineLength = Rule(
    description: "a line of Swift has at most 100 columns",
    appliesTo: isSwift,
    breaches: { numbers(of: $0.lines) { $0.unicodeScalars.count > 100 } })

  static let functionLength = Rule(
    description: "a function has at most 70 lines",
    appliesTo: isSwift,
    breaches: { file in
      functions(in: file).filter { $0.last - $0.first + 1 > 70 }.map(\.first)
    })

  static let sourceLength = Rule(
    description: "a source file has at most 400 lines",
    appliesTo: { isSwift($0) && !$0.isUnder("Tests") },
    breaches: { $0.lines.count > 400 ? [$0.lines.count] : [] })

  static let testLength = Rule(
    description: "a test file has at most 600 lines",
    appliesTo: { isSwift($0) && $0.isUnder("Tests") },
    breaches: { $0.lines.count > 600 ? [$0.lines.count] : [] })
}

// MARK: Arrows

extension Rule {
  static let coreImports = Rule(
    description: "the core imports nothing",
    appliesTo: {
      isSwift($0) && $0.isUnder("Sources/ConnectionFSM/Core", "Sources/ConnectionFSM/Tables")
    },
    breaches: { numbers(of: $0.code) { words(of: $0).contains("import") } })

  static let simulatorArrow = Rule(
    description: "NetSim never imports Transports",
    appliesTo: { isSwift($0) && $0.isUnder("Sources/NetSim") },
    breaches: { imports(of: ["Transports"], in: $0) })

  static let transportsArrow = Rule(
    description: "Transports never imports NetSim",
    appliesTo: { isSwift($0) && $0.isUnder("Sources/Transports") },
    breaches: { imports(of: ["NetSim"], in: $0) })

  static let libraryArrow = Rule(
    description: "ConnectionFSM imports neither NetSim nor Transports",
    appliesTo: { isSwift($0) && $0.isUnder("Sources/ConnectionFSM") },
    breaches: { imports(of: ["NetSim", "Transports"], in: $0) })

  private static func imports(of modules: Set<String>, in file: SourceFile) -> [Int] {
    numbers(of: file.code) { line in
      let words = words(of: line)
      return words.contains("import") && words.contains { modules.contains(String($0)) }
    }
  }
}

// MARK: Habits

extension Rule {
  // Stricter than it need be, hence simple: no `default:` whatever is switched over. The queue
  // chooses a lane by its number, which is no enum.
  static let coreDefaults = Rule(
    description: "the core has no default in a switch",
    appliesTo: {
      isSwift($0) && $0.isUnder("Sources/ConnectionFSM/Core")
        && !$0.isUnder("Sources/ConnectionFSM/Core/Queue")
    },
    breaches: { numbers(of: $0.code) { $0.contains("default:") } })

  static let systemTimeAndDice = Rule(
    description: "core and simulator know no system clock, no system dice, no Foundation",
    appliesTo: { isSwift($0) && $0.isUnder("Sources/ConnectionFSM/Core", "Sources/NetSim") },
    breaches: { file in
      numbers(of: file.code) { line in
        let words = words(of: line)
        return line.contains(".random(") || line.contains("Task.sleep")
          || words.contains("ContinuousClock") || words.contains("Foundation")
          || words.contains("Date") && line.contains("Date(")
      }
    })

  static let unprovedUnwraps = Rule(
    description: "try! and a force unwrap have a comment on their line that proves them",
    appliesTo: { isSwift($0) && $0.isUnder("Sources") },
    breaches: { file in
      zip(file.code, file.comments).enumerated().compactMap { index, line in
        let isProved = !line.1.allSatisfy { $0 == " " }
        return hasForce(line.0) && !isProved ? index + 1 : nil
      }
    })

  static let unfinishedWork = Rule(
    description: "no comment marks unfinished work",
    appliesTo: isSwift,
    breaches: { file in
      numbers(of: file.comments) { $0.contains("FIXME") || $0.contains("TODO") }
    })

  static let lastNewline = Rule(
    description: "a file ends in a newline",
    appliesTo: { _ in true },
    breaches: { $0.endsInNewline ? [] : [$0.lines.count] })
}

// MARK: Reading code

extension Rule {
  private static func numbers(of lines: [String], where holds: (String) -> Bool) -> [Int] {
    lines.indices.filter { holds(lines[$0]) }.map { $0 + 1 }
  }

  private static func words(of line: String) -> [Substring] {
    line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
  }

  /// An exclamation mark right behind an operand, which is not the first half of `!=`.
  private static func hasForce(_ line: String) -> Bool {
    let bytes = Array(line.utf8)
    return bytes.indices.dropFirst().contains { place in
      guard bytes[place] == UInt8(ascii: "!") else { return false }
      if place + 1 < bytes.count, bytes[place + 1] == UInt8(ascii: "=") { return false }
      let before = Unicode.Scalar(bytes[place - 1])
      return before.properties.isAlphabetic || before.properties.numericType != nil
        || "_)]}?`\"".unicodeScalars.contains(before)
    }
  }
}
