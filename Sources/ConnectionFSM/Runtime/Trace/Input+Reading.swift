// The inverse of the notation of inputs: what a trace says of an input, read back.

extension Input {
  /// Reads an input as its `description` writes it.
  ///
  /// Every input is read back as it was, but for a count of no endpoints, which means one and is
  /// written as one.
  /// - Throws: ``NotationError``, which names the part at fault.
  public init(notation text: String) throws(NotationError) {
    var reader = NotationReader(text)
    self = try reader.input()
    try reader.finish()
  }
}

extension Cause {
  /// Reads a cause as its `description` writes it.
  /// - Throws: ``NotationError``, which names the part at fault.
  init(notation text: String) throws(NotationError) {
    var reader = NotationReader(text)
    self = try reader.cause()
    try reader.finish()
  }
}

extension Path {
  /// Reads a path as its `description` writes it.
  /// - Throws: ``NotationError``, which names the part at fault.
  init(notation text: String) throws(NotationError) {
    var reader = NotationReader(text)
    self = try reader.path()
    try reader.finish()
  }
}

/// Names, made when a trace is first read.
private enum Names {
  static let lifecycles = NamedCases<Lifecycle>()
  static let statuses = NamedCases<PathStatus>()
  static let answers = NamedCases<CredentialsAnswer>()
  static let refusals = NamedCases<Refusal>()
  static let kinds = NamedCases<Cause.Kind>()
  static let timeouts = NamedCases<Timeout>()
  static let system = NamedCases<SystemError>()
  static let resolution = NamedCases<ResolutionError>()
  static let tls = NamedCases<TLSFailure>()
  static let loading = NamedCases<LoadingError>()
}

extension NotationReader {
  fileprivate mutating func input() throws(NotationError) -> Input {
    if take("#") { return try answer(of: Epoch(number("the epoch"))) }
    let word = word()
    switch word {
    case "connect":
      try expect(" @")
      let endpoint = EndpointID(try number("the endpoint"))
      return .connect(endpoint, count: take(" of ") ? try number("the count", in: 2...255) : 1)
    case "close": return .close
    case "drain": return .drain
    case "offer":
      try expect(" ")
      let lane = LaneID(try number("the lane"))
      try expect(" ")
      return .offer(lane, byteCount: try bytes())
    case "cancel":
      try expect(" ")
      return .cancel(try message())
    case "resized":
      try expect(" ")
      let id = try message()
      try expect(" ")
      return .resized(id, byteCount: try bytes())
    case "demand": return .demandChanged(try either(" on", " off"))
    case "path":
      try expect(" ")
      return .pathChanged(try path())
    case "policy": return .policyReplaced
    case "deadline": return .deadlineReached
    default:
      if let lifecycle = Names.lifecycles[word] { return .lifecycleChanged(lifecycle) }
      throw failure("no input begins with “\(word)”")
    }
  }

  /// What an attempt hears: of the transport, the session, the credentials provider.
  private mutating func answer(of epoch: Epoch) throws(NotationError) -> Input {
    try expect(" ")
    if take("credentials ") {
      return .credentials(epoch, try value("answer", of: Names.answers))
    }
    if take("session ") { return .session(epoch, try sessionEvent()) }
    return .transport(epoch, try transportEvent())
  }

  private mutating func transportEvent() throws(NotationError) -> TransportEvent {
    let word = word()
    switch word {
    case "opened": return .opened
    case "failed":
      try expect(" ")
      return .failed(try cause())
    case "closed": return .closed(take(" ") ? CloseCode(try number("the close code")) : nil)
    case "received":
      try expect(" ")
      return .received(byteCount: try bytes())
    case "pong":
      try expect(" ")
      return .pong(try number("the ping"))
    case "written":
      try expect(" ")
      return .written(through: try message())
    case "acknowledged":
      try expect(" ")
      return .acknowledged(through: try message())
    case "writable": return .writabilityChanged(true)
    case "blocked": return .writabilityChanged(false)
    case "viable": return .viabilityChanged(true)
    case "not":
      try expect(" viable")
      return .viabilityChanged(false)
    case "drain":
      try expect(" requested")
      return .drainRequested
    case "better":
      try expect(" path")
      return .betterPathAvailable
    default: throw failure("no event of a transport begins with “\(word)”")
    }
  }

  private mutating func sessionEvent() throws(NotationError) -> SessionEvent {
    let word = word()
    switch word {
    case "ready": return .ready
    case "resumed": return .resumed
    case "resume":
      try expect(" refused")
      return .resumeRefused
    case "refused":
      try expect(" ")
      return .refused(try value("refusal", of: Names.refusals))
    default: throw failure("no event of a session begins with “\(word)”")
    }
  }

  mutating func cause() throws(NotationError) -> Cause {
    switch try value("cause", of: Names.kinds) {
    case .closedByUser: return .closedByUser
    case .replaced: return .replaced
    case .suspended: return .suspended
    case .pathChanged: return .pathChanged
    case .localAddressLost: return .localAddressLost
    case .pathLost: return .pathLost
    case .unsupportedEndpoint: return .unsupportedEndpoint
    case .protocolError: return .protocolError
    case .truncated: return .truncated
    case .slowConsumer: return .slowConsumer
    case .credentialsRefused: return .credentialsRefused
    case .credentialsUnavailable: return .credentialsUnavailable
    case .closedByPeer:
      guard take("(") else { return .closedByPeer(nil) }
      let code = CloseCode(try number("the close code"))
      try expect(")")
      return .closedByPeer(code)
    case .timedOut: return .timedOut(try detail("timeout", of: Names.timeouts))
    case .system: return .system(try detail("system error", of: Names.system))
    case .resolution: return .resolution(try detail("resolver error", of: Names.resolution))
    case .tls: return .tls(try detail("TLS failure", of: Names.tls))
    case .loading: return .loading(try detail("loading error", of: Names.loading))
    case .sessionRefused: return .sessionRefused(try detail("refusal", of: Names.refusals))
    case .http: return try upgradeRefusal()
    }
  }

  /// `http(503)`, `http(503, retry after 30 s)`, of which the name is read.
  private mutating func upgradeRefusal() throws(NotationError) -> Cause {
    try expect("(")
    let status: UInt16 = try number("the status")
    guard take(", retry after ") else {
      try expect(")")
      return .http(status: status)
    }
    let seconds: UInt16 = try number("the seconds")
    try expect(" s)")
    return .http(status: status, retryAfter: seconds)
  }

  private mutating func detail<Value>(
    _ name: String, of names: NamedCases<Value>
  ) throws(NotationError) -> Value {
    try expect("(")
    let detail = try value(name, of: names)
    try expect(")")
    return detail
  }

  mutating func path() throws(NotationError) -> Path {
    var path = Path(try value("path status", of: Names.statuses))
    if take(" if") { path.interface = try number("the interface", in: 1 ... .max) }
    path.isExpensive = take(" expensive")
    path.isConstrained = take(" constrained")
    return path
  }

  private mutating func message() throws(NotationError) -> MessageID {
    let lane: UInt8 = try number("the lane", in: 0...3)
    try expect(":")
    let sequence: UInt64 = try number("the message", in: 0...1 << 62 - 1)
    return MessageID(lane: LaneID(lane), sequence: sequence)
  }

  private mutating func bytes() throws(NotationError) -> UInt32 {
    let count: UInt32 = try number("the byte count")
    try expect("B")
    return count
  }

  private mutating func either(_ yes: String, _ no: String) throws(NotationError) -> Bool {
    if take(yes) { return true }
    try expect(no)
    return false
  }
}
