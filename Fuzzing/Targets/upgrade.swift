import ConnectionFSM
import Transports

/// How an opening handshake went.
private enum Course: Equatable {
  case goesOn(String)
  case agreed(subprotocol: String?, isCompressed: Bool, taken: Int)
  case redirected(Endpoint)
  case asked(ServerHandshake.Request, taken: Int)
  case failed(Cause, String)
  case refused(ServerHandshake.Refusal)

  init(_ options: WebSocketOptions, _ pieces: [ArraySlice<UInt8>]) {
    var handshake = ClientHandshake(options)
    var request: [UInt8] = []
    handshake.start(key: Array("the sample nonce".utf8), into: &request)
    var before = 0
    for piece in pieces {
      switch handshake.receive(piece.span.bytes) {
      case .goesOn: before += piece.count
      case .agreed(let agreement, let taken):
        require(taken <= piece.count, "more was taken than was there")
        self = .agreed(
          subprotocol: agreement.subprotocol, isCompressed: agreement.compression != nil,
          taken: before + taken)
        return
      case .redirected(let endpoint):
        var again: [UInt8] = []
        handshake.start(key: Array("the sample nonce".utf8), into: &again)
        checkRequest(again)
        self = .redirected(endpoint)
        return
      case .failed(let cause, let error):
        self = .failed(cause, "\(error)")
        return
      }
    }
    require(before <= 16 << 10, "more than the limit was read")
    self = .goesOn("\(handshake.receiveEnd())")
  }

  init(serving pieces: [ArraySlice<UInt8>]) {
    var handshake = ServerHandshake()
    var before = 0
    for piece in pieces {
      switch handshake.receive(piece.span.bytes) {
      case .goesOn: before += piece.count
      case .asked(let request, let taken):
        self = .asked(request, taken: before + taken)
        return
      case .refused(let refusal):
        self = .refused(refusal)
        return
      }
    }
    require(before <= 16 << 10, "more than the limit was read")
    self = .goesOn("")
  }
}

/// Whatever a redirection has put into it, a request is one that our own server takes.
private func checkRequest(_ bytes: [UInt8]) {
  guard case .asked(_, let taken) = Course(serving: [bytes[...]]) else {
    fatalError("\(String(decoding: bytes, as: UTF8.self))")
  }
  require(taken == bytes.count, "something stands behind the request")
}

/// Both sides of the opening handshake of a WebSocket: one end, the same however the bytes are cut.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  let stream = draw.stream
  let place = stream.isEmpty ? 0 : cut * stream.count / 256
  let cuts = [
    [stream[...]], [stream[..<place], stream[place...]], stream.indices.map { stream[$0...$0] },
  ]
  let courses: [Course]
  if choice & 1 == 0 {
    guard let url = try? WebSocketURL(choice & 2 == 0 ? "ws://a/b/c?d" : "wss://[::1]:81"),
      let compression = try? WebSocketCompression(),
      let options = try? WebSocketOptions(
        url, subprotocols: choice & 4 == 0 ? [] : ["a", "b"],
        compression: choice & 8 == 0 ? nil : compression, redirectLimit: choice & 16 == 0 ? 0 : 3)
    else { fatalError("the options are good") }
    courses = cuts.map { Course(options, $0) }
  } else {
    courses = cuts.map { Course(serving: $0) }
  }
  require(courses[0] == courses[1], "cut at \(place)")
  require(courses[0] == courses[2], "byte by byte")
  if case .asked(let request, _) = courses[0] {
    let answer = ServerHandshake.acceptance(of: request, subprotocol: nil, extensions: nil)
    require(answer.starts(with: "HTTP/1.1 101 ".utf8), "no answer")
  }
  return 0
}
