import ConnectionFSM
import Transports

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  guard
    let engine = try? SevenByteFraming(
      encoding: choice & 1 == 0 ? .plain : .xor(key: "Veeco"),
      compression: choice & 2 == 0 ? .none : .gzip, decodingKey: choice & 4 == 0 ? nil : "Key",
      maximumFrame: 1 << 12, maximumInflated: 1 << 14, legacyPeer: choice & 8 == 0,
      closesOnMalformedJSON: choice & 16 == 0)
  else { fatalError("the arguments are good") }
  let messages = check(engine, draw.stream, cut: cut, longest: 1 << 14)
  // The engine reads what it sends where its keys are one.
  if choice & 4 == 0 { checkReturn(engine, messages, as: .object) }
  return 0
}
