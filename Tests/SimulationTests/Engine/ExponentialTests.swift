import ConnectionFSM
import Foundation
import NetSim
import Testing

@Suite("Exponential draws")
struct ExponentialTests {
  private static let mean = TimeSpan.seconds(300)

  private func draws(_ count: Int, mean: TimeSpan, seed: UInt64 = 11) -> [TimeSpan] {
    var stream = RandomStream(seed: seed, name: "exponential")
    return (0..<count).map { _ in stream.exponential(mean: mean) }
  }

  @Test("a draw is the logarithm of the stream's next number, to within a billionth of the mean")
  func againstTheLogarithm() {
    var stream = RandomStream(seed: 5, name: "exponential")
    for _ in 0..<20_000 {
      var numbers = stream
      let share = Double(numbers.next(through: .max)) / 0x1p64
      let span = stream.exponential(mean: Self.mean)
      let error = Double(span.nanoseconds) / 300e9 + log(share)
      #expect(abs(error) < 1e-9)
    }
  }

  @Test("mean and variance are those of the distribution")
  func moments() {
    let count = 200_000
    let shares = draws(count, mean: Self.mean).map { Double($0.nanoseconds) / 300e9 }
    let mean = shares.reduce(0, +) / Double(count)
    let variance = shares.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(count)
    // Four standard errors: 1/√n of the mean, √8/√n of the variance.
    #expect(abs(mean - 1) < 4 / Double(count).squareRoot())
    #expect(abs(variance - 1) < 4 * (8 / Double(count)).squareRoot())
  }

  @Test("the tail at a tenth, half, one, two, five and eight means is e to the minus that")
  func tail() {
    let count = 200_000
    let shares = draws(count, mean: Self.mean).map { Double($0.nanoseconds) / 300e9 }
    for point in [0.1, 0.5, 1, 2, 5, 8] {
      let expected = exp(-point)
      let share = Double(shares.count { $0 > point }) / Double(count)
      let error = (expected * (1 - expected) / Double(count)).squareRoot()
      #expect(abs(share - expected) < 4 * error, "\(share) above \(point), expected \(expected)")
    }
  }

  @Test("draws are golden")
  func golden() {
    let nanoseconds = draws(6, mean: .seconds(1), seed: 1).map(\.nanoseconds)
    let expected: [Int64] = [
      529_689_161, 616_940_270, 1_539_008_188, 4_246_793_039, 993_572_688, 1_130_968_517,
    ]
    #expect(nanoseconds == expected)
  }

  @Test("one draw a call, whatever the mean; no mean gives zero, an endless one saturates")
  func edges() {
    var stream = RandomStream(seed: 2, name: "exponential")
    var numbers = stream
    let nothing = stream.exponential(mean: .zero)
    let negative = stream.exponential(mean: .seconds(-1))
    #expect(nothing == .zero && negative == .zero)
    let endless = (0..<64).map { _ in stream.exponential(mean: .nanoseconds(.max)) }
    #expect(endless.allSatisfy { $0 >= .zero })
    #expect(endless.contains(.nanoseconds(.max)))
    for _ in 0..<66 { _ = numbers.next(through: .max) }
    let (left, right) = (stream.next(through: .max), numbers.next(through: .max))
    #expect(left == right)
  }
}
