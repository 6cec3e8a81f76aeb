import Transports

/// Whether a text of pieces is good so far, after each of them, and where it may end.
private func judge(_ pieces: [ArraySlice<UInt8>]) -> (isGood: Bool, isWhole: Bool) {
  var validator = UTF8Validator()
  var isGood = true
  for piece in pieces {
    let goesOn = validator.take(piece.span.bytes)
    require(isGood || !goesOn, "a text that had failed is good again")
    isGood = goesOn
  }
  return (isGood, isGood && validator.isAtBoundary)
}

/// The standard library's opinion, by every split; and a text that is good so far becomes valid
/// with a few bytes more.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let cut = draw.choice()
  let text = draw.stream
  let place = cut * text.count / 256
  let whole = judge([text[...]])
  require(whole == judge([text[..<place], text[place...]]), "cut at \(place)")
  require(whole == judge(text.indices.map { text[$0...$0] }), "byte by byte")
  require(whole.isWhole == (String(validating: text, as: UTF8.self) != nil), "another opinion")
  let continuations =
    [[]] + [0x80, 0x90, 0xA0].flatMap { [[$0], [$0, 0x80], [$0, 0x80, 0x80]] as [[UInt8]] }
  let canBecomeValid = continuations.contains {
    String(validating: text + $0, as: UTF8.self) != nil
  }
  require(whole.isGood == canBecomeValid, "it fails too early or too late")
  return 0
}
