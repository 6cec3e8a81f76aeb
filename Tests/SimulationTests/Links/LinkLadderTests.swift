import ConnectionFSM
import NetSim
import Testing

@Suite("Link: retransmission ladder")
struct LinkLadderTests {
  private func tries(_ ladder: RetransmissionLadder) -> [Int64] {
    var tries: [Int64] = []
    var elapsed = TimeSpan.zero
    while let next = ladder.next(after: elapsed) {
      tries.append(next.nanoseconds / 1_000_000)
      elapsed = next
    }
    return tries
  }

  @Test("data on Linux is sent again 15 times, doubling from 0.2 s to 120 s, for 924.6 s")
  func data() {
    let expected: [Int64] = [
      200, 600, 1400, 3000, 6200, 12_600, 25_400, 51_000, 102_200, 204_600,
      324_600, 444_600, 564_600, 684_600, 804_600,
    ]
    #expect(tries(.data) == expected)
    #expect(RetransmissionLadder.data.giveUp == .milliseconds(924_600))
  }

  @Test("a SYN is given up after 127 s on Linux, 131 s with linear time-outs, 75 s on Darwin")
  func syn() {
    #expect(tries(.synLinux) == [1000, 3000, 7000, 15_000, 31_000, 63_000])
    #expect(RetransmissionLadder.synLinux.giveUp == .seconds(127))
    let linear: [Int64] = [1000, 2000, 3000, 4000, 5000, 7000, 11_000, 19_000, 35_000, 67_000]
    #expect(tries(.synLinuxLinear) == linear)
    #expect(RetransmissionLadder.synLinuxLinear.giveUp == .seconds(131))
    #expect(tries(.synDarwin) == linear)
    #expect(RetransmissionLadder.synDarwin.giveUp == .seconds(75))
    #expect(RetransmissionLadder.synAck.giveUp == .seconds(63))
  }

  @Test("the wait after so many losses is the instant of the try that gets through")
  func waits() {
    let ladder = RetransmissionLadder.data
    #expect(ladder.wait(afterLosses: 0) == .zero)
    #expect(ladder.wait(afterLosses: 1) == .milliseconds(200))
    #expect(ladder.wait(afterLosses: 3) == .milliseconds(1400))
    #expect(ladder.wait(afterLosses: 15) == .milliseconds(804_600))
    #expect(ladder.wait(afterLosses: 16) == .milliseconds(924_600))
    #expect(ladder.wait(afterLosses: 99) == .milliseconds(924_600))
    #expect(ladder.wait(afterLosses: -1) == .zero)
  }

  @Test("the next try is strictly later, and none comes after the last")
  func next() {
    let ladder = RetransmissionLadder.synLinux
    #expect(ladder.next(after: .nanoseconds(-1)) == .zero)
    #expect(ladder.next(after: .zero) == .seconds(1))
    #expect(ladder.next(after: .nanoseconds(999_999_999)) == .seconds(1))
    #expect(ladder.next(after: .seconds(1)) == .seconds(3))
    #expect(ladder.next(after: .seconds(62)) == .seconds(63))
    #expect(ladder.next(after: .seconds(63)) == nil)
    #expect(ladder.next(after: .seconds(200)) == nil)
  }

  @Test("a longer time-out shifts the ladder, and has the retries that last as long")
  func shifted() {
    let slow = RetransmissionLadder.data.starting(at: .seconds(3))
    #expect(tries(slow).prefix(3) == [3000, 9000, 21_000])
    // 3 s doubled to 96 s are 189 s, and 7 times 120 s go beyond 924.6 s.
    #expect(slow.giveUp == .seconds(189 + 7 * 120))
    #expect(tries(slow).count == 12)
    #expect(RetransmissionLadder.data.starting(at: .milliseconds(200)) == .data)
    let late = RetransmissionLadder.data.starting(at: .seconds(600))
    #expect(late.next(after: .zero) == .seconds(120))
    #expect(late.giveUp == .seconds(8 * 120))
    let linear = RetransmissionLadder.synLinuxLinear.starting(at: .seconds(2))
    // Five at 2 s, then 4, 8, 16, 32 and 64 s: beyond 131 s.
    #expect(linear.giveUp == .seconds(10 + 124))
  }

  @Test("values that make no sense neither trap nor hang")
  func nonsense() {
    let none = RetransmissionLadder(first: .zero, longest: .zero, retries: 255, linear: 255)
    #expect(none.giveUp == .nanoseconds(511))
    #expect(none.next(after: .zero) == .nanoseconds(1))
    let endless = RetransmissionLadder(
      first: .nanoseconds(.max), longest: .nanoseconds(.max), retries: 255)
    #expect(endless.giveUp == .nanoseconds(.max))
    #expect(endless.next(after: .zero) == nil)
    let cut = RetransmissionLadder(first: .seconds(1), retries: 3, limit: .zero)
    #expect(cut.giveUp == .zero)
    #expect(cut.next(after: .zero) == nil)
  }
}
