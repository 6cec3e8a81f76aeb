import ConnectionFSM
import Transports

/// How a handshake with a proxy went.
private struct Course: Equatable {
  var output: [UInt8] = []
  var end: ProxyProgress?
  /// How many bytes the proxy was taken to have said.
  var offset = 0

  init(_ handshake: any ProxyHandshake, _ pieces: [ArraySlice<UInt8>]) {
    var handshake = handshake
    handshake.start(into: &output)
    for piece in pieces {
      let before = handshake.offset
      switch handshake.receive(piece.span.bytes, into: &output) {
      case .goesOn: require(handshake.offset - before == piece.count, "a byte was left out")
      case .isDone(let taken):
        require(handshake.offset - before == taken, "the tunnel begins elsewhere")
        end = .isDone(taken: 0)
      case .failed(let cause, let problem): end = .failed(cause, problem)
      }
      offset = handshake.offset
      if end != nil { return }
    }
  }
}

/// The answers of proxies, of both kinds: one end, the same however the bytes are cut, and none of
/// the tunnel's bytes taken.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  let target = Endpoint(host: choice & 1 == 0 ? "example.com" : "::1", port: 443)
  let credentials = choice & 2 == 0 ? nil : try? ProxyCredentials(user: "ann", password: "secret")
  let made: (any ProxyHandshake)? =
    choice & 4 == 0
    ? ConnectHandshake(target: target, credentials: credentials)
    : SOCKS5Handshake(target: target, credentials: credentials)
  guard let handshake = made else { fatalError("the target is good") }
  let stream = draw.stream
  let whole = Course(handshake, [stream[...]])
  let place = stream.isEmpty ? 0 : cut * stream.count / 256
  require(whole == Course(handshake, [stream[..<place], stream[place...]]), "cut at \(place)")
  require(whole == Course(handshake, stream.indices.map { stream[$0...$0] }), "byte by byte")
  require(whole.offset <= ConnectHandshake.headerLimit, "more than the limit was read")
  return 0
}
