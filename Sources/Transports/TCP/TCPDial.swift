import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What a ``TCPStream`` is until it is open: look-ups, and sockets that race.
final class TCPDial {
  typealias Race = DialRace<SocketAddress, TCPStream.Socket>
  typealias Outcome = Race.Outcome

  /// What all dials of a dialer have in common.
  struct Plan: Sendable {
    let resolver: Resolver
    let timing: DialTiming
    let options: TCPOptions
  }

  private let plan: Plan
  private let loop: SocketEventLoop
  private weak var stream: TCPStream?
  private var race: Race?
  private var lookups: [Lookup] = []
  private var endpoint: Endpoint?
  /// More than a cause says, and of which cause.
  private var problem: (error: DialError, cause: Cause)?

  init(_ plan: Plan, on loop: SocketEventLoop, for stream: TCPStream) {
    self.plan = plan
    self.loop = loop
    self.stream = stream
  }

  /// Starts; may answer at once.
  func begin(_ endpoint: Endpoint) {
    self.endpoint = endpoint
    guard !endpoint.host.isEmpty, !endpoint.host.utf8.contains(0) else {
      return giveUp(.unsupportedEndpoint)
    }
    switch endpoint.scheme {
    case "unix":
      guard let address = SocketAddress(path: endpoint.host) else {
        note(.pathTooLong(limit: SocketAddress.longestPath), .unsupportedEndpoint)
        return giveUp(.unsupportedEndpoint)
      }
      makeRace()
      run([address])
    case "tcp" where endpoint.port > 0:
      makeRace()
      if case .addresses(let addresses) = Resolution(
        host: endpoint.host, port: endpoint.port, numeric: true)
      {
        run(addresses)
      } else {
        lookUp(endpoint)
      }
    default: giveUp(.unsupportedEndpoint)
    }
  }

  func resolved(_ family: AddressFamily, _ resolution: Resolution) {
    switch resolution {
    case .addresses(let addresses): race?.resolved(family, addresses)
    case .failed(let cause): race?.resolutionFailed(family, cause)
    }
  }

  /// The sockets that are on their way, oldest first.
  var sockets: [TCPStream.Socket] { race?.sockets ?? [] }

  /// One of them is ready, which says how its attempt went.
  func ready(_ registration: Registration) {
    guard let socket = sockets.first(where: { $0.registration == registration }) else { return }
    if let error = System.connectError(socket.descriptor) {
      loop.close(registration)
      race?.failed(cause(of: error)) { $0.registration == registration }
    } else {
      race?.connected { $0.registration == registration }
    }
  }

  /// What the cause of the whole dial does not say.
  func problem(behind cause: Cause) -> DialError? {
    problem?.cause == cause ? problem?.error : nil
  }

  /// Lets go of everything and answers nothing.
  func cancel() {
    for lookup in lookups { lookup.cancel() }
    lookups = []
    race?.cancel()
    race = nil
  }

  /// The same soon, for a stream that is dropped on a thread that need not be the loop's.
  func cancelFromAnywhere() {
    for lookup in lookups { lookup.cancel() }
    let confined = Leftover(dial: self)
    loop.execute { confined.dial.cancel() }
  }
}

/// Unchecked: touched on the loop alone, by nobody else any more.
private struct Leftover: @unchecked Sendable {
  let dial: TCPDial
}

// MARK: Attempts

extension TCPDial {
  private func makeRace() {
    let loop = loop
    race = Race(plan.timing, on: loop) { [weak self] in
      self?.connect(to: $0) ?? .failed(.system(.notConnected))
    } abandon: {
      loop.close($0.registration)
    } over: { [weak stream] in
      stream?.dialled($0)
    }
  }

  /// Without a look-up; a path counts as version 4.
  private func run(_ addresses: [SocketAddress]) {
    race?.resolved(.version6, addresses.filter { $0.family == AF_INET6 })
    race?.resolved(.version4, addresses.filter { $0.family != AF_INET6 })
  }

  private func lookUp(_ endpoint: Endpoint) {
    guard let stream else { return }
    let confined = WeakStream(stream)
    let loop = loop
    for family in AddressFamily.allCases {
      lookups.append(
        plan.resolver.lookUp(endpoint.host, port: endpoint.port, family: family) { resolution in
          loop.execute { confined.stream?.resolved(family, resolution) }
        })
    }
  }

  /// Starts an attempt; its end is heard as readiness to write.
  private func connect(to address: SocketAddress) -> Outcome {
    guard let stream else { return .failed(.system(.notConnected)) }
    do throws(Errno) {
      let descriptor = try System.streamSocket(family: address.family)
      let raw = descriptor.raw
      if address.isOfInternet {
        try System.disableDelay(raw)
        try System.apply(plan.options, to: raw)
        if let name = plan.options.localAddress {
          try System.bind(raw, to: try SocketAddress.local(name, for: address))
        }
      }
      try System.connect(raw, to: address)
      let registration = try loop.register(descriptor, for: .write, stream)
      return .connected(
        TCPStream.Socket(registration: registration, descriptor: raw, interest: .write))
    } catch {
      return .failed(cause(of: error))
    }
  }

  private func cause(of error: Errno) -> Cause {
    switch error.number {
    case EADDRNOTAVAIL:
      guard let name = plan.options.localAddress else { break }
      return note(.noLocalAddress(name), .localAddressLost)
    case EAGAIN where endpoint?.scheme == "unix":
      // A path whose queue is full: Linux tells nobody when there is room, other systems refuse.
      return .system(.connectionRefused)
    case ENOENT where endpoint?.scheme == "unix":
      // Nobody has made the socket yet: what a port without a listener says.
      return note(.nothingAtPath, .system(.connectionRefused))
    default: break
    }
    return error.cause
  }

  @discardableResult
  private func note(_ problem: DialError.Problem, _ cause: Cause) -> Cause {
    if let endpoint { self.problem = (DialError(endpoint: endpoint, problem: problem), cause) }
    return cause
  }

  private func giveUp(_ cause: Cause) { stream?.dialled(.failed(cause)) }
}
