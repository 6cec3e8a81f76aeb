import ConnectionFSM
import Transports

/// How a handshake went.
private struct Course: Equatable {
  var end: String
  /// Of the bytes given, the handshake's own; 0 where nothing follows.
  var taken = 0

  static func ofClient(_ options: WebSocketOptions, _ pieces: [ArraySlice<UInt8>]) -> Course {
    var handshake = ClientHandshake(options)
    var request: [UInt8] = []
    handshake.start(key: Array(0..<16), into: &request)
    checkHead(request)
    var taken = 0
    for piece in pieces {
      switch handshake.receive(piece.span.bytes) {
      case .goesOn: taken += piece.count
      case .agreed(let agreement, let count):
        require(
          agreement.subprotocol.map(options.subprotocols.contains) ?? true, "nobody offered that")
        require(options.compression != nil || agreement.compression == nil, "nobody offered it")
        return Course(end: "\(agreement)", taken: taken + count)
      case .redirected(let endpoint): return Course(end: "to \(endpoint)")
      case .failed(let cause, let error): return Course(end: "\(cause) \(error)")
      }
    }
    return Course(end: "\(handshake.receiveEnd())", taken: taken)
  }

  static func ofServer(_ pieces: [ArraySlice<UInt8>]) -> Course {
    var handshake = ServerHandshake()
    var taken = 0
    for piece in pieces {
      switch handshake.receive(piece.span.bytes) {
      case .goesOn: taken += piece.count
      case .asked(let request, let count):
        let extensions = try? WebSocketCompression().answer(offers: request.extensions)
        checkHead(
          ServerHandshake.acceptance(
            of: request, subprotocol: request.subprotocols.first, extensions: extensions?.answer))
        return Course(end: "\(request)", taken: taken + count)
      case .refused(let refusal): return Course(end: "\(refusal)")
      }
    }
    return Course(end: "goes on", taken: taken)
  }

  /// Whatever the peer said, what is said to it is one head.
  private static func checkHead(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    require(text.hasSuffix("\r\n\r\n"), "the head does not end")
    require(text.firstRange(of: "\r\n\r\n")?.upperBound == text.endIndex, "there are two heads")
  }
}

/// Both sides of the opening handshake: one outcome, the same however the bytes are cut, and none
/// of the frames behind it taken.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  guard let url = try? WebSocketURL("ws://example.com/chat"),
    let compression = try? WebSocketCompression(
      serverWindowBits: choice & 8 == 0 ? nil : 10, serverTakesContextOver: choice & 16 == 0),
    let options = try? WebSocketOptions(
      url, subprotocols: choice & 2 == 0 ? [] : ["v2", "v1"],
      compression: choice & 4 == 0 ? nil : compression, redirectLimit: choice & 32 == 0 ? 0 : 1)
  else { fatalError("the options are good") }
  let course = { choice & 1 == 0 ? Course.ofClient(options, $0) : .ofServer($0) }
  let stream = draw.stream
  let whole = course([stream[...]])
  let place = stream.isEmpty ? 0 : cut * stream.count / 256
  require(whole == course([stream[..<place], stream[place...]]), "cut at \(place)")
  require(whole == course(stream.indices.map { stream[$0...$0] }), "byte by byte")
  require(whole.taken <= 16 << 10, "more than the limit was read")
  return 0
}
