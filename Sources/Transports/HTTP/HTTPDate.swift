/// An instant as HTTP writes it (RFC 9110 section 5.6.7). It is only ever compared with another
/// date of the same answer: nothing here reads a clock.
package struct HTTPDate: Equatable, Sendable {
  /// The year of the Gregorian calendar.
  package let year: Int
  /// Seconds since the beginning of 1970.
  package let seconds: Int64

  /// Reads one of the three forms: `Sun, 06 Nov 1994 08:49:37 GMT`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`; nil for everything else.
  /// - Parameter latestYear: The last year that two digits can mean.
  package init?(_ text: String, latestYear: Int = 2068) {
    var scanner = Scanner(rest: text.utf8[...])
    guard let parts = scanner.date(latestYear: latestYear), scanner.rest.isEmpty,
      (1...Self.dayCount(ofMonth: parts.month, in: parts.year)).contains(parts.day),
      parts.hour < 24, parts.minute < 60,
      // 60 is a leap second.
      parts.second <= 60
    else { return nil }
    year = parts.year
    let days = Self.days(before: parts.year) + Self.days(before: parts.month, in: parts.year)
    let hours = (days + parts.day - 1) * 24 + parts.hour
    seconds = Int64((hours * 60 + parts.minute) * 60 + parts.second)
  }

  // MARK: The calendar

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  /// Days of a month from 1 to 12.
  private static func dayCount(ofMonth month: Int, in year: Int) -> Int {
    if month == 2 { return isLeap(year) ? 29 : 28 }
    return [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days from the beginning of 1970 to that of the year, which is not negative.
  private static func days(before year: Int) -> Int {
    // Leap days before the year, from the year 0 on, which is one itself.
    func leapDays(_ year: Int) -> Int { (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400 }
    return (year - 1970) * 365 + leapDays(year) - leapDays(1970)
  }

  private static func days(before month: Int, in year: Int) -> Int {
    (1..<month).reduce(0) { $0 + dayCount(ofMonth: $1, in: year) }
  }
}

// MARK: The forms

/// Takes a date apart from the front.
private struct Scanner {
  struct Parts {
    var year = 0
    var month = 0
    var day = 0
    var hour = 0
    var minute = 0
    var second = 0
  }

  var rest: Substring.UTF8View

  private static let days = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  mutating func date(latestYear: Int) -> Parts? {
    var parts = Parts()
    let isLong = take(anyOf: Self.days) != nil
    guard isLong || take(anyOf: Self.days.map { String($0.prefix(3)) }) != nil else { return nil }
    guard take(", ") else { return isLong ? nil : ascTime() }
    let separator = isLong ? "-" : " "
    guard let day = number(2), take(separator), let month = take(anyOf: Self.months),
      take(separator), let year = number(isLong ? 2 : 4), take(" "), time(into: &parts),
      take(" GMT")
    else { return nil }
    parts.day = day
    parts.month = month + 1
    // Two digits mean the last such year that is not too far ahead.
    parts.year = isLong ? latestYear - (latestYear - year) % 100 : year
    return parts
  }

  private mutating func ascTime() -> Parts? {
    var parts = Parts()
    guard take(" "), let month = take(anyOf: Self.months), take(" "),
      let day = take(" ") ? number(1) : number(2), take(" "), time(into: &parts), take(" "),
      let year = number(4)
    else { return nil }
    parts.day = day
    parts.month = month + 1
    parts.year = year
    return parts
  }

  private mutating func time(into parts: inout Parts) -> Bool {
    guard let hour = number(2), take(":"), let minute = number(2), take(":"),
      let second = number(2)
    else { return false }
    (parts.hour, parts.minute, parts.second) = (hour, minute, second)
    return true
  }

  private mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private mutating func take(anyOf words: [String]) -> Int? {
    words.firstIndex { take($0) }
  }

  private mutating func number(_ digits: Int) -> Int? {
    let text = rest.prefix(digits)
    guard text.count == digits, text.allSatisfy(HTTPText.isDigit) else { return nil }
    rest = rest.dropFirst(digits)
    return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }
}
