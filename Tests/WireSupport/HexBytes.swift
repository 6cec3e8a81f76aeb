extension Array where Element == UInt8 {
  /// Reads hexadecimal digits; spaces are for the eye.
  package init(hex: String) {
    let digits = hex.compactMap(\.hexDigitValue)
    self = stride(from: 0, to: digits.count, by: 2).map { place -> UInt8 in
      UInt8(digits[place] << 4 | digits[place + 1])
    }
  }
}
