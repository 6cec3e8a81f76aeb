import ConnectionFSM
import Testing
import Transports

/// An engine driven by hand, what it said and what it wrote.
struct EngineTrial<Engine: ProtocolEngine> {
  var engine: Engine
  var output = EngineOutput()

  init(_ engine: Engine) { self.engine = engine }

  mutating func start() { engine.start(at: .origin, into: &output) }

  mutating func receive(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    engine.receive(bytes.span.bytes, at: .origin, into: &output)
  }

  mutating func receiveEnd() { engine.receiveEnd(at: .origin, into: &output) }

  mutating func send(_ message: Message) { engine.send(message, id: nil, into: &output) }

  mutating func close() { engine.close(at: .origin, into: &output) }

  var messages: [Message] {
    output.events.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  var frameError: FrameError? { engine.diagnosis as? FrameError }
}

/// What an engine makes of bytes that come in these pieces, and then end.
struct Reading: Equatable {
  let events: [EngineEvent]
  let wireLengths: [Int]
  let diagnosis: FrameError?

  init(_ engine: some ProtocolEngine, _ pieces: [ArraySlice<UInt8>], ends: Bool = true) {
    var trial = EngineTrial(engine)
    for piece in pieces { trial.receive(piece) }
    if ends { trial.receiveEnd() }
    events = trial.output.events
    wireLengths = trial.messages.map(\.wireLength)
    diagnosis = trial.frameError
  }

  var problem: FrameError.Problem? { diagnosis?.problem }
}

extension Array where Element == UInt8 {
  /// Reads hexadecimal digits; spaces are for the eye.
  init(hex: String) {
    let digits = hex.compactMap(\.hexDigitValue)
    self = stride(from: 0, to: digits.count, by: 2).map { place -> UInt8 in
      UInt8(digits[place] << 4 | digits[place + 1])
    }
  }

  /// All of it as one piece, byte by byte, and cut in two at each place.
  var cuts: [[ArraySlice<UInt8>]] {
    [indices.map { self[$0...$0] }] + (0...count).map { [self[..<$0], self[$0...]] }
  }

  /// Cut in random pieces.
  func pieces(_ random: inout SplitMix64, longest: UInt64) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var start = 0
    while start < count {
      let end = Swift.min(count, start + 1 + Int(random.next(through: longest - 1)))
      pieces.append(self[start..<end])
      start = end
    }
    return pieces
  }
}
