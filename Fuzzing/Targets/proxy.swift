import ConnectionFSM
import Transports

/// How a handshake with a proxy that says this ends, whatever the pieces.
private struct Ending: Equatable {
  var progress = ProxyProgress.goesOn
  /// Bytes of the stream that belong to the tunnel.
  var surplus = 0
  var said: [UInt8] = []

  init(_ handshake: some ProxyHandshake, _ pieces: [ArraySlice<UInt8>]) {
    var handshake = handshake
    handshake.start(into: &said)
    for piece in pieces {
      guard case .goesOn = progress else {
        surplus += piece.count
        continue
      }
      progress = handshake.receive(piece.span.bytes, into: &said)
      if case .isDone(let taken) = progress {
        require(taken <= piece.count, "took more than there is")
        surplus = piece.count - taken
        // How many of this piece's, which the cut decides.
        progress = .isDone(taken: 0)
      }
    }
    require(said.count < 4096, "says more and more")
  }

  /// A failed one reads nothing more: what came behind is nobody's.
  var isComparable: Ending {
    var copy = self
    if case .failed = progress { copy.surplus = 0 }
    return copy
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  let stream = draw.stream
  let target = Endpoint(host: "example.com", port: 443)
  let credentials = choice & 1 == 0 ? nil : try? ProxyCredentials(user: "ann", password: "secret")
  let place = stream.isEmpty ? 0 : cut * stream.count / 256
  func check(_ handshake: (some ProxyHandshake)?) {
    guard let handshake else { fatalError("the target is good") }
    let whole = Ending(handshake, [stream[...]]).isComparable
    require(
      whole == Ending(handshake, [stream[..<place], stream[place...]]).isComparable,
      "cut at \(place)")
    require(
      whole == Ending(handshake, stream.indices.map { stream[$0...$0] }).isComparable,
      "byte by byte")
  }
  if choice & 2 == 0 {
    check(ConnectHandshake(target: target, credentials: credentials))
  } else {
    check(SOCKS5Handshake(target: target, credentials: credentials))
  }
  return 0
}
