/// Decides which of a host's addresses is tried next: one after another, in the resolver's order,
/// which is RFC 6724's.
///
/// A value without a socket, of the shape that everything without input and output has here: what
/// happened goes in, what to do comes out. Attempts are numbered, so that a race between address
/// families (RFC 8305) can take this one's place.
package struct SequentialDialing<Address: Equatable & Sendable>: Sendable {
  package enum Input: Sendable {
    /// The name was resolved.
    case resolved([Address])
    /// The attempt of this number failed.
    case failed(attempt: Int, Cause)
  }

  package enum Effect: Equatable, Sendable {
    /// Start an attempt.
    case connect(attempt: Int, Address)
    /// Give up.
    case fail(Cause)
    /// Go on waiting: the input was of an attempt that is over.
    case none
  }

  private var addresses: [Address] = []
  private var attempt = -1
  private var verdict: Cause?

  package init() {}

  package mutating func handle(_ input: Input) -> Effect {
    switch input {
    case .resolved(let addresses):
      self.addresses = addresses
    case .failed(let number, let cause):
      guard number == attempt else { return .none }
      weigh(cause)
    }
    attempt += 1
    guard attempt < addresses.count else {
      return .fail(verdict ?? .resolution(.unknownName))
    }
    return .connect(attempt: attempt, addresses[attempt])
  }

  /// Of several causes the most hopeful is reported, the earliest among equals: terminal only if
  /// all are, the network's fault only if no address failed in another passing way.
  private mutating func weigh(_ cause: Cause) {
    guard let verdict else {
      self.verdict = cause
      return
    }
    if rank(cause) < rank(verdict) { self.verdict = cause }
  }

  private func rank(_ cause: Cause) -> Int {
    switch cause.failureClass {
    case .transient: 0
    case .network: 1
    case .terminal: 2
    }
  }
}
