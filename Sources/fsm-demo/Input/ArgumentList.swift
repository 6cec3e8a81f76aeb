/// The words after the command's own, taken one by one by whoever understands them.
struct ArgumentList {
  private let command: String
  private var words: [String]
  /// What stands behind `--`, where nothing is an option.
  private var operands: [String]

  init(_ words: [String], command: String) {
    self.command = command
    let end = words.firstIndex(of: "--") ?? words.endIndex
    self.words = Array(words[..<end])
    operands = Array(words[end...].dropFirst())
  }

  /// Whether an option is there, with a value or without.
  func contains(_ name: String) -> Bool {
    words.contains { $0 == name || $0.hasPrefix(name + "=") }
  }

  /// Takes an option without a value.
  /// - Returns: Whether it was there.
  mutating func flag(_ name: String) -> Bool {
    guard words.contains(name) else { return false }
    words.removeAll { $0 == name }
    return true
  }

  /// The value of `--name VALUE` or `--name=VALUE`; nil if the option is not there.
  mutating func value(of name: String) throws(Failure) -> String? {
    let found = try values(of: name)
    guard found.count < 2 else { throw usage("\(name) is given twice") }
    return found.first
  }

  /// The values of an option that may be given several times, in order.
  mutating func values(of name: String) throws(Failure) -> [String] {
    var found: [String] = []
    while let place = words.firstIndex(where: { $0 == name || $0.hasPrefix(name + "=") }) {
      let word = words.remove(at: place)
      if word != name {
        found.append(String(word.dropFirst(name.count + 1)))
      } else {
        guard place < words.count, !words[place].hasPrefix("--") else {
          throw usage("\(name) needs a value")
        }
        found.append(words.remove(at: place))
      }
    }
    return found
  }

  /// The value of an option as a whole number.
  mutating func number<Number: FixedWidthInteger>(
    of name: String, in range: ClosedRange<Number>
  ) throws(Failure) -> Number? {
    guard let text = try value(of: name) else { return nil }
    guard let number = Number(text), range.contains(number) else {
      throw usage(
        "\(name) “\(text)” is no whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The value of an option as one of a few words.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    of name: String, _: Choice.Type = Choice.self
  ) throws(Failure) -> Choice? {
    guard let text = try value(of: name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw usage("\(name) “\(text)” is unknown; there are \(known)")
    }
    return choice
  }

  /// The next word that is no option; nil if there is none. To be asked after the options.
  mutating func operand() -> String? {
    if let place = words.firstIndex(where: { !$0.hasPrefix("-") }) {
      return words.remove(at: place)
    }
    return operands.isEmpty ? nil : operands.removeFirst()
  }

  /// Objects to what nobody understood.
  func finish() throws(Failure) {
    guard let word = (words + operands).first else { return }
    throw usage(
      words.first?.hasPrefix("-") == true
        ? "there is no option “\(word)”" : "“\(word)” is one word too many")
  }

  /// A failure of the command line, with where to read on.
  func usage(_ problem: String) -> Failure {
    let page = command.isEmpty ? "fsm-demo help" : "fsm-demo help \(command)"
    let place = command.isEmpty ? "" : "\(command): "
    return Failure(.usage, "\(place)\(problem); try “\(page)”")
  }
}
