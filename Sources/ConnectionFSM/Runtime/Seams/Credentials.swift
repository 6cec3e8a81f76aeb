/// What proves to a server who is asking: a token whose meaning is between the provider and the
/// server. It never shows in a description, a dump or a trace.
public struct Credentials: Hashable, Sendable {
  /// The token, as it goes to the server.
  public let token: String

  /// Makes credentials.
  public init(_ token: String) { self.token = token }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "credentials (hidden)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Gives the credentials of each attempt (F21). Asked before each dial, so that none goes out with
/// a token that has expired meanwhile; whoever wants to keep a token keeps it in here.
///
/// It is told which credentials the server has refused, if those of the last link were, and nil
/// otherwise. After a refusal it is asked once more; if the server refuses the new ones too, the
/// connection ends.
///
/// What it answers:
/// - credentials: the connection dials with them;
/// - nil: there are none, and only the user can help. The connection ends with
///   `Cause.credentialsRefused`;
/// - an error: not now. Another attempt follows after the backoff; the error itself is the
///   provider's to log, the connection knows `Cause.credentialsUnavailable`.
///
/// It runs in a task that prefers the connection's loop, and has ``Policy/credentialsDeadline``.
/// The task is cancelled when nobody waits for it any more; what it answers then is dropped.
public struct CredentialsProvider: Sendable {
  /// Gives the credentials of one attempt, told of those that were refused.
  public var provide: @Sendable (_ refused: Credentials?) async throws -> Credentials?

  /// Makes a provider.
  public init(
    _ provide: @escaping @Sendable (_ refused: Credentials?) async throws -> Credentials?
  ) {
    self.provide = provide
  }
}
