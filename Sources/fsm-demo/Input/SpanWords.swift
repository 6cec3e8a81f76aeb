import ConnectionFSM

extension TimeSpan {
  /// A time as people write it: `250ms`, `5s`, `1.5min`, `2h`.
  /// - Returns: Nil if the text is none, is negative or above a year.
  init?(words text: some StringProtocol) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let units = ["ms": 1e-3, "s": 1, "min": 60, "h": 3600]
    guard let value = Double(number), let unit = units[String(text[number.endIndex...])],
      value * unit <= 366 * 86_400
    else { return nil }
    self = .nanoseconds(Int64((value * unit * 1e9).rounded()))
  }
}

extension ArgumentList {
  /// The value of an option as a time.
  mutating func span(of name: String) throws(Failure) -> TimeSpan? {
    guard let text = try value(of: name) else { return nil }
    guard let span = TimeSpan(words: text) else {
      throw usage("\(name) “\(text)” is no time such as 250ms, 5s, 1.5min or 2h")
    }
    return span
  }
}
