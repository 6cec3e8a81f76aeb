import ConnectionFSM
import Transports

/// Both sides of the chat: the client reads lines, and what it admits is one command to a server.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var draw = Draw(start, count)
  let choice = draw.choice()
  let cut = draw.choice()
  let isBare = choice & 1 == 0
  guard let login = try? ChatLogin(name: "ann", password: choice & 2 == 0 ? nil : "pass"),
    let engine = try? ChatFraming(login, isBare: isBare, maximumLength: 64),
    let server = try? ChatServerFraming(maximumLength: 64)
  else { fatalError("the arguments are good") }
  for message in check(engine, draw.stream, cut: cut, longest: 64) {
    _ = ChatLine(message)
    guard engine.admits(message) else { continue }
    var sender = engine
    var output = EngineOutput()
    sender.send(message, id: nil, into: &output)
    let command = ChatCommand(String(decoding: output.bytes, as: UTF8.self), isBare: isBare)
    let end = isBare ? "" : "\n"
    require(command == .msg(message.text + end), "what was said is not heard")
  }
  for message in check(server, draw.stream, cut: cut, longest: 64) {
    _ = ChatCommand(message.text, isBare: isBare)
  }
  return 0
}
