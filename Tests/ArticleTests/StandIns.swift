// What stands in for the clients of others in the article “Writing a transport”: the same calls and
// events, and no network.

/// The least that a client can be: it begins when it is made, and tells its events to a closure.
final class StandInClient {
  enum Event: Sendable {
    case opened
    case text(String)
    case ended
  }

  let address: String
  let tell: (Event) -> Void
  private(set) var calls: [String] = []

  init(_ address: String, tell: @escaping (Event) -> Void) {
    self.address = address
    self.tell = tell
  }

  func send(_ text: String) { calls.append(text) }
  func cancel() { calls.append("cancel") }
}

/// A client in the shape of Starscream's `WebSocket`: it tells its events to a closure.
final class StandInSocket {
  enum Event: Sendable {
    case connected
    case text(String)
    case binary([UInt8])
    case pong
    case viabilityChanged(Bool)
    case reconnectSuggested(Bool)
    case disconnected(code: UInt16)
    case peerClosed
    case cancelled
    case error
  }

  let address: String
  var onEvent: ((Event) -> Void)?
  /// What was asked of it.
  private(set) var calls: [String] = []

  init(_ address: String) { self.address = address }

  func connect() { calls.append("connect") }
  func write(string: String, completion: @escaping () -> Void) {
    calls.append(string)
    completion()
  }
  func write(data: [UInt8], completion: @escaping () -> Void) {
    calls.append("\(data)")
    completion()
  }
  func writePing() { calls.append("ping") }
  func disconnect() { calls.append("disconnect") }
  func forceDisconnect() { calls.append("forceDisconnect") }
}

/// A client in the shape of SocketRocket's `SRWebSocket`: it has a delegate, and is used once.
final class StandInRocket {
  let address: String
  weak var delegate: (any StandInRocketDelegate)?
  private(set) var calls: [String] = []

  init(_ address: String) { self.address = address }

  func open() { calls.append("open") }
  func send(string: String) { calls.append(string) }
  func send(data: [UInt8]) { calls.append("\(data)") }
  func sendPing() { calls.append("ping") }
  func close() { calls.append("close") }
}

protocol StandInRocketDelegate: AnyObject {
  func webSocketDidOpen(_ webSocket: StandInRocket)
  func webSocket(_ webSocket: StandInRocket, didReceiveMessage text: String)
  func webSocketDidReceivePong(_ webSocket: StandInRocket)
  func webSocketDidFail(_ webSocket: StandInRocket)
  func webSocket(_ webSocket: StandInRocket, didCloseWithCode code: UInt16)
}
