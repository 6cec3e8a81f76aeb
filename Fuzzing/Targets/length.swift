import ConnectionFSM
import Transports

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  let limit = 1 + draw.choice()
  guard
    let engine = try? LengthFraming(
      width: LengthFraming.Width.allCases[choice & 3],
      byteOrder: choice & 4 == 0 ? .bigEndian : .littleEndian,
      includesPrefix: choice & 8 == 0, maximumLength: limit)
  else { fatalError("the arguments are good") }
  let messages = check(engine, draw.stream, cut: cut, longest: limit)
  checkReturn(engine, messages, as: .binary)
  return 0
}
