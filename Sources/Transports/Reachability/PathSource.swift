public import ConnectionFSM
import Synchronization

/// Whoever knows what the device's network looks like: ``SystemPathMonitor``, or, for tests and
/// other platforms, ``ManualPathSource``.
///
/// A connection follows one in two lines; one handler may serve any number of connections.
///
/// ```swift
/// let monitor = SystemPathMonitor(loop: loop)
/// try monitor.start { [weak connection] in connection?.pathChanged(to: $0) }
/// ```
///
/// What it says is a hint, and how much a hint counts is the policy's business: see `PathPolicy`.
public protocol PathSource: AnyObject, Sendable {
  /// Starts to tell: the handler hears the path once it is known, then each change, in order and
  /// never the same twice in a row. Until then the path is unknown, of which it hears nothing.
  ///
  /// A source that runs already goes on with the new handler alone.
  /// - Throws: ``PathSourceError``; the source is stopped then.
  func start(_ handler: @escaping @Sendable (Path) -> Void) throws(PathSourceError)

  /// Tells nothing more, and lets go of the handler and of what the system gave (I18). May be
  /// started again, and repeated calls do no harm.
  func stop()
}

/// Why the system does not tell what its network looks like.
public struct PathSourceError: Error, Equatable, CustomStringConvertible {
  /// What the operating system said.
  public let error: SystemError
  /// The number behind ``error``, on this system.
  public let number: Int32

  package init(_ errno: Errno) {
    error = SystemError(errno: errno.number)
    number = errno.number
  }

  public var description: String {
    let mend =
      error == .tooManyOpenFiles
      ? "it needs one descriptor: close some, or raise the limit (ulimit -n)"
      : "this system refuses rtnetlink, as some sandboxes do: go without, or use ManualPathSource"
    return "the network cannot be watched (\(error), errno \(number)); \(mend)"
  }
}

/// Says what it is told: for tests, and for platforms whose network something else watches.
public final class ManualPathSource: PathSource {
  private struct State {
    var path: Path
    var told = Path.unknown
    var handler: (@Sendable (Path) -> Void)?
  }

  private let state: Mutex<State>

  /// Makes a source that is not started yet.
  public init(_ path: Path = .unknown) { state = Mutex(State(path: path)) }

  /// The path, as it was told last.
  public var path: Path { state.withLock { $0.path } }

  /// Starts to tell. The handler is called inside ``update(to:)``, and inside this call if the path
  /// is known.
  public func start(_ handler: @escaping @Sendable (Path) -> Void) {
    state.withLock { state in
      state.handler = handler
      state.told = .unknown
    }
    tell()
  }

  public func stop() { state.withLock { $0.handler = nil } }

  /// The network is like this now. From one thread at a time, or the order is anybody's guess.
  public func update(to path: Path) {
    state.withLock { $0.path = path }
    tell()
  }

  /// Outside of the lock: a handler may stop the source.
  private func tell() {
    let owed = state.withLock { state -> (handler: @Sendable (Path) -> Void, path: Path)? in
      guard let handler = state.handler, state.path != state.told else { return nil }
      state.told = state.path
      return (handler, state.path)
    }
    if let owed { owed.handler(owed.path) }
  }
}
