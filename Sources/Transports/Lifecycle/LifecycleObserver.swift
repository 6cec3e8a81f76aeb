// Not yet verified on Apple platforms.

#if canImport(UIKit) && !os(watchOS)
  public import ConnectionFSM
  import Foundation
  import UIKit

  /// Tells a connection when its application goes to the background and comes back, as long as the
  /// observer is held. Not yet verified on Apple platforms.
  ///
  /// ```swift
  /// let observer = LifecycleObserver(of: connection)
  /// ```
  ///
  /// What becomes of the link then is the policy's (`LifecyclePolicy`). How long the process may go
  /// on in the background is for the application to arrange (`beginBackgroundTask`); from the
  /// handler of its expiration call `connection.lifecycleChanged(to: .suspended)`.
  public final class LifecycleObserver {
    private let observations: Observations

    /// Begins to observe. The connection is not retained.
    public init(of connection: Connection) {
      observations = Observations(in: .default)
      observations.add(UIApplication.didEnterBackgroundNotification) { [weak connection] in
        connection?.lifecycleChanged(to: .background)
      }
      observations.add(UIApplication.willEnterForegroundNotification) { [weak connection] in
        connection?.lifecycleChanged(to: .foreground)
      }
    }
  }
#elseif canImport(AppKit)
  import AppKit
  public import ConnectionFSM
  import Foundation

  /// Tells a connection when the computer goes to sleep and wakes, as long as the observer is held.
  /// An application that is merely hidden runs on. Not yet verified on Apple platforms.
  ///
  /// ```swift
  /// let observer = LifecycleObserver(of: connection)
  /// ```
  ///
  /// What becomes of the link then is the policy's (`LifecyclePolicy`).
  public final class LifecycleObserver {
    private let observations: Observations

    /// Begins to observe. The connection is not retained.
    public init(of connection: Connection) {
      observations = Observations(in: NSWorkspace.shared.notificationCenter)
      observations.add(NSWorkspace.willSleepNotification) { [weak connection] in
        connection?.lifecycleChanged(to: .suspended)
      }
      observations.add(NSWorkspace.didWakeNotification) { [weak connection] in
        connection?.lifecycleChanged(to: .foreground)
      }
    }
  }
#endif

#if canImport(UIKit) && !os(watchOS) || canImport(AppKit)
  /// Observers of notifications that leave their centre with it.
  private final class Observations {
    private let center: NotificationCenter
    private var tokens: [any NSObjectProtocol] = []

    init(in center: NotificationCenter) { self.center = center }

    deinit { for token in tokens { center.removeObserver(token) } }

    func add(_ name: Notification.Name, _ action: @escaping @Sendable () -> Void) {
      tokens.append(center.addObserver(forName: name, object: nil, queue: nil) { _ in action() })
    }
  }
#endif
