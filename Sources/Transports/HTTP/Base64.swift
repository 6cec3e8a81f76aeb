/// Base64 with padding (RFC 4648 section 4).
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var group: UInt32 = 0
    var count = 0
    func put(_ digits: Int) {
      for digit in 0..<4 {
        let value = Int(group >> UInt32(18 - 6 * digit)) & 63
        text.append(digit < digits ? alphabet[value] : UInt8(ascii: "="))
      }
    }
    for byte in bytes {
      group |= UInt32(byte) << UInt32(16 - 8 * count)
      count += 1
      guard count == 3 else { continue }
      put(4)
      (group, count) = (0, 0)
    }
    if count > 0 { put(count + 1) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether it is what ``encode(_:)`` makes of 16 bytes: 22 digits, the last of which has four
  /// bits that stand for nothing, and two of padding.
  static func isOf16Bytes(_ text: String) -> Bool {
    let digits = text.utf8.dropLast(2)
    guard text.utf8.count == 24, text.hasSuffix("=="), digits.allSatisfy(alphabet.contains),
      let last = digits.last.flatMap(alphabet.firstIndex)
    else { return false }
    return last & 15 == 0
  }
}
