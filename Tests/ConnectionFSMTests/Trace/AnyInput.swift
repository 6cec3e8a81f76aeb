import ConnectionFSM

/// Inputs of every kind with every detail: all of those that are few, and drawn ones of the rest.
enum AnyInput {
  /// At least one of each kind, with each case of every enum in it and both ends of every number.
  static let all: [Input] = {
    let (few, many) = (Epoch(0), Epoch(.max))
    let ids = (0...3 as ClosedRange<UInt8>).flatMap { lane in
      [0, 1, 1 << 62 - 1].map { MessageID(lane: LaneID(lane), sequence: $0) }
    }
    var inputs: [Input] = [
      .connect(here), .connect(EndpointID(.max), count: 2), .connect(elsewhere, count: .max),
      .close, .drain, .offer(LaneID(0), byteCount: 0), .offer(LaneID(.max), byteCount: .max),
      .demandChanged(true), .demandChanged(false), .policyReplaced, .deadlineReached,
    ]
    inputs += ids.map { .cancel($0) } + ids.map { .resized($0, byteCount: 7) }
    inputs += Lifecycle.allCases.map { .lifecycleChanged($0) }
    inputs += paths.map { .pathChanged($0) }
    inputs += CredentialsAnswer.allCases.map { .credentials(few, $0) }
    inputs += sessionEvents.map { .session(many, $0) }
    inputs +=
      (transportEvents + ids.flatMap { [.written(through: $0), .acknowledged(through: $0)] })
      .flatMap { [.transport(few, $0), .transport(many, $0)] }
    return inputs
  }()

  static var paths: [Path] {
    PathStatus.allCases.flatMap { status in
      [0, 1, .max as UInt16].flatMap { interface in
        [(false, false), (true, false), (false, true), (true, true)].map {
          Path(status, interface: interface, isExpensive: $0.0, isConstrained: $0.1)
        }
      }
    }
  }

  static var sessionEvents: [SessionEvent] {
    [.ready, .resumed, .resumeRefused] + Refusal.allCases.map { .refused($0) }
  }

  static var transportEvents: [TransportEvent] {
    [
      .opened, .closed(nil), .closed(CloseCode(0)), .closed(CloseCode(.max)),
      .received(byteCount: 0), .received(byteCount: .max), .pong(0), .pong(.max),
      .writabilityChanged(true), .writabilityChanged(false), .viabilityChanged(true),
      .viabilityChanged(false), .drainRequested, .betterPathAvailable,
    ] + causes.map { .failed($0) }
  }

  static var causes: [Cause] { Cause.Kind.allCases.flatMap { causes(of: $0) } }

  /// A switch without a default, so that a new kind of cause is not forgotten.
  private static func causes(of kind: Cause.Kind) -> [Cause] {
    switch kind {
    case .closedByUser: [.closedByUser]
    case .replaced: [.replaced]
    case .suspended: [.suspended]
    case .pathChanged: [.pathChanged]
    case .localAddressLost: [.localAddressLost]
    case .pathLost: [.pathLost]
    case .closedByPeer:
      [.closedByPeer(nil), .closedByPeer(CloseCode(0)), .closedByPeer(CloseCode(.max))]
    case .timedOut: Timeout.allCases.map { .timedOut($0) }
    case .system: SystemError.allCases.map { .system($0) }
    case .resolution: ResolutionError.allCases.map { .resolution($0) }
    case .unsupportedEndpoint: [.unsupportedEndpoint]
    case .protocolError: [.protocolError]
    case .truncated: [.truncated]
    case .tls: TLSFailure.allCases.map { .tls($0) }
    case .http:
      [0, 101, 503, .max as UInt16].flatMap { status in
        [nil, 0, 30, .max as UInt16?].map { .http(status: status, retryAfter: $0) }
      }
    case .loading: LoadingError.allCases.map { .loading($0) }
    case .slowConsumer: [.slowConsumer]
    case .sessionRefused: Refusal.allCases.map { .sessionRefused($0) }
    case .credentialsRefused: [.credentialsRefused]
    case .credentialsUnavailable: [.credentialsUnavailable]
    }
  }

  /// One with numbers of any size.
  static func drawn(_ random: inout SplitMix64) -> Input {
    let input = all[Int(random.next(through: UInt64(all.count - 1)))]
    let number = random.next(through: .max) >> random.next(through: 63)
    let bytes = UInt32(truncatingIfNeeded: number)
    let id = MessageID(lane: LaneID(UInt8(number & 3)), sequence: number)
    switch input {
    case .connect:
      return .connect(EndpointID(bytes), count: max(1, UInt8(truncatingIfNeeded: number)))
    case .offer: return .offer(LaneID(UInt8(truncatingIfNeeded: number)), byteCount: bytes)
    case .cancel: return .cancel(id)
    case .resized: return .resized(id, byteCount: bytes)
    case .close, .drain, .demandChanged, .lifecycleChanged, .policyReplaced, .deadlineReached:
      return input
    case .pathChanged(var path):
      path.interface = UInt16(truncatingIfNeeded: number)
      return .pathChanged(path)
    case .credentials(_, let answer): return .credentials(Epoch(number), answer)
    case .session(_, let event): return .session(Epoch(number), event)
    case .transport(_, let event): return .transport(Epoch(number), drawn(event, number, id))
    }
  }

  private static func drawn(
    _ event: TransportEvent, _ number: UInt64, _ id: MessageID
  ) -> TransportEvent {
    let short = UInt16(truncatingIfNeeded: number)
    switch event {
    case .opened, .writabilityChanged, .viabilityChanged, .drainRequested, .betterPathAvailable,
      .closed(nil):
      return event
    case .failed(.closedByPeer(.some)): return .failed(.closedByPeer(CloseCode(short)))
    case .failed(.http): return .failed(.http(status: short, retryAfter: short ^ 0x5555))
    case .failed: return event
    case .closed(.some): return .closed(CloseCode(short))
    case .received: return .received(byteCount: UInt32(truncatingIfNeeded: number))
    case .pong: return .pong(UInt32(truncatingIfNeeded: number))
    case .written: return .written(through: id)
    case .acknowledged: return .acknowledged(through: id)
    }
  }
}
