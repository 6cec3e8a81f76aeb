import ConnectionFSM
import Testing
import Transports

private func retryAfter(_ fields: String...) throws -> UInt16? {
  var parser = HTTPHeadParser<StatusLine>()
  let text = "HTTP/1.1 503 Busy\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
  guard case .head(let head, _) = parser.receive(Array(text.utf8).span.bytes) else {
    Issue.record("no head: \(fields)")
    return nil
  }
  return HTTPResponse(head).retryAfter
}

@Suite("F13: Retry-After")
struct RetryAfterTests {
  private static let now = "Date: Sun, 06 Nov 1994 08:49:37 GMT"

  @Test("seconds are clamped to what a cause can hold; what is no number is nothing")
  func seconds() throws {
    let table: [(String, UInt16?)] = [
      ("0", 0), ("1", 1), ("120", 120), ("007", 7), ("65535", 65535), ("65536", .max),
      ("99999999999999999999999999", .max), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil),
      ("1 2", nil), ("soon", nil), ("0x10", nil), ("\u{661}", nil),
    ]
    for (value, expected) in table {
      #expect(try retryAfter("Retry-After: \(value)") == expected, "\(value)")
    }
    #expect(try retryAfter("Server: x") == nil)
    #expect(try retryAfter("Retry-After: 5", "retry-after: 9", "Retry-After: no") == 9)
  }

  @Test("a date is a span from the answer's own Date; past is 0, and without a Date it is nothing")
  func dates() throws {
    let table: [(String, UInt16?)] = [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:38 GMT", 1),
      ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
      ("Sun, 06 Nov 1904 08:49:36 GMT", 0), ("Mon, 07 Nov 1994 08:49:37 GMT", .max),
      ("Sun, 06 Nov 9999 08:49:37 GMT", .max), ("Sunday, 06-Nov-94 08:50:37 GMT", 60),
      ("Sun Nov  6 08:50:37 1994", 60), ("Sun Nov 06 08:50:37 1994", 60),
    ]
    for (value, expected) in table {
      #expect(try retryAfter(Self.now, "Retry-After: \(value)") == expected, "\(value)")
      #expect(try retryAfter("Retry-After: \(value)", Self.now) == expected, "\(value)")
      #expect(try retryAfter("Retry-After: \(value)") == nil)
      #expect(try retryAfter("Date: today", "Retry-After: \(value)") == nil)
    }
    for date in ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
      #expect(
        try retryAfter("Date: \(date)", "Retry-After: Sun, 06 Nov 1994 08:49:40 GMT") == 3)
    }
  }

  @Test("what is none of the three forms is nothing")
  func noDates() throws {
    let values = [
      "Sun, 6 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 94 08:50:37 GMT",
      "sun, 06 Nov 1994 08:50:37 GMT",
      "Sun, 06 Nov 1994 08:50:37 UTC", "Sun, 06 Nov 1994 08:50:37 +0000",
      "Sun, 06 Nov 1994 08:50:37", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
      "Sun, 06 Nov 1994 08:50:61 GMT", "Sun, 00 Nov 1994 08:50:37 GMT",
      "Sun, 31 Nov 1994 08:50:37 GMT", "Sun, 29 Feb 2100 08:50:37 GMT",
      "Sun, 06 Nov 1994 08:50:37 GMT x", "Sunday, 06-Nov-1994 08:50:37 GMT",
      "Sunday, 06 Nov 1994 08:50:37 GMT", "Sunday Nov  6 08:50:37 1994",
      "Sun Nov 6 08:50:37 1994", "Sun Nov  6 08:50:37 94", "Foo, 06 Nov 1994 08:50:37 GMT",
      "Sun, 06 Foo 1994 08:50:37 GMT", "Sun, -6 Nov 1994 08:50:37 GMT", "1994-11-06T08:50:37Z",
    ]
    for value in values {
      #expect(try retryAfter(Self.now, "Retry-After: \(value)") == nil, "\(value)")
    }
  }

  @Test("the calendar: leap years, centuries, the end of a year, a leap second")
  func calendar() throws {
    let table: [(String, Int64)] = [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
      ("Fri, 31 Dec 1999 23:59:59 GMT", 946_684_799),
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
      ("Mon, 01 Jan 1900 00:00:00 GMT", -2_208_988_800),
      ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ]
    for (text, seconds) in table { #expect(HTTPDate(text)?.seconds == seconds, "\(text)") }
  }

  @Test("RFC 9110 section 5.6.7: two digits mean a year at most 50 years ahead")
  func twoDigits() throws {
    let table = [(2026, "76", 2076), (2026, "77", 1977), (1994, "01", 2001), (2099, "01", 2101)]
    for (year, digits, expected) in table {
      let date = HTTPDate("Monday, 01-Jun-\(digits) 00:00:00 GMT", latestYear: year + 50)
      #expect(date?.year == expected)
    }
    #expect(HTTPDate("Monday, 01-Jun-68 00:00:00 GMT")?.year == 2068)
    #expect(HTTPDate("Monday, 01-Jun-69 00:00:00 GMT")?.year == 1969)
    #expect(
      try retryAfter(
        "Date: Friday, 31-Dec-99 23:59:59 GMT", "Retry-After: Saturday, 01-Jan-00 00:00:09 GMT")
        == 10)
  }

  @Test("I13: 5000 drawn values are read or not, and none traps")
  func drawn() throws {
    let whole = Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)
    let alphabet = Array("0123456789 ,:-GMTSunNovday".utf8)
    for seed in UInt64(1)...5000 {
      var dice = SplitMix64(seed: seed)
      var bytes = whole
      for _ in 0...dice.next(through: 4) {
        let place = Int(dice.next(through: UInt64(bytes.count - 1)))
        bytes[place] = alphabet[Int(dice.next(through: UInt64(alphabet.count - 1)))]
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let span = try retryAfter("Date: \(text)", "Retry-After: \(text)")
      #expect(span == nil || span == 0 || HTTPDate(text) == nil, "seed \(seed)")
    }
  }
}
