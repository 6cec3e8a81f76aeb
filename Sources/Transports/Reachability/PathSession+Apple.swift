#if canImport(Network)
  import ConnectionFSM
  import Dispatch
  import Network

  /// A monitor from start to stop. `Sendable` only in that its reference may be captured by work
  /// for the loop; nothing of it is touched anywhere else. Not yet verified on Apple platforms.
  final class PathSession: @unchecked Sendable {
    private let loop: SocketEventLoop
    private var handler: (@Sendable (Path) -> Void)?
    private var monitor: NWPathMonitor?
    private var told = Path.unknown

    /// Never throws here; where the system is asked by a socket, that may fail.
    init(
      _ loop: SocketEventLoop, _ handler: @escaping @Sendable (Path) -> Void
    ) throws(PathSourceError) {
      self.loop = loop
      self.handler = handler
    }

    func begin() {
      // Stopped before it began.
      guard handler != nil else { return }
      let monitor = NWPathMonitor()
      self.monitor = monitor
      monitor.pathUpdateHandler = { [weak self, loop] path in
        let path = Path(path)
        loop.execute { [weak self] in self?.tell(path) }
      }
      monitor.start(queue: DispatchQueue(label: "path-monitor"))
    }

    func end() {
      handler = nil
      monitor?.cancel()
      monitor = nil
    }

    private func tell(_ path: Path) {
      guard path != told else { return }
      told = path
      handler?(path)
    }
  }

  extension Path {
    fileprivate init(_ path: NWPath) {
      let status: PathStatus =
        switch path.status {
        case .satisfied: .up
        case .unsatisfied: .down
        // It comes up when somebody dials.
        case .requiresConnection: .unknown
        @unknown default: .unknown
        }
      // In order of preference; 0 stands for an interface that is not known.
      let index = path.availableInterfaces.first?.index ?? 0
      self.init(
        status, interface: UInt16(truncatingIfNeeded: index), isExpensive: path.isExpensive,
        isConstrained: path.isConstrained)
    }
  }
#endif
