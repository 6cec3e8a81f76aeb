package import ConnectionFSM

/// Asks a SOCKS proxy for a tunnel (RFC 1928), with user and password if it wants them (RFC 1929).
/// A host name is passed on as it is: the proxy looks it up.
package struct SOCKS5Handshake: ProxyHandshake {
  private enum Stage {
    case method, authentication, reply
  }

  private let target: Endpoint
  private let credentials: ProxyCredentials?
  private var stage = Stage.method
  /// The answer that is under way; at most 262 bytes.
  private var answer: [UInt8] = []
  package private(set) var offset = 0

  /// Nil if a proxy cannot be asked for the target.
  package init?(target: Endpoint, credentials: ProxyCredentials?) {
    guard target.isFitForProxy else { return nil }
    self.target = target
    self.credentials = credentials
  }

  package mutating func start(into output: inout [UInt8]) {
    output += credentials == nil ? [5, 1, 0] : [5, 2, 0, 2]
  }

  package mutating func receive(_ bytes: RawSpan, into output: inout [UInt8]) -> ProxyProgress {
    for place in 0..<bytes.byteCount {
      answer.append(bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self))
      offset += 1
      if answer.count == 1, let wrong = checkVersion() { return wrong }
      guard answer.count == wanted else { continue }
      switch take(into: &output) {
      case .goesOn: answer.removeAll(keepingCapacity: true)
      case .isDone: return .isDone(taken: place + 1)
      case .failed(let cause, let problem): return .failed(cause, problem)
      }
    }
    return .goesOn
  }

  /// The first byte of an answer is the version, of SOCKS or of its authentication.
  private func checkVersion() -> ProxyProgress? {
    guard answer[0] != (stage == .authentication ? 1 : 5) else { return nil }
    return .failed(.protocolError, .notSOCKS5(offset: offset - 1, byte: answer[0]))
  }

  /// How long the answer is, as far as that is known.
  private var wanted: Int {
    switch stage {
    case .method, .authentication: return 2
    case .reply:
      // Version, reply, 0, type of address; a name says its length first; two bytes of port.
      guard answer.count >= 5 else { return 5 }
      return switch answer[3] {
      case 3: 5 + Int(answer[4]) + 2
      case 4: 4 + 16 + 2
      default: 4 + 4 + 2
      }
    }
  }

  private mutating func take(into output: inout [UInt8]) -> ProxyProgress {
    switch stage {
    case .method:
      switch answer[1] {
      case 0: ask(into: &output)
      case 2:
        guard let credentials else { return .failed(.credentialsRefused, .noMethod) }
        let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
        output += [1, UInt8(user.count)] + user + [UInt8(password.count)] + password
        stage = .authentication
      default: return .failed(.credentialsRefused, .noMethod)
      }
    case .authentication:
      guard answer[1] == 0 else { return .failed(.credentialsRefused, .credentialsRefused) }
      ask(into: &output)
    case .reply:
      // A type of address that is none leaves the answer's end unknown.
      guard [1, 3, 4].contains(answer[3]) else {
        return .failed(
          .protocolError, .notSOCKS5(offset: offset - answer.count + 3, byte: answer[3]))
      }
      guard answer[1] == 0 else { return .failed(Self.cause(of: answer[1]), .reply(answer[1])) }
      return .isDone(taken: 0)
    }
    return .goesOn
  }

  private mutating func ask(into output: inout [UInt8]) {
    output += [5, 1, 0]
    if let address = NumericAddress(target.host) {
      output += [address.isVersion6 ? 4 : 1] + address.bytes
    } else {
      let name = Array(target.host.utf8)
      output += [3, UInt8(name.count)] + name
    }
    output += [UInt8(target.port >> 8), UInt8(target.port & 255)]
    stage = .reply
  }

  /// What the proxy saw, told as if it had been seen from here, but for one thing: a network that
  /// is unreachable from there is no reason to wait for ours.
  private static func cause(of reply: UInt8) -> Cause {
    switch reply {
    case 1: .system(.other)
    case 2: .system(.accessDenied)
    case 3, 4, 6: .system(.hostUnreachable)
    case 5: .system(.connectionRefused)
    case 8: .unsupportedEndpoint
    // CONNECT is what every proxy does; and a code that no document knows.
    default: .protocolError
    }
  }
}
