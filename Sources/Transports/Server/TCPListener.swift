package import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Accepts TCP connections on a loop. For tests and demonstrations: there is no limit on
/// connections.
package final class TCPListener {
  private let loop: SocketEventLoop
  private let accepted: (TCPStream) -> any ByteStreamObserver
  private var registration: Registration?
  private var raw: Int32 = -1

  /// Makes a listener that hears nothing yet; to be called on the loop, like everything of it.
  /// - Parameter accepted: Called with each new connection; gives its observer.
  package init(
    loop: SocketEventLoop, accepted: @escaping (TCPStream) -> any ByteStreamObserver
  ) {
    self.loop = loop
    self.accepted = accepted
  }

  deinit {
    if let registration { loop.close(registration) }
  }

  /// Binds a numeric address and listens.
  /// - Parameters:
  ///   - endpoint: Where; port 0 is not an endpoint, so the port stands apart.
  ///   - port: The port, or 0 for any free one.
  ///   - isDeaf: Bind only: the kernel refuses whoever dials.
  /// - Returns: The port that was bound.
  /// - Throws: ``ListenError``.
  package func start(
    host: String, port: UInt16, isDeaf: Bool = false
  ) throws(ListenError) -> UInt16 {
    guard case .addresses(let addresses) = Resolution(host: host, port: port, numeric: true),
      let address = addresses.first
    else { throw ListenError(host: host, port: port, error: nil) }
    do throws(Errno) {
      let descriptor = try System.streamSocket(family: address.family)
      let raw = descriptor.raw
      try System.reuseAddress(raw)
      try System.bind(raw, to: address)
      if !isDeaf { try System.listen(raw) }
      let bound = SocketAddress(of: raw, by: getsockname)?.port ?? port
      registration = try loop.register(descriptor, for: isDeaf ? [] : .read, self)
      self.raw = raw
      return bound
    } catch {
      throw ListenError(host: host, port: port, error: error)
    }
  }

  /// Hears nothing more; connections that were accepted live on.
  package func stop() {
    guard let registration else { return }
    self.registration = nil
    loop.close(registration)
    loop.arm(self, at: nil)
  }
}

extension TCPListener: DescriptorHandler {
  func descriptorReady(_ registration: Registration, for ready: Interest) {
    guard self.registration == registration else { return }
    // A few a turn: a storm of dials must not starve the connections there are.
    for _ in 0..<16 where self.registration == registration {
      do throws(Errno) {
        let stream = try TCPStream(loop: loop, accepted: try System.accept(raw))
        stream.start(observer: accepted(stream))
      } catch {
        // None is left, or this one is gone again. Otherwise descriptors are short, and who dials
        // would be announced in every turn: look away for a while.
        if error.isShortage { pause() }
        return
      }
    }
  }

  func loopStopped() { registration = nil }

  private func pause() {
    guard let registration else { return }
    try? loop.setInterest([], of: registration)
    loop.arm(self, at: loop.now + .milliseconds(100))
  }
}

extension TCPListener: DeadlineHandler {
  package func deadlineReached() {
    guard let registration else { return }
    try? loop.setInterest(.read, of: registration)
  }
}

/// Why a listener could not be started, and the mend.
package struct ListenError: Error, CustomStringConvertible {
  let host: String
  let port: UInt16
  let error: Errno?

  package var description: String {
    guard let error else { return "“\(host)” is no numeric address; write 127.0.0.1 or ::1" }
    let symbol = SystemError(errno: error.number)
    let mend =
      switch symbol {
      case .addressInUse:
        "; another program listens there: choose another port, or 0 for a free one"
      case .accessDenied: "; ports below 1024 are for the superuser: choose a higher one"
      default: ""
      }
    return "cannot listen on \(host):\(port) (\(symbol), errno \(error.number))\(mend)"
  }
}
