import ConnectionFSM
import Testing
import Transports

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension RealSockets {
  @Suite("Signals that are heard on a loop")
  struct SignalSourceTests {
    @Test("F53: a signal that would end the process is told on the loop, to all who hear it")
    func heard() async throws {
      let loop = try SocketEventLoop()
      let tally = Tally()
      // Nobody else in this process means anything by it.
      let number = SIGUSR2
      do {
        let one = SignalSource([number], on: loop) {
          tally.add(loop.isCurrent ? "one \($0 == number)" : "elsewhere")
        }
        let other = SignalSource([number, SIGURG], on: loop) { _ in tally.add("other") }
        kill(getpid(), number)
        await loop.until { tally.count(of: "one true") == 1 && tally.count(of: "other") == 1 }
        withExtendedLifetime((one, other)) {}
      }
      loop.stop()
    }

    @Test("F58: while one of two sources is left, the signal is still heard and harms nobody")
    func lastOne() async throws {
      let loop = try SocketEventLoop()
      let tally = Tally()
      let rest = SignalSource([SIGUSR1], on: loop) { _ in tally.add("rest") }
      _ = SignalSource([SIGUSR1], on: loop) { _ in tally.add("gone") }
      kill(getpid(), SIGUSR1)
      await loop.until { tally.count(of: "rest") == 1 }
      #expect(tally.count(of: "gone") == 0)
      withExtendedLifetime(rest) {}
      loop.stop()
    }
  }
}
