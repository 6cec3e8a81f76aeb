import ConnectionFSM

/// What a step means, once its words are understood.
enum Action: Equatable, Sendable {
  case app(AppAction)
  case device(DeviceAction)
  case network(NetworkAction, attempt: UInt64?, repeats: Int)
  case environment(EnvironmentAction)
  case expectation(Expectation)
  /// A mark of the reported client's own doing; ours sets its own timers.
  case mark
}

/// What the application does.
enum AppAction: Equatable, Sendable {
  case connect(EndpointID)
  case close
  case send([String])
  case cancel(String)
  case demand(Bool)
}

/// What the device does.
enum DeviceAction: Equatable, Sendable {
  case sleep
  case wake
  case lifecycle(Lifecycle)
}

/// What befalls an attempt or a link.
enum NetworkAction: Equatable, Sendable {
  // For an attempt on its way.
  case open
  case refuse
  case hang
  case resolutionFails
  // For a link, or an attempt that gets that far.
  case reset
  case finish
  case serverClose(CloseCode?)
  // For an open link.
  case goSilent
  case message
  case pong
  case acknowledge
  case writable(Bool)

  /// Whether it answers a dial.
  var isAnswer: Bool {
    switch self {
    case .open, .refuse, .hang, .resolutionFails: true
    case .reset, .finish, .serverClose, .goSilent, .message, .pong, .acknowledge, .writable: false
    }
  }
}

/// What changes around the connection, whether there is one or not.
enum EnvironmentAction: Equatable, Sendable {
  case path(PathStatus, isLie: Bool)
  case serverUp
  case serverDown
  case latency(TimeSpan)
  case nothing
}

/// What must be so at that moment.
enum Expectation: Equatable, Sendable {
  case state(String)
  case cause(String)
  case dials(ClosedRange<Int>)
  case live(Int)
  case pings(Int)
  case waits([TimeSpan])
  case wire([String])
  case outcome([String], String)
}
