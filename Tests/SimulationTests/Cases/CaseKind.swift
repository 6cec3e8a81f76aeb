/// What went wrong in the reported cases, by kind: the kind is what is tested, the cases are its
/// samples.
enum CaseKind: String, CaseIterable {
  case timerAfterClose = "timer-after-close"
  case background = "background"
  case queueLossBound = "queue-loss-bound"
  case giveUp = "give-up"
  case reachability = "reachability"
  case duplicateConnection = "duplicate-connection"
  case heartbeatFalsePositive = "heartbeat-false-positive"
  case heartbeatMissing = "heartbeat-missing"
  case closeCode = "close-code"
  case callbackOrderReentrancy = "callback-order-reentrancy"
  case backoffMathJitter = "backoff-math-jitter"
  case backoffReset = "backoff-reset"
  case sleepWake = "sleep-wake"
  case networkSwitch = "network-switch"
  case timerLeak = "timer-leak"
  case staleCallback = "stale-callback"
  case auth = "auth"
  case clock = "clock"
  case connectHang = "connect-hang"
  case queueOrderDuplicate = "queue-order-duplicate"
  case closeHang = "close-hang"
  case failover = "failover"
  case resumeState = "resume-state"
  case terminalClassification = "terminal-classification"
  case stuckState = "stuck-state"
  case dns = "dns"
  case observability = "observability"

  /// The cases of the kind, all of them.
  var ids: [String] { Self.table[self, default: []] }

  private static let table: [CaseKind: [String]] = [
    .timerAfterClose: [
      "RC015", "RC016", "RC017", "RC021", "RC075", "RC076", "RC080", "RC156", "RC157",
    ],
    .background: [
      "RC004", "RC046", "RC118", "RC153", "RC155", "RC162", "RC201", "RC204",
    ],
    .queueLossBound: [
      "RC055", "RC057", "RC058", "RC061", "RC144", "RC196", "RC198", "RC199",
    ],
    .giveUp: [
      "RC086", "RC087", "RC090", "RC114", "RC140", "RC141", "RC149", "RC186",
    ],
    .reachability: [
      "RC109", "RC110", "RC134", "RC150", "RC151", "RC165", "RC187",
    ],
    .duplicateConnection: [
      "RC001", "RC002", "RC003", "RC012", "RC045", "RC159",
    ],
    .heartbeatFalsePositive: [
      "RC006", "RC023", "RC026", "RC052", "RC119", "RC179",
    ],
    .heartbeatMissing: [
      "RC007", "RC010", "RC025", "RC147", "RC154", "RC184",
    ],
    .closeCode: [
      "RC019", "RC071", "RC072", "RC163", "RC173", "RC190",
    ],
    .callbackOrderReentrancy: [
      "RC020", "RC123", "RC131", "RC132", "RC133", "RC181",
    ],
    .backoffMathJitter: [
      "RC029", "RC030", "RC038", "RC091", "RC092", "RC208",
    ],
    .backoffReset: [
      "RC032", "RC034", "RC036", "RC037", "RC148", "RC188",
    ],
    .sleepWake: [
      "RC047", "RC048", "RC049", "RC113", "RC128", "RC129",
    ],
    .networkSwitch: [
      "RC009", "RC106", "RC108", "RC169", "RC203",
    ],
    .timerLeak: [
      "RC031", "RC111", "RC126", "RC177", "RC182",
    ],
    .staleCallback: [
      "RC039", "RC041", "RC042", "RC050", "RC124",
    ],
    .auth: [
      "RC063", "RC064", "RC065", "RC067", "RC070",
    ],
    .clock: [
      "RC099", "RC100", "RC101", "RC102", "RC104",
    ],
    .connectHang: [
      "RC008", "RC078", "RC136", "RC175",
    ],
    .queueOrderDuplicate: [
      "RC053", "RC054", "RC059", "RC197",
    ],
    .closeHang: [
      "RC082", "RC083", "RC084", "RC085",
    ],
    .failover: [
      "RC166", "RC191", "RC194", "RC195",
    ],
    .resumeState: [
      "RC005", "RC138", "RC171",
    ],
    .terminalClassification: [
      "RC018", "RC176", "RC189",
    ],
    .stuckState: [
      "RC022", "RC115", "RC116",
    ],
    .dns: [
      "RC094", "RC095", "RC096",
    ],
    .observability: [
      "RC161", "RC206", "RC207",
    ],
  ]
}
