#if os(Linux)
  import ConnectionFSM
  import Synchronization
  import Testing
  import Transports

  #if canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// The network namespace that `Scripts/netns.sh` has made for this process: nothing but loopback,
  /// and leave to change it.
  enum Namespace {
    static var isEntered: Bool { getenv("CONNECTION_FSM_NETNS") != nil }

    /// Runs commands of ip(8) one after another, in the namespace of the calling thread.
    static func ip(_ commands: [String], at location: SourceLocation = #_sourceLocation) {
      let script = "set -e\n" + commands.map { "ip \($0)\n" }.joined()
      let status = system(script)
      if status != 0 { Issue.record("ip failed: \(script)", sourceLocation: location) }
    }
  }

  /// A machine at the other end of a cable, with an echo server: a thread in a namespace of its
  /// own. This end of the cable is `near0`, and down.
  final class FarMachine: Sendable {
    static let addresses = ["10.0.0.1", "fd00::1"]

    private let loop: SocketEventLoop
    private let server = Confined<EchoServer?>(nil)
    private let port = Mutex<UInt16>(0)

    init() async throws {
      loop = try SocketEventLoop()
      let (loop, server) = (loop, server)
      let thread = await loop.run { Self.separate() }
      Namespace.ip(["link add near0 type veth peer name far0 netns \(thread)"])
      let bound = await loop.run { () -> Result<UInt16, ListenError> in
        Namespace.ip([
          "link set lo up", "link set far0 up", "addr add 10.0.0.1/24 dev far0",
          "-6 addr add fd00::1/64 dev far0 nodad",
        ])
        let echo = EchoServer(loop: loop)
        server.value = echo
        // Of both families.
        do throws(ListenError) { return .success(try echo.start(host: "::")) } catch {
          return .failure(error)
        }
      }
      let number = try bound.get()
      port.withLock { $0 = number }
    }

    /// Gives the calling thread a network namespace of its own.
    /// - Returns: The thread's number.
    private static func separate() -> Int32 {
      // Neither is in the C library's module for Swift.
      typealias Unshare = @convention(c) (Int32) -> Int32
      typealias ThreadNumber = @convention(c) () -> Int32
      guard let unshare = dlsym(nil, "unshare"), let number = dlsym(nil, "gettid") else {
        fatalError("the C library has no unshare or no gettid")
      }
      let newNetwork: Int32 = 0x4000_0000
      if unsafeBitCast(unshare, to: Unshare.self)(newNetwork) != 0 {
        fatalError("unshare failed, errno \(errno)")
      }
      return unsafeBitCast(number, to: ThreadNumber.self)()
    }

    func endpoint(_ address: String) -> Endpoint {
      Endpoint(host: address, port: port.withLock { $0 })
    }

    /// Runs commands of ip(8) on that machine.
    func ip(_ commands: [String]) async { await loop.run { Namespace.ip(commands) } }

    /// Pulls the cable out for good.
    func end() async {
      let server = server
      await loop.run {
        server.value?.kill()
        server.value = nil
      }
      // While the other namespace lasts: after it, the kernel does the same in its own time.
      Namespace.ip(["link del near0"])
      loop.stop()
    }
  }

  /// What this end of the cable is given, and what is taken away again.
  enum NearEnd {
    static let up = ["link set near0 up"] + addresses + routes
    static let addresses = [
      "addr add 10.0.0.2/24 dev near0", "-6 addr add fd00::2/64 dev near0 nodad",
    ]
    static let routes = ["route add default via 10.0.0.1", "-6 route add default via fd00::1"]
    static let down = ["link set near0 down", "addr flush dev near0"]
  }
#endif
