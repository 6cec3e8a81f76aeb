package import ConnectionFSM

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Accepts connections on a loop, of TCP or at a path of the file system. For tests and
/// demonstrations: there is no limit on connections.
package final class TCPListener {
  private let loop: SocketEventLoop
  private let accepted: (TCPStream) -> any ByteStreamObserver
  private var registration: Registration?
  private var raw: Int32 = -1
  private var isOfInternet = true
  /// The file to remove at the end.
  private var file: SocketFile?

  /// Makes a listener that hears nothing yet; to be called on the loop, like everything of it.
  /// - Parameter accepted: Called with each new connection; gives its observer.
  package init(
    loop: SocketEventLoop, accepted: @escaping (TCPStream) -> any ByteStreamObserver
  ) {
    self.loop = loop
    self.accepted = accepted
  }

  deinit {
    file?.remove()
    if let registration { loop.close(registration) }
  }

  /// Binds a numeric address and listens.
  /// - Parameters:
  ///   - host: Where; port 0 is not an endpoint, so the port stands apart.
  ///   - port: The port, or 0 for any free one.
  ///   - isDeaf: Bind only: the kernel refuses whoever dials.
  /// - Returns: The port that was bound.
  /// - Throws: ``ListenError``.
  package func start(
    host: String, port: UInt16, isDeaf: Bool = false
  ) throws(ListenError) -> UInt16 {
    guard case .addresses(let addresses) = Resolution(host: host, port: port, numeric: true),
      let address = addresses.first
    else { throw ListenError(host, .notNumeric) }
    do throws(Errno) {
      return try bind(address, isDeaf: isDeaf)?.port ?? port
    } catch {
      throw ListenError("\(host):\(port)", .system(error))
    }
  }

  /// Makes a socket at an absolute path and listens; who may dial is up to the process's umask.
  ///
  /// A socket that is there already and that nobody listens on is replaced: it is what a program
  /// leaves behind that was killed. Of two programs that start at the same moment either may win.
  /// - Throws: ``ListenError``; also when the path is served, or is something else than a socket.
  package func start(path: String) throws(ListenError) {
    guard let address = SocketAddress(path: path) else { throw ListenError(path, .pathTooLong) }
    switch SocketFile.entry(at: path) {
    case .nothing: break
    case .somethingElse: throw ListenError(path, .isNoSocket)
    case .socket(let former):
      guard !former.isServed else { throw ListenError(path, .system(Errno(EADDRINUSE))) }
      former.remove()
    }
    do throws(Errno) {
      _ = try bind(address, isDeaf: false)
    } catch {
      throw ListenError(path, .system(error))
    }
  }

  /// Where it listens then.
  private func bind(_ address: SocketAddress, isDeaf: Bool) throws(Errno) -> SocketAddress? {
    let descriptor = try System.streamSocket(family: address.family)
    let raw = descriptor.raw
    if address.isOfInternet { try System.reuseAddress(raw) }
    try System.bind(raw, to: address)
    if let path = address.path, case .socket(let file) = SocketFile.entry(at: path) {
      self.file = file
    }
    if !isDeaf { try System.listen(raw) }
    let bound = SocketAddress(of: raw, by: getsockname)
    registration = try loop.register(descriptor, for: isDeaf ? [] : .read, self)
    self.raw = raw
    isOfInternet = address.isOfInternet
    return bound
  }

  /// Hears nothing more; connections that were accepted live on.
  package func stop() {
    guard let registration else { return }
    self.registration = nil
    removeFile()
    loop.close(registration)
    loop.arm(self, at: nil)
  }

  // Before the socket is closed: afterwards the file could be another program's new one.
  private func removeFile() {
    file?.remove()
    file = nil
  }
}

extension TCPListener: DescriptorHandler {
  func descriptorReady(_ registration: Registration, for ready: Interest) {
    guard self.registration == registration else { return }
    // A few a turn: a storm of dials must not starve the connections there are.
    for _ in 0..<16 where self.registration == registration {
      do throws(Errno) {
        let stream = try TCPStream(
          loop: loop, accepted: try System.accept(raw), isOfInternet: isOfInternet)
        stream.start(observer: accepted(stream))
      } catch {
        // None is left, or this one is gone again. Otherwise descriptors are short, and who dials
        // would be announced in every turn: look away for a while.
        if error.isShortage { pause() }
        return
      }
    }
  }

  func loopStopped() {
    registration = nil
    removeFile()
  }

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
  package enum Problem: Equatable, Sendable {
    case notNumeric
    case pathTooLong
    case isNoSocket
    case system(Errno)
  }

  private let place: String
  package let problem: Problem

  init(_ place: String, _ problem: Problem) {
    self.place = place
    self.problem = problem
  }

  package var description: String {
    switch problem {
    case .notNumeric: "“\(place)” is no numeric address; write 127.0.0.1 or ::1"
    case .pathTooLong:
      "the path “\(place)” has \(place.utf8.count) bytes, and a socket's has from 1 to "
        + "\(SocketAddress.longestPath), none of them NUL: choose a shorter one"
    case .isNoSocket: "at \(place) is a file that is no socket: choose another path"
    case .system(let error):
      "cannot listen on \(place) (\(SystemError(errno: error.number)), errno \(error.number))"
        + mend(SystemError(errno: error.number))
    }
  }

  private func mend(_ symbol: SystemError) -> String {
    switch symbol {
    case .addressInUse where place.hasPrefix("/"):
      "; another program listens there: stop it, or choose another path"
    case .addressInUse: "; another program listens there: choose another port, or 0 for a free one"
    case .accessDenied where place.hasPrefix("/"): "; choose a directory that you may write to"
    case .accessDenied: "; ports below 1024 are for the superuser: choose a higher one"
    default: ""
    }
  }
}
