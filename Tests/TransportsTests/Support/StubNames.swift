import ConnectionFSM
import Synchronization
import Transports

/// A resolver for tests: answers from a list, and each family only while its gate is open.
final class StubNames: Sendable {
  private let shut: Mutex<Set<AddressFamily>>
  private let answers: [String: Resolution]
  /// The names that were asked for, once for each family.
  let asked = Mutex<[String]>([])

  init(_ answers: [String: Resolution], isOpen: Bool = true) {
    self.answers = answers
    shut = Mutex(isOpen ? [] : Set(AddressFamily.allCases))
  }

  func open() { shut.withLock { $0 = [] } }

  /// Questions of this family wait from now on.
  func shut(_ family: AddressFamily) { _ = shut.withLock { $0.insert(family) } }

  func resolver(threads: Int = 2) -> Resolver {
    Resolver(threads: threads) { host, _, family in
      self.asked.withLock { $0.append(host) }
      while self.shut.withLock({ $0.contains(family) }) { SystemThread.yield() }
      return self.answers[host]?.of(family) ?? .failed(.resolution(.unknownName))
    }
  }
}

extension Resolution {
  /// The numeric addresses of these endpoints, in order.
  static func of(_ endpoints: Endpoint...) -> Resolution {
    .addresses(
      endpoints.flatMap { endpoint -> [SocketAddress] in
        let resolution = Resolution(host: endpoint.host, port: endpoint.port, numeric: true)
        guard case .addresses(let addresses) = resolution else { return [] }
        return addresses
      })
  }
}
