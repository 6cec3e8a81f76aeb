import ConnectionFSM
import Transports

extension WebSocketNotice {
  /// In one line, for people.
  var words: String {
    switch self {
    case .agreed(let agreement):
      let subprotocol = agreement.subprotocol.map { "subprotocol \($0.printable)" }
      return "open at \(agreement.url): \(subprotocol ?? "no subprotocol"), "
        + (agreement.compression == nil ? "not compressed" : "compressed")
    case .closedByPeer(let code, let reason):
      let said = reason.isEmpty ? "no reason" : "“\(reason.printable)”"
      return "the peer sent its close: "
        + (code.rawValue == 1005 ? "no code" : "\(code.rawValue), \(said)")
    }
  }
}

extension ArgumentList {
  /// Reads all `--header 'NAME: VALUE'`. What is wrong with one is told without its value, which
  /// may be secret.
  mutating func headers() throws(Failure) -> [HTTPField] {
    var fields: [HTTPField] = []
    for text in try values(of: "--header") {
      guard let colon = text.firstIndex(of: ":") else {
        throw usage("--header has no colon; write --header 'Name: value'")
      }
      do throws(HTTPFieldError) {
        let value = text[text.index(after: colon)...]
        fields.append(try HTTPField(String(text[..<colon]), String(value)))
      } catch {
        throw usage("--header: \(error)")
      }
    }
    return fields
  }
}
