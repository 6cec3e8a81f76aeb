import ConnectionFSM
import Testing
import Transports
import WireSupport

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
