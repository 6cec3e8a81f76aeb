extension HTTPResponse {
  /// In how many seconds the server wants to be asked again (RFC 9110 section 10.2.3), at most
  /// 65535; nil if it does not say, or nothing that can be read.
  ///
  /// A date becomes a span by the answer's own Date: the clocks of both sides need not agree, and
  /// what is past is 0. Without a Date it is nothing. Of several fields the longest span counts:
  /// never earlier than asked.
  package var retryAfter: UInt16? {
    values(of: "Retry-After").compactMap(span(until:)).max()
  }

  private func span(until value: String) -> UInt16? {
    if !value.isEmpty, value.utf8.allSatisfy(HTTPText.isDigit) {
      // Too many digits are the longest span that there is.
      return UInt16(value) ?? .max
    }
    // Two digits of a year that seem more than 50 years ahead are past.
    guard let now = values(of: "Date").lazy.compactMap({ HTTPDate($0) }).first,
      let then = HTTPDate(value, latestYear: now.year + 50)
    else { return nil }
    return UInt16(clamping: then.seconds - now.seconds)
  }
}
