#if canImport(Observation)
  public import Observation

  /// A connection's state for views, which draw anew when it changes.
  ///
  /// ```swift
  /// struct StatusLine: View {
  ///   let status: ConnectionStatus
  ///   var body: some View { Text(status.explanation.map { "\($0)" } ?? "") }
  /// }
  /// ```
  ///
  /// It does not keep the connection alive, nor the connection it.
  @MainActor @Observable
  public final class ConnectionStatus {
    /// The present state, what is waited for, why and until when; nil until the first is heard.
    public private(set) var explanation: Explanation?

    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Follows a connection from now on.
    public init(_ connection: Connection) {
      watching = connection.onStateChange { [weak self] in self?.explanation = $0 }
    }

    deinit { watching?.cancel() }
  }
#endif
