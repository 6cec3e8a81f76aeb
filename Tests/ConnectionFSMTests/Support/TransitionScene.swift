import ConnectionFSM

/// A machine in a given phase, one second after it got there, and the epochs around it.
///
/// Its history: a1, a2, b1, b2 are offered at rest (each lane has a window of one), epoch 1 is
/// dialled and refused at the origin, epoch 2 begins at 4 s. So `current` is 2, a live one where
/// the phase has a link and the last one where it has none, and `stale` is 1. At rest nothing was
/// ever dialled.
struct Scene {
  var rig: Rig
  let current: Epoch
  let stale: Epoch

  init(_ phase: Phase) throws {
    rig = Rig(
      try Policy.made(
        session: .seconds(5), credentials: .seconds(5),
        lanes: [.made(.atMostOnce, window: 1), .made(.atLeastOnce, window: 1)]))
    for _ in 1...2 {
      rig.feed(.offerA())
      rig.feed(.offerB())
    }
    current = Epoch(phase == .idle ? 1 : 2)
    stale = Epoch(phase == .idle ? 0 : 1)
    if phase != .idle { lead(to: phase) }
    // An input that counts for nothing brings the clock to the scene.
    rig.feed(.transport(Epoch(0), .opened), at: rig.now + .seconds(1))
  }

  private mutating func lead(to phase: Phase) {
    rig.feed(.connect(here))
    rig.feed(.credentials(Epoch(1), .available))
    rig.transport(.failed(.lost))
    rig.feed(.deadlineReached, at: .seconds(4))
    guard phase != .waitingForCredentials else { return }
    rig.feed(.credentials(Epoch(2), .available))
    for input in way(to: phase) { rig.feed(input) }
  }

  /// What leads from the dial of epoch 2 to the phase.
  private func way(to phase: Phase) -> [Input] {
    let open: [Input] = [.transport(current, .opened), .session(current, .ready)]
    let failed = Input.transport(current, .failed(.lost))
    switch phase {
    case .idle, .waitingForCredentials, .connecting: return []
    case .authenticating: return [open[0]]
    case .open: return open
    case .closing: return open + [.close]
    case .closed: return open + [.close, .transport(current, .closed(nil))]
    case .backingOff: return [failed]
    case .offline: return [failed, .pathChanged(.down)]
    case .suspended: return [failed, .demandChanged(false)]
    }
  }
}

/// Every kind of input, by the name it has in the table.
enum InputKind: String, CaseIterable {
  case connectHere = "connect here"
  case connectElsewhere = "connect elsewhere"
  case close, drain
  case offer
  case offerNoLane = "offer to no lane"
  case cancelOlder = "cancel a1"
  case cancelNewer = "cancel a2"
  case cancelUnknown = "cancel a9"
  case resizeOlder = "resize a1"
  case resizeNewer = "resize a2"
  case resizeUnknown = "resize a9"
  case demandLost = "no demand"
  case demandFound = "demand"
  case foreground, background
  case suspended = "device suspends"
  case pathUnknown = "path unknown"
  case pathUp = "path up"
  case pathDown = "path down"
  case policyReplaced = "policy replaced"
  case earlyDeadline = "early deadline"
  case dueDeadline = "due deadline"
  case available = "credentials available"
  case unavailable = "credentials unavailable"
  case refusedCredentials = "credentials refused"
  case opened, failed
  case failedForGood = "failed for good"
  case closedByPeer = "closed by peer"
  case received, pong
  case writtenA1 = "written a1"
  case acknowledgedB1 = "acknowledged b1"
  case acknowledgedA1 = "acknowledged a1"
  case unwritable, writable, unviable, viable
  case drainRequested = "drain requested"
  case betterPath = "better path"
  case ready, resumed
  case resumeRefused = "resume refused"
  case refused
  case staleAvailable = "stale credentials available"
  case staleRefusedCredentials = "stale credentials refused"
  case staleOpened = "stale opened"
  case staleFailed = "stale failed"
  case staleClosed = "stale closed"
  case staleReceived = "stale received"
  case stalePong = "stale pong"
  case staleWritten = "stale written"
  case staleAcknowledged = "stale acknowledged"
  case staleUnwritable = "stale unwritable"
  case staleUnviable = "stale unviable"
  case staleDrainRequested = "stale drain requested"
  case staleBetterPath = "stale better path"
  case staleReady = "stale ready"
  case staleResumed = "stale resumed"
  case staleResumeRefused = "stale resume refused"
  case staleRefused = "stale refused"
  case futureAvailable = "future credentials available"
  case futureOpened = "future opened"
  case futureReady = "future ready"

  func input(in scene: Scene) -> Input {
    switch self {
    case .connectHere: return .connect(here)
    case .connectElsewhere: return .connect(elsewhere)
    case .close: return .close
    case .drain: return .drain
    case .offer: return .offerA()
    case .offerNoLane: return .offer(LaneID(2), byteCount: 1)
    case .cancelOlder: return .cancel(.a(1))
    case .cancelNewer: return .cancel(.a(2))
    case .cancelUnknown: return .cancel(.a(9))
    case .resizeOlder: return .resized(.a(1), byteCount: 2)
    case .resizeNewer: return .resized(.a(2), byteCount: 2)
    case .resizeUnknown: return .resized(.a(9), byteCount: 2)
    case .demandLost: return .demandChanged(false)
    case .demandFound: return .demandChanged(true)
    case .foreground: return .lifecycleChanged(.foreground)
    case .background: return .lifecycleChanged(.background)
    case .suspended: return .lifecycleChanged(.suspended)
    case .pathUnknown: return .pathChanged(.unknown)
    case .pathUp: return .pathChanged(.up)
    case .pathDown: return .pathChanged(.down)
    case .policyReplaced: return .policyReplaced
    case .earlyDeadline, .dueDeadline: return .deadlineReached
    case .available, .unavailable, .refusedCredentials, .staleAvailable, .staleRefusedCredentials,
      .futureAvailable, .ready, .resumed, .resumeRefused, .refused, .staleReady, .staleResumed,
      .staleResumeRefused, .staleRefused, .futureReady:
      return answer(in: scene)
    case .opened, .failed, .failedForGood, .closedByPeer, .received, .pong, .writtenA1,
      .acknowledgedB1, .acknowledgedA1, .unwritable, .writable, .unviable, .viable,
      .drainRequested, .betterPath:
      return .transport(scene.current, report)
    case .staleOpened, .staleFailed, .staleClosed, .staleReceived, .stalePong, .staleWritten,
      .staleAcknowledged, .staleUnwritable, .staleUnviable, .staleDrainRequested,
      .staleBetterPath:
      return .transport(scene.stale, report)
    case .futureOpened: return .transport(Epoch(9), .opened)
    }
  }

  /// What the provider or the session answers; the others answer nothing.
  private func answer(in scene: Scene) -> Input {
    let (current, stale, future) = (scene.current, scene.stale, Epoch(9))
    return switch self {
    case .available: .credentials(current, .available)
    case .unavailable: .credentials(current, .unavailable)
    case .refusedCredentials: .credentials(current, .refused)
    case .staleAvailable: .credentials(stale, .available)
    case .staleRefusedCredentials: .credentials(stale, .refused)
    case .futureAvailable: .credentials(future, .available)
    case .ready: .session(current, .ready)
    case .resumed: .session(current, .resumed)
    case .resumeRefused: .session(current, .resumeRefused)
    case .refused: .session(current, .refused(.denied))
    case .staleReady: .session(stale, .ready)
    case .staleResumed: .session(stale, .resumed)
    case .staleResumeRefused: .session(stale, .resumeRefused)
    case .staleRefused: .session(stale, .refused(.denied))
    default: .session(future, .ready)
    }
  }

  /// What the transport says; the others say that it opened.
  private var report: TransportEvent {
    switch self {
    case .failed: .failed(.lost)
    case .failedForGood, .staleFailed: .failed(.fatal)
    case .closedByPeer: .closed(CloseCode(1001))
    case .staleClosed: .closed(nil)
    case .received, .staleReceived: .received(byteCount: 1)
    case .pong, .stalePong: .pong(1)
    case .writtenA1, .staleWritten: .written(through: .a(1))
    case .acknowledgedB1, .staleAcknowledged: .acknowledged(through: .b(1))
    case .acknowledgedA1: .acknowledged(through: .a(1))
    case .unwritable, .staleUnwritable: .writabilityChanged(false)
    case .writable: .writabilityChanged(true)
    case .unviable, .staleUnviable: .viabilityChanged(false)
    case .viable: .viabilityChanged(true)
    case .drainRequested, .staleDrainRequested: .drainRequested
    case .betterPath, .staleBetterPath: .betterPathAvailable
    default: .opened
    }
  }
}
