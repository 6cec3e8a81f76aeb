import ConnectionFSM
import Testing
import Transports

/// Compared with the standard library's decoder, which knows whole texts alone: a text that stops
/// short can still become valid if it does with some continuation.
@Suite("F25: UTF-8 is checked as it comes")
struct UTF8ValidatorTests {
  private static func isValid(_ bytes: [UInt8]) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }

  /// Up to three bytes that make each unfinished scalar whole: of the second ones, 80 does for
  /// most, 90 after F0, A0 after E0.
  private static let continuations: [[UInt8]] =
    [[]] + [0x80, 0x90, 0xA0].flatMap { [[$0], [$0, 0x80], [$0, 0x80, 0x80]] }

  private static func canBecomeValid(_ bytes: [UInt8]) -> Bool {
    continuations.contains { isValid(bytes + $0) }
  }

  /// How many bytes it takes until nothing can make them valid; nil if something can.
  private static func failure(of bytes: [UInt8]) -> Int? {
    var start = 0
    for end in 1...max(1, bytes.count) where end <= bytes.count {
      let scalar = Array(bytes[start..<end])
      if isValid(scalar) {
        start = end
      } else if !canBecomeValid(scalar) {
        return end
      }
    }
    return nil
  }

  /// Takes bytes one by one.
  /// - Returns: At which it was the first time no more, if it was.
  private static func failureByteByByte(_ bytes: [UInt8]) -> Int? {
    var validator = UTF8Validator()
    for (index, byte) in bytes.enumerated() {
      let isGood = validator.take([byte].span.bytes)
      if !isGood { return index + 1 }
    }
    return nil
  }

  private static func takes(_ bytes: [UInt8]) -> (canBecomeValid: Bool, isValid: Bool) {
    var validator = UTF8Validator()
    let isGood = validator.take(bytes.span.bytes)
    return (isGood, isGood && validator.isAtBoundary)
  }

  @Test("F25: every sequence of one byte and of two is judged as the standard library judges it")
  func oneAndTwo() {
    var wrong: [[UInt8]] = []
    for first in UInt8.min...UInt8.max {
      for bytes in [[first]] + (UInt8.min...UInt8.max).map({ [first, $0] }) {
        let expected = (Self.canBecomeValid(bytes), Self.isValid(bytes))
        if Self.takes(bytes) != expected { wrong.append(bytes) }
        if Self.failureByteByByte(bytes) != Self.failure(of: bytes) { wrong.append(bytes) }
      }
    }
    #expect(wrong.isEmpty)
  }

  /// Those whose first two bytes have failed are left out: the test above has them. After an ASCII
  /// byte it is a sequence of two; the least of them and the greatest stand for the others.
  @Test("F25: every sequence of three bytes is judged as the standard library judges it")
  func three() {
    var wrong: [[UInt8]] = []
    for first in [0x00, 0x7F] + (0x80...UInt8.max) {
      for second in UInt8.min...UInt8.max {
        var start = UTF8Validator()
        let isGood = start.take([first, second].span.bytes)
        guard isGood else { continue }
        for third in UInt8.min...UInt8.max {
          var validator = start
          let goesOn = validator.take([third].span.bytes)
          let isValid = goesOn && validator.isAtBoundary
          if isValid != Self.isValid([first, second, third]) {
            wrong.append([first, second, third])
          }
        }
      }
    }
    #expect(wrong.isEmpty)
  }

  @Test("F25: at their bounds, sequences of four bytes are judged as the standard library does")
  func four() {
    let bounds: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
    var wrong: [[UInt8]] = []
    for first: UInt8 in [0x41, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF] {
      for second in bounds {
        for third in bounds {
          for fourth in bounds {
            let bytes = [first, second, third, fourth]
            let expected = (Self.canBecomeValid(bytes), Self.isValid(bytes))
            if Self.takes(bytes) != expected { wrong.append(bytes) }
            if Self.failureByteByByte(bytes) != Self.failure(of: bytes) { wrong.append(bytes) }
          }
        }
      }
    }
    #expect(wrong.isEmpty)
  }

  @Test("F25: it fails at the first byte that nothing can mend, not at the message's end")
  func failsFast() {
    let greek = Array("κόσμε".utf8)
    for (bad, expected) in [
      ([0xF4, 0x90, 0x80, 0x80], 2), ([0xED, 0xA0, 0x80], 2), ([0xE0, 0x80, 0x80], 2),
      ([0xF0, 0x8F, 0xBF, 0xBF], 2), ([0xC0, 0xAF], 1), ([0xC1, 0x80], 1), ([0xF5, 0x80], 1),
      ([0x80], 1), ([0xFE], 1), ([0xE2, 0x82, 0x41], 3), ([0xF0, 0x9F, 0x98, 0xC0], 4),
    ] as [([UInt8], Int)] {
      let bytes = greek + bad + Array("edited".utf8)
      #expect(Self.failureByteByByte(bytes) == greek.count + expected)
      var validator = UTF8Validator()
      let last = greek.count + expected - 1
      let before = validator.take(bytes.span.extracting(..<last).bytes)
      let at = validator.take(bytes.span.extracting(last...).bytes)
      #expect(before && !at)
      // It stays so, whatever comes, until it is told of another text.
      let nothing = validator.take([UInt8]().span.bytes)
      let letter = validator.take([0x41].span.bytes)
      #expect(!nothing && !letter && !validator.isAtBoundary)
      validator.reset()
      let another = validator.take(greek.span.bytes)
      #expect(another && validator.isAtBoundary)
    }
  }

  @Test("F25: scalars may be cut at every place, and only there a text is unfinished")
  func cuts() {
    let text = "aé\u{7FF}\u{800}\u{FFFD}\u{D7FF}\u{E000}\u{10000}\u{10FFFF}😀κόσμε"
    let bytes = Array(text.utf8)
    let boundaries = Set(
      text.unicodeScalars.indices.map { text.utf8.distance(from: text.startIndex, to: $0) }
    )
    .union([bytes.count])
    for cut in 0...bytes.count {
      var validator = UTF8Validator()
      let first = validator.take(bytes.span.extracting(..<cut).bytes)
      #expect(first && validator.isAtBoundary == boundaries.contains(cut))
      let second = validator.take(bytes.span.extracting(cut...).bytes)
      #expect(second && validator.isAtBoundary)
    }
  }

  @Test("F25: one byte beyond ASCII is seen at every place of a text of every length")
  func asciiEdges() {
    for length in 1...200 {
      var bytes = [UInt8](repeating: 0x61, count: length)
      #expect(Self.takes(bytes) == (true, true))
      for place in 0..<length {
        bytes[place] = 0x80
        #expect(Self.takes(bytes) == (false, false))
        bytes[place] = 0x61
      }
      bytes[length - 1] = 0xC3
      #expect(Self.takes(bytes) == (true, false))
    }
  }

  @Test("F25: long texts with and without a fault are judged alike by every split")
  func randomTexts() {
    var random = SplitMix64(seed: 25)
    let ranges: [ClosedRange<UInt32>] = [
      0x20...0x7E, 0x20...0x7E, 0x80...0x7FF, 0x800...0xD7FF, 0xE000...0xFFFF, 0x10000...0x10FFFF,
    ]
    for round in 0..<300 {
      var text = String.UnicodeScalarView()
      for _ in 0..<20 {
        let range = ranges[Int(random.next(through: UInt64(ranges.count - 1)))]
        for _ in 0..<random.next(through: 30) {
          let value = range.lowerBound + UInt32(random.next(through: UInt64(range.count - 1)))
          if let scalar = Unicode.Scalar(value) { text.append(scalar) }
        }
      }
      var bytes = Array(String(text).utf8)
      if round % 2 == 1, !bytes.isEmpty {
        let place = Int(random.next(through: UInt64(bytes.count - 1)))
        bytes[place] = UInt8(random.next(through: 255))
      }
      let failure = Self.failure(of: bytes)
      #expect(Self.failureByteByByte(bytes) == failure)
      for longest in [UInt64(3), 70, 10_000] {
        var validator = UTF8Validator()
        var end = 0
        for piece in bytes.pieces(&random, longest: longest) {
          end += piece.count
          let isGood = validator.take(piece.span.bytes)
          #expect(isGood == (failure.map { end < $0 } ?? true))
        }
        if failure == nil { #expect(validator.isAtBoundary == Self.isValid(bytes)) }
      }
    }
  }
}
