public import ConnectionFSM
import Synchronization

/// Watches the system's network: by rtnetlink on Linux, by `NWPathMonitor` on Apple systems, which
/// is not yet verified there.
///
/// The path is up if a default route (IPv4 or IPv6) leads over an interface that is up, running,
/// and has an address of that family which is good beyond its link; on Apple systems, if the system
/// says so. Loopback alone is down: nothing beyond the machine can be reached. A connection to the
/// machine itself should follow no monitor. A path that comes up on demand is unknown. The number
/// of the path's interface changes with the interface, on Linux also with its gateway.
///
/// The handler is called on the loop. A monitor that nobody holds any more stops.
public final class SystemPathMonitor: PathSource {
  private let loop: SocketEventLoop
  private let session = Mutex<PathSession?>(nil)

  /// Makes a monitor that is not started yet.
  /// - Parameter loop: Where it listens and calls its handler.
  public init(loop: SocketEventLoop) { self.loop = loop }

  deinit { stop() }

  /// Starts to tell; from any thread. A loop that has stopped tells nothing.
  public func start(_ handler: @escaping @Sendable (Path) -> Void) throws(PathSourceError) {
    stop()
    let beginning = try PathSession(loop, handler)
    session.withLock { $0 = beginning }
    loop.execute { beginning.begin() }
  }

  /// Tells nothing more; from any thread. Elsewhere than on the loop, a call of the handler that is
  /// under way may still come.
  public func stop() {
    guard let ending = session.withLock({ $0.take() }) else { return }
    if loop.isCurrent { ending.end() } else { loop.execute { ending.end() } }
  }
}
