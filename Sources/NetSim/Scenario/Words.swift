import ConnectionFSM

/// The argument of a step, taken apart: `#2 repeat=50 1011 (late)`.
struct Words {
  /// What stands in parentheses.
  private(set) var hints: [String] = []
  /// `key=value`.
  private(set) var keys: [(key: String, value: String)] = []
  /// The rest.
  private(set) var plain: [String] = []

  init(_ text: String) {
    var rest = text[...]
    var outside = ""
    while let start = rest.firstIndex(of: "("), let end = rest[start...].firstIndex(of: ")") {
      outside += rest[..<start] + " "
      hints.append(String(rest[rest.index(after: start)..<end]))
      rest = rest[rest.index(after: end)...]
    }
    outside += rest
    for word in outside.split(separator: " ").map(String.init) {
      if let equals = word.firstIndex(of: "="), equals != word.startIndex {
        keys.append((String(word[..<equals]), String(word[word.index(after: equals)...])))
      } else {
        plain.append(word)
      }
    }
  }

  func value(of key: String) -> String? { keys.first { $0.key == key }?.value }
}

/// Who appears in a story: the clients that its steps name, and the hosts.
struct Cast {
  private(set) var clients: [String] = []
  private(set) var hosts: [String] = []
  /// Whose story is told.
  let client: String?

  /// Nobody in particular.
  init() { client = nil }

  init(_ scenario: Scenario) throws(ScenarioError) {
    client = scenario.client
    for (index, step) in scenario.steps.enumerated() {
      let text = step.arg ?? ""
      if let name = Words(text).value(of: "client"), !clients.contains(name) {
        clients.append(name)
      }
      guard ["net.hosts", "net.dns"].contains(step.ev) else { continue }
      for host in try ActionReader.hosts(text, place: index + 1)
      where !hosts.contains(host.name) {
        hosts.append(host.name)
      }
    }
    if clients.isEmpty, client == nil { return }
    guard let client, clients.contains(client) else {
      throw ScenarioError(
        step: nil, "the story has the clients \(clients): name one of them under “client”")
    }
  }

  /// Whether a step is that of another client.
  func isForeign(_ words: Words) -> Bool {
    guard let client else { return false }
    if let named = words.value(of: "client") { return named != client }
    return words.plain.contains { clients.contains($0) && $0 != client }
  }
}

// MARK: Counts and spans

extension ActionReader {
  func number(_ text: String) throws(ScenarioError) -> Int {
    guard let number = Int(text), number >= 0 else { throw error("“\(text)” is no count") }
    return number
  }

  /// `3`, `2..5`, or `..5`.
  func range(_ text: String) throws(ScenarioError) -> ClosedRange<Int> {
    guard let dots = text.firstRange(of: "..") else {
      let exact = try number(text)
      return exact...exact
    }
    let low = text[..<dots.lowerBound]
    let high = text[dots.upperBound...]
    let least = low.isEmpty ? 0 : try number(String(low))
    let most = high.isEmpty ? Int.max : try number(String(high))
    guard least <= most else { throw error("“\(text)” is no range") }
    return least...most
  }

  /// Seconds since the start, `30..37.5`; `none` is nil.
  func instants(_ text: String) throws(ScenarioError) -> ClosedRange<Double>? {
    if text == "none" { return nil }
    let ends = text.firstRange(of: "..").map { [text[..<$0.lowerBound], text[$0.upperBound...]] }
    guard let ends, let least = Double(ends[0]), let most = Double(ends[1]), least <= most else {
      throw error("“\(text)” is no range of instants; write 30..37.5, or none")
    }
    return least...most
  }

  /// `8s`, `250ms`, or a bare number of seconds.
  func span(_ text: String) throws(ScenarioError) -> TimeSpan {
    let word = text.filter { $0 != " " }
    let isMilliseconds = word.hasSuffix("ms")
    let digits = word.prefix { $0.isNumber || $0 == "." }
    guard let count = Double(digits), count.isFinite, count <= 9e9,
      ["", "s", "ms"].contains(word.dropFirst(digits.count))
    else { throw error("“\(text)” is no span; write 8s or 250ms") }
    return TimeSpan(seconds: isMilliseconds ? count / 1000 : count)
  }
}

// MARK: Labels and names

extension ActionReader {
  /// `a`, `a,b,c`, or `m1..m25`.
  func labels(of text: String) throws(ScenarioError) -> [String] {
    var labels: [String] = []
    for part in text.split(separator: ",").map(String.init) {
      guard let dots = part.firstRange(of: "..") else {
        labels.append(part)
        continue
      }
      let (prefix, first) = split(String(part[..<dots.lowerBound]))
      let (other, last) = split(String(part[dots.upperBound...]))
      guard let first, let last, prefix == other, first <= last, last - first < 100_000 else {
        throw error("“\(part)” is no range of labels; write m1..m25")
      }
      for number in first...last { labels.append("\(prefix)\(number)") }
    }
    return labels
  }

  private func split(_ label: String) -> (prefix: String, number: Int?) {
    let digits = String(label.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
    return (String(label.dropLast(digits.count)), Int(digits))
  }

  /// `a(down),b(up)`, `a=up,b=down`, or `name=[1(down),2(up)]`; a bare name is up.
  static func hosts(
    _ text: String, place: Int
  ) throws(ScenarioError) -> [EnvironmentAction.Host] {
    var list = text[...]
    if let bracket = list.firstIndex(of: "["), list.hasSuffix("]") {
      list = list[list.index(after: bracket)...].dropLast()
    }
    var hosts: [EnvironmentAction.Host] = []
    for part in list.split(separator: ",") {
      let words = part.split { "(=)".contains($0) }.map(String.init)
      let status = words.count == 2 ? words[1] : "up"
      guard (1...2).contains(words.count), ["up", "down"].contains(status) else {
        throw ScenarioError(step: place, "“\(part)” is no host; write a(down) or b=up")
      }
      hosts.append(EnvironmentAction.Host(name: words[0], isUp: status == "up"))
    }
    guard !hosts.isEmpty else { throw ScenarioError(step: place, "names no host") }
    return hosts
  }
}
