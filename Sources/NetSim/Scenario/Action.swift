import ConnectionFSM

/// What a step means, once its words are understood.
enum Action: Equatable, Sendable {
  case app(AppAction)
  case device(DeviceAction)
  case network(NetworkAction, Aim, repeats: Int, every: TimeSpan?)
  case environment(EnvironmentAction)
  case provider(ProviderAction)
  /// What the application does inside a callback.
  case callback(CallbackMoment, [AppAction])
  case expectation(Expectation)
  /// One of a fleet of so many clients connects, and is answered.
  case fleet(Int)
  /// A mark of the reported client's own doing (ours sets its own timers), or a step of another
  /// client of the story.
  case mark
}

/// What the application does.
enum AppAction: Equatable, Sendable {
  /// To one endpoint; nil is the story's host, or all of its hosts.
  case connect(EndpointID?)
  /// Wants a fresh link, whatever there is.
  case reconnect
  case close
  /// As close, but what waits is sent first.
  case drain
  case send([String])
  /// A newer payload for a message that waits.
  case replace(String)
  case cancel(String)
  case demand(Bool)
}

/// When a callback of the application runs.
enum CallbackMoment: String, CaseIterable, Sendable {
  /// The machine seeks a link: it dials, or waits to.
  case connecting
  /// A link is open.
  case open
  /// A link has ended.
  case closed
}

/// What the device does.
enum DeviceAction: Equatable, Sendable {
  case sleep
  case wake
  case lifecycle(Lifecycle)
  /// The driver's timer fires, whatever is due.
  case timer
}

/// What the credentials provider answers; until the first of these it answers at once that they
/// are at hand.
enum ProviderAction: Equatable, Sendable {
  /// It was asked, and takes its time.
  case asked
  case answers(CredentialsAnswer)
  /// It answers a request of long ago, or the latest one again.
  case answersLate(CredentialsAnswer, Epoch?)
}

/// Which attempt a network action befalls.
enum Aim: Equatable, Sendable {
  /// The one there is, else the next one.
  case next
  /// `#2`: that transport generation.
  case generation(UInt64)
  /// An answer of that host, which it may have given already.
  case host(String)
  /// `(old)`: the link that was open last.
  case lastOpened
  /// `(elder)`: the older one of two links, beside which a replacement opens; else the one there
  /// is.
  case elder
  /// `(local)`, `(echo)`, `(sync)`, `(closed before established)`: what our own end of the attempt
  /// dialled last brings about, just after it.
  case echo
  /// `(old token)`: the one there is, and none that comes later.
  case present
}

/// What befalls an attempt or a link.
enum NetworkAction: Equatable, Sendable {
  // For an attempt on its way.
  /// The transport opens; the session too, where the story says so or says nothing of sessions.
  case open(withSession: Bool)
  /// The transport opens and the session stays without an answer.
  case openBare
  case hang
  case fails(Cause)
  // For a session that was started; the transport opens first if need be.
  case session(SessionAnswer)
  /// An answer that nobody waits for any more, at once.
  case sessionAgain(SessionAnswer)
  // For a link, or an attempt that gets that far.
  case reset(SystemError)
  case finish(CloseCode?)
  case serverClose(CloseCode?)
  // For an open link.
  case goSilent
  case message
  case pong
  case acknowledge
  case writable(Bool)
  case viability(Bool)
  /// The server will go away soon.
  case drainRequested
  case betterPath

  /// Whether it answers a dial.
  var isAnswer: Bool {
    switch self {
    case .open, .openBare, .hang, .fails: true
    case .session, .sessionAgain, .reset, .finish, .serverClose, .goSilent, .message, .pong,
      .acknowledge,
      .writable, .viability, .drainRequested, .betterPath:
      false
    }
  }

  /// Whether it ends a link.
  var isEnd: Bool {
    switch self {
    case .reset, .finish, .serverClose: true
    case .open, .openBare, .hang, .fails, .session, .sessionAgain, .goSilent, .message, .pong,
      .acknowledge,
      .writable, .viability, .drainRequested, .betterPath:
      false
    }
  }
}

/// How the server or the application answers a session.
enum SessionAnswer: String, CaseIterable, Sendable {
  case ready
  case resumed
  /// Unknown to the server; befalls only a session that resumes.
  case resumeRefused
  case refused
  /// Not just now.
  case unavailable
}

/// What changes around the connection, whether there is one or not.
enum EnvironmentAction: Equatable, Sendable {
  case path(Path, isLie: Bool)
  /// The path runs over another interface; the one before was reported at the beginning.
  case pathSwitch(from: String, to: String)
  case serverUp
  case serverDown
  /// Nothing gets through, and the device does not know.
  case networkDown
  /// Which of the hosts, in order of preference, are up.
  case hosts([Host])
  case latency(TimeSpan)
  /// So many percent of what would be answered are not.
  case loss(UInt8)
  /// Everything is well from here on, but for links that have gone silent.
  case heal
  case nothing

  struct Host: Equatable, Sendable {
    var name: String
    var isUp: Bool
  }
}

/// What must be so at that moment.
enum Expectation: Equatable, Sendable {
  case state(String)
  case tier(String)
  case cause(String)
  case reason(String)
  case waitsFor(String)
  /// When the machine wants to be woken, in seconds since the start; nil for never.
  case deadline(ClosedRange<Double>?)
  case dials(ClosedRange<Int>, since: TimeSpan)
  case pings(ClosedRange<Int>, since: TimeSpan)
  case attempt(ClosedRange<Int>)
  case live(Int)
  case epoch(Int)
  case waits([TimeSpan])
  case waitCount(ClosedRange<Int>)
  /// All of them, in seconds.
  case waitRange(ClosedRange<Double>)
  case wire([String])
  case outcome([String], String)
  case ends([String])
  case phases([String])
  case hosts([String])
  case requests(ClosedRange<Int>)
  case sessions([String])
  case ignored(String, ClosedRange<Int>)
}
