import ConnectionFSM
import Foundation

extension Message {
  /// In one line, for people.
  var shown: String {
    switch kind {
    case .text: text.printable
    case .object:
      (compactJSON ?? text).printable + (wireLength > 0 ? " (\(wireLength) bytes)" : "")
    case .binary: "\(bytes.count) bytes"
    case .unknown(let type): "\(bytes.count) bytes of the unknown type \(type)"
    }
  }

  private var compactJSON: String? {
    guard let value = try? JSONSerialization.jsonObject(with: Data(bytes)),
      let data = try? JSONSerialization.data(
        withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return nil }
    return String(decoding: data, as: UTF8.self)
  }
}
