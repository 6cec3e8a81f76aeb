// A block of the article “From the five managers to this”; `BlocksTests` checks that the page shows
// it.

#if canImport(ObjectiveC)
  import ConnectionFSM
  import Foundation
  import Transports

  /// What Objective-C sees: an object with a delegate, and a notification.
  @objc protocol ConnectionManagerDelegate: NSObjectProtocol {
    @objc optional func connectionManagerDidReceive(_ text: String)
    @objc optional func connectionManagerDidChange(to phase: String)
  }

  @MainActor
  @objc final class ConnectionManager: NSObject {
    @objc static let phaseDidChange = Notification.Name("ConnectionManagerPhaseDidChange")
    @objc weak var delegate: (any ConnectionManagerDelegate)?
    private let connection: Connection

    @objc init(address: String) throws {
      connection = try Connection(.webSocket(address), policy: Policy())
      super.init()
      connection.onMessage { [weak self] message in
        self?.delegate?.connectionManagerDidReceive?(message.text)
      }
      connection.onStateChange { [weak self] state in
        self?.delegate?.connectionManagerDidChange?(to: "\(state.phase)")
        NotificationCenter.default.post(name: ConnectionManager.phaseDidChange, object: self)
      }
    }

    @objc func connect() { connection.connect() }

    /// The completion is told how it ended: `written`, `expired`, `inDoubt`, or why it was refused.
    @objc func send(
      _ text: String, completion: (@MainActor @Sendable (String) -> Void)? = nil
    ) {
      connection.post(Message(text)) { result in
        let word: String
        switch result {
        case .success(let outcome): word = "\(outcome)"
        case .failure(let rejection): word = "rejected: \(rejection)"
        }
        Task { @MainActor in completion?(word) }
      }
    }

    @objc func close(_ completion: (@MainActor @Sendable () -> Void)? = nil) {
      Task {
        await connection.close()
        completion?()
      }
    }
  }
#endif
