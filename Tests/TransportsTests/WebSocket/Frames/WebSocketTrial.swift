import ConnectionFSM
import Testing
import Transports

/// A frame as it lies on the wire, made and read without the code under test.
struct WireFrame: Equatable {
  var first: UInt8
  var payload: [UInt8]
  var key: [UInt8]?

  static func text(_ text: String) -> WireFrame {
    WireFrame(first: 0x81, payload: [UInt8](text.utf8))
  }
  static func close(_ code: UInt16, _ reason: String = "") -> WireFrame {
    WireFrame(first: 0x88, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + reason.utf8)
  }
  static func ping(_ payload: [UInt8]) -> WireFrame { WireFrame(first: 0x89, payload: payload) }
  static func pong(_ payload: [UInt8]) -> WireFrame { WireFrame(first: 0x8A, payload: payload) }

  var isData: Bool { first & 0x08 == 0 }

  var bytes: [UInt8] {
    var bytes = [first]
    let mask: UInt8 = key == nil ? 0 : 0x80
    let length = UInt64(payload.count)
    switch length {
    case ..<126: bytes.append(UInt8(length) | mask)
    case ..<65_536:
      bytes.append(126 | mask)
      bytes += (0..<2).map { UInt8(truncatingIfNeeded: length >> (8 - 8 * $0)) }
    default:
      bytes.append(127 | mask)
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    }
    guard let key else { return bytes + payload }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
  }

  /// Whole frames, unmasked, with the keys they came with. Nil where bytes are left over.
  static func read(_ bytes: [UInt8]) -> [WireFrame]? {
    var frames: [WireFrame] = []
    var place = 0
    while place < bytes.count {
      guard place + 2 <= bytes.count else { return nil }
      let first = bytes[place]
      let second = bytes[place + 1]
      let lengthBytes = [126: 2, 127: 8][Int(second & 0x7F)] ?? 0
      place += 2
      guard place + lengthBytes <= bytes.count else { return nil }
      let length =
        lengthBytes == 0
        ? Int(second & 0x7F) : bytes[place..<place + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
      place += lengthBytes
      var key: [UInt8]?
      if second & 0x80 != 0 {
        guard place + 4 <= bytes.count else { return nil }
        key = Array(bytes[place..<place + 4])
        place += 4
      }
      guard place + length <= bytes.count else { return nil }
      let payload = bytes[place..<place + length].enumerated().map { $1 ^ (key?[$0 % 4] ?? 0) }
      frames.append(WireFrame(first: first, payload: payload, key: key))
      place += length
    }
    return frames
  }
}

/// A client's engine behind its handshake, driven by hand.
struct WebSocketTrial {
  var trial: EngineTrial<WebSocketEngine>

  init(
    limits: WebSocketLimits = .standard, compression: WebSocketCompression? = nil,
    extensions: String? = nil, login: Message? = nil,
    notice: (@Sendable (WebSocketNotice) -> Void)? = nil
  ) throws {
    let options = try WebSocketOptions(
      WebSocketURL("ws://example.com/"), compression: compression, limits: limits, login: login,
      random: .seeded(7), notice: notice)
    trial = EngineTrial(WebSocketEngine(options))
    trial.start()
    var handshake = ServerHandshake()
    guard case .asked(let request, _) = handshake.receive(trial.output.bytes.span.bytes) else {
      throw NoRequest()
    }
    trial.output.bytes = []
    trial.receive(
      ServerHandshake.acceptance(of: request, subprotocol: nil, extensions: extensions))
    #expect(trial.output.events == [.opened])
    trial.output.events = []
  }

  struct NoRequest: Error {}

  mutating func receive(_ frames: WireFrame...) {
    for frame in frames { trial.receive(frame.bytes) }
  }

  /// Lets the engine write all that it has.
  mutating func writeOut() {
    while trial.engine.hasMore { trial.engine.writeOn(into: &trial.output) }
  }

  /// What was written since the last time, with all that waits; nil if it is no whole frames.
  mutating func takeSent() -> [WireFrame]? {
    writeOut()
    defer { trial.output.bytes = [] }
    return WireFrame.read(trial.output.bytes)
  }

  /// The same, without the keys.
  mutating func takeUnmasked() -> [WireFrame]? {
    takeSent()?.map { WireFrame(first: $0.first, payload: $0.payload) }
  }

  mutating func takeEvents() -> [EngineEvent] {
    defer { trial.output.events = [] }
    return trial.output.events
  }

  var problem: WebSocketFrameError.Problem? {
    (trial.engine.diagnosis as? WebSocketFrameError)?.problem
  }
}
