public import ConnectionFSM

/// A small protocol for simulations where the framing does not matter: messages of any size, text
/// or binary, acknowledged in order of each lane; pings; an orderly end.
///
/// A frame is a byte for its kind, a lane and a sequence number, a length, and a payload, all
/// integers big-endian. Both ends speak it alike. What does not fit it is
/// `Cause.protocolError`; an end inside a frame is `Cause.truncated`.
public struct SimulatedProtocol: ProtocolEngine, Sendable {
  private enum Kind: UInt8 {
    case text = 1
    case binary
    case acknowledgement
    case ping
    case pong
    case goodbye
  }

  private static let headerSize = 14
  /// The longest payload, in bytes: 16 MiB, so that a corrupted length does not make us wait for
  /// ever longer ones.
  public static let maximumLength = 16 << 20

  /// In place of the id of a message without one; no policy has so many lanes.
  private static let nobody = MessageID(lane: LaneID(.max), sequence: 0)

  private let acknowledges: Bool
  private var pending: [UInt8] = []
  private var isFinished = false
  private var isOver = false

  /// Makes an engine for one link.
  /// - Parameter acknowledges: Whether messages that arrive are acknowledged at once; without,
  ///   nothing acknowledges them.
  public init(acknowledges: Bool = true) { self.acknowledges = acknowledges }

  public var canPing: Bool { true }
  public var nextDeadline: Instant? { nil }

  public func admits(_ message: Message) -> Bool { message.bytes.count <= Self.maximumLength }

  public mutating func start(at now: Instant, into output: inout EngineOutput) {
    output.events.append(.opened)
  }

  public mutating func receive(
    _ bytes: RawSpan, at now: Instant, into output: inout EngineOutput
  ) {
    guard !isOver else { return }
    bytes.withUnsafeBytes { pending += $0 }
    var start = 0
    while !isOver, pending.count - start >= Self.headerSize {
      let length = Int(number(at: start + 10, bytes: 4))
      guard let kind = Kind(rawValue: pending[start]), length <= Self.maximumLength else {
        return fail(.protocolError, &output)
      }
      let end = start + Self.headerSize + length
      guard pending.count >= end else { break }
      take(kind, start, payload: pending[(start + Self.headerSize)..<end], &output)
      start = end
    }
    pending.removeFirst(start)
  }

  private mutating func take(
    _ kind: Kind, _ start: Int, payload: ArraySlice<UInt8>, _ output: inout EngineOutput
  ) {
    let sequence = number(at: start + 2, bytes: 8)
    let id = MessageID(lane: LaneID(pending[start + 1]), sequence: sequence)
    switch kind {
    case .text, .binary:
      if acknowledges, id != Self.nobody { append(.acknowledgement, id, [], &output) }
      let message = Message(bytes: Array(payload), kind: kind == .text ? .text : .binary)
      output.events.append(.message(message))
    case .acknowledgement: output.events.append(.acknowledged(through: id))
    case .ping: append(.pong, id, [], &output)
    case .pong: output.events.append(.pong(UInt32(truncatingIfNeeded: sequence)))
    case .goodbye:
      isOver = true
      append(.goodbye, id, [], &output)
      output.events += isFinished ? [.closed(nil)] : [.finished, .closed(nil)]
    }
  }

  private func number(at place: Int, bytes: Int) -> UInt64 {
    pending[place..<place + bytes].reduce(0) { $0 << 8 | UInt64($1) }
  }

  public mutating func receiveEnd(at now: Instant, into output: inout EngineOutput) {
    guard !isOver else { return }
    isOver = true
    output.events.append(pending.isEmpty ? .closed(nil) : .failed(.truncated))
  }

  public mutating func send(_ message: Message, id: MessageID?, into output: inout EngineOutput) {
    guard !isOver else { return }
    append(message.kind == .text ? .text : .binary, id ?? Self.nobody, message.bytes, &output)
  }

  public mutating func ping(_ number: UInt32, into output: inout EngineOutput) {
    guard !isOver else { return }
    append(.ping, MessageID(lane: LaneID(0), sequence: UInt64(number)), [], &output)
  }

  public mutating func close(at now: Instant, into output: inout EngineOutput) {
    guard !isOver, !isFinished else { return }
    append(.goodbye, MessageID(lane: LaneID(0), sequence: 0), [], &output)
    isFinished = true
    output.events.append(.finished)
  }

  public mutating func deadlineReached(at now: Instant, into output: inout EngineOutput) {}

  private func append(
    _ kind: Kind, _ id: MessageID, _ payload: [UInt8], _ output: inout EngineOutput
  ) {
    // After a goodbye nothing is written but the answer to the other one.
    guard !isFinished else { return }
    output.bytes.append(kind.rawValue)
    output.bytes.append(id.lane.rawValue)
    append(id.sequence, bytes: 8, &output)
    append(UInt64(payload.count), bytes: 4, &output)
    output.bytes += payload
  }

  private func append(_ number: UInt64, bytes: Int, _ output: inout EngineOutput) {
    for place in (0..<bytes).reversed() {
      output.bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place)))
    }
  }

  private mutating func fail(_ cause: Cause, _ output: inout EngineOutput) {
    isOver = true
    pending = []
    output.events.append(.failed(cause))
  }
}
