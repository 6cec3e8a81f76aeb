import ConnectionFSM
import Testing
import Transports
import WireSupport

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
