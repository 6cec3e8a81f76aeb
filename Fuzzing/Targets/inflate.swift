import ConnectionFSM
import Transports

/// What came of messages, each in some parts, up to the first error.
private struct Course: Equatable {
  var messages: [[UInt8]] = []
  var error: InflateError?

  init(_ messages: [[ArraySlice<UInt8>]], takesContextOver: Bool, limit: Int) {
    let inflater = MessageInflater(takesContextOver: takesContextOver)
    for parts in messages {
      var output: [UInt8] = []
      do throws(InflateError) {
        for (index, part) in parts.enumerated() {
          let isLast = index == parts.count - 1
          defer { require(output.count <= limit, "more than the limit") }
          try inflater.inflate(part.span.bytes, isLast: isLast, limit: limit, into: &output)
        }
      } catch {
        self.error = error
        return
      }
      self.messages.append(output)
    }
  }
}

/// Deflated messages: whatever they are, they give the same by every split, within the limit (I13,
/// I21); and what is deflated in any parts inflates to itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  let border = draw.choice()
  let limit = draw.choice() * 40
  let takes = choice & 1 == 0
  let stream = draw.stream
  // Two messages, so that the second follows whatever the first leaves behind.
  let middle = border * stream.count / 256
  let messages = [stream[..<middle], stream[middle...]]
  func both(_ split: (ArraySlice<UInt8>) -> [ArraySlice<UInt8>]) -> Course {
    Course(messages.map(split), takesContextOver: takes, limit: limit)
  }
  let whole = both { [$0] }
  let inTwo = both { message in
    let place = message.startIndex + cut * message.count / 256
    return [message[..<place], message[place...]]
  }
  require(whole == inTwo, "cut at \(cut) of 256")
  require(whole == both { message in message.indices.map { message[$0...$0] } + [[]] }, "by bytes")

  let deflater = MessageDeflater(
    level: (choice >> 1 & 7) * 9 / 7, windowBits: 9 + (choice >> 4) % 7, takesContextOver: takes)
  var packed: [[ArraySlice<UInt8>]] = []
  for message in messages {
    let place = cut * message.count / 256
    let bytes = message.span
    var output: [UInt8] = []
    deflater.deflate(bytes.extracting(..<place).bytes, isLast: false, into: &output)
    deflater.deflate(bytes.extracting(place...).bytes, isLast: true, into: &output)
    packed.append([output[...]])
  }
  let back = Course(packed, takesContextOver: takes, limit: stream.count)
  require(back.error == nil && back.messages == messages.map(Array.init), "sent is not received")
  return 0
}
