import ConnectionFSM
import Transports

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  let limit = 1 + draw.choice()
  let own = (0..<1 + choice % 5).map { _ in UInt8(draw.choice() & 3) }
  guard let ownDelimiter = try? Delimiter(own) else { fatalError("it has bytes") }
  let delimiter = [Delimiter.crlf, .lf, .nul, ownDelimiter][choice >> 3 & 3]
  let keepsDelimiter = choice & 32 == 0
  guard
    let engine = try? DelimiterFraming(
      delimiter: delimiter, keepsDelimiter: keepsDelimiter, maximumLength: limit)
  else { fatalError("the arguments are good") }
  let longest = limit + (keepsDelimiter ? delimiter.bytes.count : 0)
  let messages = check(engine, draw.stream, cut: cut, longest: longest)
  if !keepsDelimiter { checkReturn(engine, messages, as: .text) }
  return 0
}
