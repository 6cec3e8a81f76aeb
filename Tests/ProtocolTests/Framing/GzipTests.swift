import ConnectionFSM
import Testing
import Transports
import WireSupport

@Suite("F31: gzip")
struct GzipTests {
  private static let text = Array("{\n  \"name\" : \"Veeco\"\n}".utf8)
  /// The same text in zlib's own container, by another implementation of it (Python's zlib).
  private static let zlib = [UInt8](
    hex: "789cabe6525050ca4bcc4d5552b052500a4b4d4dce57e2aa050040a205e2")

  private func error(_ bytes: [UInt8], limit: Int = 1 << 20) -> GzipError? {
    do throws(GzipError) { _ = try Gzip.inflate(bytes, limit: limit) } catch { return error }
    return nil
  }

  @Test("F31: what is deflated inflates to itself, whatever its length, within the worst case")
  func roundTrip() throws {
    var random = SplitMix64(seed: 31)
    for length in [0, 1, 2, 22, 1000, 16_383, 16_384, 16_385, 70_000, 300_000] {
      for alphabet in [UInt64(0), 3, 255] {
        let bytes = (0..<length).map { _ in UInt8(random.next(through: alphabet)) }
        let deflated = Gzip.deflate(bytes)
        #expect(deflated.prefix(3) == [0x1F, 0x8B, 8])
        #expect(deflated.count <= Gzip.worstCase(of: length))
        #expect(try Gzip.inflate(deflated, limit: length) == bytes)
      }
    }
  }

  @Test("F31: zlib's own container is accepted, raw deflate is not")
  func containers() {
    #expect(throws: Never.self) { try Gzip.inflate(Self.zlib, limit: 100) }
    #expect((try? Gzip.inflate(Self.zlib, limit: 100)) == Self.text)
    let raw = Array(Self.zlib.dropFirst(2).dropLast(4))
    #expect(error(raw) == .corrupt(offset: 2, reason: "incorrect header check"))
  }

  @Test("F31, B1.6: cut anywhere, compressed data is truncated; nothing at all is, too")
  func truncation() {
    let whole = Gzip.deflate(Self.text)
    for count in 0..<whole.count {
      #expect(error(Array(whole.prefix(count))) == .truncated, "\(count) bytes")
    }
  }

  @Test("F31: a wrong checksum and a wrong length are told")
  func checksum() {
    let whole = Gzip.deflate(Self.text)
    for place in whole.count - 8..<whole.count {
      var bytes = whole
      bytes[place] ^= 1
      #expect(error(bytes) == .checksum, "byte \(place)")
    }
  }

  @Test("F31: bytes behind the end are an error, a second member among them")
  func trailingBytes() {
    let whole = Gzip.deflate(Self.text)
    #expect(error(whole + [0]) == .trailingBytes(1))
    #expect(error(whole + whole) == .trailingBytes(whole.count))
  }

  @Test("F31, B1.6: whatever byte is turned, there is a result or a typed error")
  func turnedBits() {
    let whole = Gzip.deflate(Self.text)
    for place in whole.indices {
      for bit in 0..<8 {
        var bytes = whole
        bytes[place] ^= 1 << UInt8(bit)
        if let error = error(bytes) { #expect(error.description.contains("compressed data")) }
      }
    }
    #expect(
      error([0x78, 0xBB, 0, 0, 0, 0, 0]) == .corrupt(offset: 6, reason: "needs a dictionary"))
  }

  @Test("I21, B1.7: exactly the limit inflates, one byte more is told as too long")
  func limit() throws {
    let bytes = [UInt8](repeating: 7, count: 100_000)
    let deflated = Gzip.deflate(bytes)
    #expect(try Gzip.inflate(deflated, limit: 100_000) == bytes)
    #expect(error(deflated, limit: 99_999) == .tooLong(limit: 99_999))
    #expect(error(deflated, limit: 0) == .tooLong(limit: 0))
  }
}
