import ConnectionFSM
import Synchronization
import Testing
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The paths that a source told.
final class ToldPaths: Sendable {
  private let paths = Mutex<[Path]>([])

  var all: [Path] { paths.withLock { $0 } }
  var last: Path? { all.last }

  func append(_ path: Path) { paths.withLock { $0.append(path) } }
}

@Suite("A source of paths that is told by hand")
struct ManualPathSourceTests {
  @Test("it tells what is known at the start, then each change, and never the same twice in a row")
  func told() {
    let source = ManualPathSource()
    let told = ToldPaths()
    source.update(to: .down)
    source.start { told.append($0) }
    source.update(to: .down)
    source.update(to: .up)
    source.update(to: .unknown)
    source.stop()
    source.update(to: .up)
    #expect(told.all == [.down, .up, .unknown])
  }

  @Test("an unknown path is not told at the start")
  func unknown() {
    let source = ManualPathSource()
    let told = ToldPaths()
    source.start { told.append($0) }
    #expect(told.all == [])
    source.update(to: .up)
    #expect(told.all == [.up])
  }

  @Test("a second handler takes the first one's place, and hears the present path")
  func restarted() {
    let source = ManualPathSource(.up)
    let (first, second) = (ToldPaths(), ToldPaths())
    source.start { first.append($0) }
    source.start { second.append($0) }
    source.update(to: .down)
    #expect(first.all == [.up])
    #expect(second.all == [.up, .down])
  }

  @Test("a handler may stop the source")
  func stoppedInside() {
    let source = ManualPathSource(.up)
    let told = ToldPaths()
    source.start { [weak source] in
      told.append($0)
      source?.stop()
    }
    source.update(to: .down)
    #expect(told.all == [.up])
  }
}

#if os(Linux)
  extension RealSockets {
    @Suite("The system's path monitor")
    struct SystemPathMonitorTests {
      let loop: SocketEventLoop

      init() throws { loop = try SocketEventLoop() }

      /// Netlink sockets of this process.
      private static var routeSockets: Int {
        (0..<1024).count { descriptor in
          var address = sockaddr()
          var length = socklen_t(MemoryLayout<sockaddr>.size)
          return getsockname(Int32(descriptor), &address, &length) == 0
            && Int32(address.sa_family) == AF_NETLINK
        }
      }

      @Test("F08: it reads the level at the start, and tells it on the loop")
      func level() async throws {
        let told = ToldPaths()
        let monitor = SystemPathMonitor(loop: loop)
        try monitor.start { [loop] in if loop.isCurrent { told.append($0) } }
        await loop.until { told.last != nil }
        #expect(told.all.first?.status != .unknown)
        monitor.stop()
        loop.stop()
      }

      @Test("I18: stopped or dropped, it leaves no socket and no handler, 50 times in a row")
      func nothingLeft() async throws {
        let sockets = Self.routeSockets
        for round in 0..<50 {
          weak var held: ToldPaths?
          do {
            let told = ToldPaths()
            held = told
            let monitor = SystemPathMonitor(loop: loop)
            try monitor.start { told.append($0) }
            if round % 2 == 0 { await loop.until { told.last != nil } }
            if round % 3 == 0 { monitor.stop() }
          }
          await loop.run {}
          #expect(held == nil)
        }
        // A look-up of a name elsewhere in the process uses one for a moment.
        await loop.until { Self.routeSockets <= sockets }
        loop.stop()
      }

      @Test("it may be started again, and hears nothing of a loop that has stopped")
      func again() async throws {
        let sockets = Self.routeSockets
        let told = ToldPaths()
        let monitor = SystemPathMonitor(loop: loop)
        for round in 1...3 {
          try monitor.start { told.append($0) }
          await loop.until { told.all.count == round }
          monitor.stop()
        }
        await loop.until { Self.routeSockets == sockets }
        loop.stop()
        try monitor.start { told.append($0) }
        monitor.stop()
        #expect(told.all.count == 3)
        #expect(Self.routeSockets <= sockets)
      }
    }
  }
#endif
