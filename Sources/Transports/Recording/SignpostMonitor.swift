#if canImport(os)
  public import ConnectionFSM
  public import os

  /// Shows in Instruments what a connection does: attempts and open links as intervals, waits,
  /// rests and messages that did not get through as events (F56). One for each connection.
  ///
  /// Not yet verified on Apple platforms.
  public final class SignpostMonitor: ConnectionMonitor, @unchecked Sendable {
    // Unchecked: the intervals are looked at on the connection's loop alone.
    private let signposter: OSSignposter
    private var attempts: [Epoch: OSSignpostIntervalState] = [:]
    private var links: [Epoch: OSSignpostIntervalState] = [:]

    /// Makes a monitor.
    /// - Parameter signposter: Where the signposts go; its subsystem and category name the
    ///   connection.
    public init(_ signposter: OSSignposter) { self.signposter = signposter }

    public func connection(made record: TraceRecord, leaving machine: Machine) {
      // Off, as it is nearly always, it costs this question.
      guard signposter.isEnabled else { return }
      for moment in record.moments { show(moment) }
    }

    private func show(_ moment: Moment) {
      // Nothing that the notation says is private: ids, causes and times.
      switch moment {
      case .attemptStarted(let epoch, _, _):
        attempts[epoch] = signposter.beginInterval(
          "attempt", id: signposter.makeSignpostID(), "\(moment.description, privacy: .public)")
      case .attemptFailed(let epoch, _):
        guard let state = attempts.removeValue(forKey: epoch) else { return }
        signposter.endInterval("attempt", state, "\(moment.description, privacy: .public)")
      case .opened(let epoch):
        if let state = attempts.removeValue(forKey: epoch) {
          signposter.endInterval("attempt", state, "\(moment.description, privacy: .public)")
        }
        links[epoch] = signposter.beginInterval(
          "link", id: signposter.makeSignpostID(), "\(moment.description, privacy: .public)")
      case .linkEnded(let epoch, _):
        guard let state = links.removeValue(forKey: epoch) else { return }
        signposter.endInterval("link", state, "\(moment.description, privacy: .public)")
      case .waiting, .closed, .messageRejected:
        signposter.emitEvent("connection", "\(moment.description, privacy: .public)")
      case .messagesEnded, .ignored: break
      }
    }
  }
#endif
