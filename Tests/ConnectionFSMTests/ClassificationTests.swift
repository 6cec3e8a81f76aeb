import ConnectionFSM
import Testing

@Suite("Classification")
struct ClassificationTests {
  /// By symbol: T transient, W the network's, X terminal.
  private static func expected(_ error: SystemError) -> FailureClass {
    switch error {
    case .connectionRefused: .transient  // ECONNREFUSED: T
    case .connectionReset: .transient  // ECONNRESET: T
    case .connectionAborted: .transient  // ECONNABORTED: T +now
    case .timedOut: .transient  // ETIMEDOUT: T
    case .brokenPipe: .transient  // EPIPE: T
    case .notConnected: .transient  // ENOTCONN: T
    case .hostUnreachable: .transient  // EHOSTUNREACH: T, and W while the path is down
    case .hostDown: .transient  // EHOSTDOWN: as EHOSTUNREACH
    case .networkUnreachable: .network  // ENETUNREACH: W
    case .networkDown: .network  // ENETDOWN: W
    case .networkReset: .transient  // ENETRESET: T
    case .addressNotAvailable: .transient  // EADDRNOTAVAIL: T +slow
    case .addressInUse: .transient  // EADDRINUSE: T +cap 3
    case .addressFamilyNotSupported: .terminal  // EAFNOSUPPORT of every address: X
    case .tooManyOpenFiles: .transient  // EMFILE, ENFILE: T +slow
    case .noBufferSpace: .transient  // ENOBUFS, ENOMEM: T +slow
    case .accessDenied: .terminal  // EACCES, EPERM: X
    case .protocolFailure: .transient  // EPROTO: T +cap 2
    case .internalFault: .terminal  // EBADF, EINVAL, ENOTSOCK …: X
    case .other: .transient  // I15: unknown is transient
    }
  }

  /// By symbol.
  private static func expected(_ error: ResolutionError) -> FailureClass {
    switch error {
    case .temporaryFailure: .transient  // EAI_AGAIN: T
    case .unknownName: .transient  // EAI_NONAME, EAI_NODATA: T +cap 3
    case .permanentFailure: .transient  // EAI_FAIL: T +cap 3
    case .misconfigured: .terminal  // EAI_FAMILY, EAI_SERVICE …: X
    case .outOfMemory: .transient  // EAI_MEMORY: T +slow
    }
  }

  @Test(
    "I15, F14: every error of the system has the class of its row", arguments: SystemError.allCases)
  func system(error: SystemError) {
    #expect(error.failureClass == Self.expected(error))
    #expect(Cause.system(error).failureClass == Self.expected(error))
  }

  @Test("I15, F14: every error of the resolver has its class", arguments: ResolutionError.allCases)
  func resolution(error: ResolutionError) {
    #expect(error.failureClass == Self.expected(error))
    #expect(Cause.resolution(error).failureClass == Self.expected(error))
  }

  @Test("F14: every time-out of ours is transient", arguments: Timeout.allCases)
  func timeouts(timeout: Timeout) {
    #expect(Cause.timedOut(timeout).failureClass == .transient)
  }

  /// The causes without a table of their own; a new one does not compile before it has its row.
  private static func expected(_ cause: Cause) -> FailureClass {
    switch cause {
    case .system(let error): expected(error)
    case .resolution(let error): expected(error)
    case .closedByUser: .terminal  // F05: user stop
    case .unsupportedEndpoint: .terminal  // X config
    case .replaced: .transient
    case .pathLost: .network  // F05: networkLost, wait
    case .closedByPeer: .transient  // F05: server, retry
    case .timedOut: .transient  // every time-out of ours
    case .protocolError: .terminal  // codec error, X
    case .truncated: .transient  // an end in the middle
    case .sessionRefused, .credentialsRefused: .terminal
    case .credentialsUnavailable: .transient  // RC063
    }
  }

  @Test(
    "F05, I7: every other cause has one class",
    arguments: [
      Cause.closedByUser, .unsupportedEndpoint, .replaced, .pathLost, .closedByPeer(nil),
      .protocolError, .truncated, .sessionRefused, .credentialsRefused, .credentialsUnavailable,
    ])
  func others(cause: Cause) {
    #expect(cause.failureClass == Self.expected(cause))
  }

  @Test(
    "RC019, RC163: a peer that closes in order is come back to, with the codes that say so",
    arguments: [
      1000, 1001, 1005, 1006, 1011, 1012, 1013, 1014, 3008, 4000,
    ] as [UInt16])
  func peerCloses(code: UInt16) {
    #expect(Cause.closedByPeer(CloseCode(code)).failureClass == .transient)
  }

  @Test(
    "a machine retries a transient cause and stops at a terminal one",
    arguments: SystemError.allCases)
  func decides(error: SystemError) throws {
    var rig = Rig(try Policy.made())
    rig.feed(.connect(here))
    rig.transport(.failed(.system(error)))
    #expect((rig.phase == .closed) == (Self.expected(error) == .terminal))
    #expect((rig.phase == .backingOff) == (Self.expected(error) != .terminal))
  }
}
