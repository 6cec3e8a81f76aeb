package import ConnectionFSM
package import Transports

/// An engine driven by hand, what it said and what it wrote.
package struct EngineTrial<Engine: ProtocolEngine> {
  package var engine: Engine
  package var output = EngineOutput()

  package init(_ engine: Engine) { self.engine = engine }

  package mutating func start() { engine.start(at: .origin, into: &output) }

  package mutating func receive(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    engine.receive(bytes.span.bytes, at: .origin, into: &output)
  }

  package mutating func receiveEnd() { engine.receiveEnd(at: .origin, into: &output) }

  package mutating func send(_ message: Message) { engine.send(message, id: nil, into: &output) }

  package mutating func close() { engine.close(at: .origin, into: &output) }

  package var messages: [Message] {
    output.events.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  package var frameError: FrameError? { engine.diagnosis as? FrameError }
}
