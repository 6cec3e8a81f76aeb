import ConnectionFSM
import Foundation
import Transports

/// A server that can misbehave on purpose.
struct ServeCommand: Command {
  static let name = "serve"
  static let summary = "A server of lines, frames, chat or WebSocket, which can misbehave"
  static let help = Help.serve

  private let address: PeerAddress
  private let fault: ServerFault
  private let behaviour: String
  private let isBare: Bool
  private let key: String?
  private let compresses: Bool
  private let webSocket: WebSocketService

  init(_ arguments: inout ArgumentList) throws(Failure) {
    var rest = arguments
    // What an option says is not the endpoint.
    for option in Self.valued { _ = try rest.values(of: option) }
    try arguments.refuseIdleOptions(at: try rest.peerAddress(serves: true))
    let found = try Self.fault(&arguments)
    fault = found?.fault ?? .none
    isBare = arguments.flag("--bare")
    key = try arguments.value(of: "--xor")
    compresses = arguments.flag("--gzip")
    webSocket = try WebSocketService(&arguments)
    address = try arguments.peerAddress(serves: true)
    guard found == nil || webSocket.behaviour == nil else {
      throw arguments.usage("one way to misbehave at a time")
    }
    behaviour = found?.words ?? webSocket.behaviour ?? Self.words(for: address.speech)
  }

  /// The options that have a value.
  private static let valued = [
    "--reset-after", "--slow", "--poison", "--xor", "--protocol", "--header", "--answer", "--close",
    "--fault", "--at",
  ]

  private static func words(for speech: PeerAddress.Speech) -> String {
    switch speech {
    case .echo, .line: "sends every line back"
    case .raw: "sends every byte back"
    case .wg: "sends every object back"
    case .chat: "runs a chat"
    case .webSocket: "sends every message back"
    }
  }

  private static func fault(
    _ arguments: inout ArgumentList
  ) throws(Failure) -> (fault: ServerFault, words: String)? {
    var found: [(fault: ServerFault, words: String)] = []
    if arguments.flag("--refuse") { found.append((.refuse, "refuses every dial")) }
    if arguments.flag("--accept-and-drop") {
      found.append((.acceptAndDrop, "accepts every dial and drops it"))
    }
    if arguments.flag("--mute") { found.append((.mute, "reads and never answers")) }
    if arguments.flag("--half-close") {
      found.append((.halfClose(afterMessages: 1), "answers one message, then says no more"))
    }
    if let place: Int = try arguments.number(of: "--reset-after", in: 1...1_000_000_000) {
      found.append((.reset(atMessage: place), "resets each connection at its message \(place)"))
    }
    if let delay: Int64 = try arguments.number(of: "--slow", in: 1...3_600_000) {
      found.append((.slow(.milliseconds(delay)), "answers each message \(delay) ms late"))
    }
    if let text = try arguments.value(of: "--poison") {
      guard let bytes = [UInt8](hexadecimal: text), (1...1024).contains(bytes.count) else {
        throw arguments.usage("--poison “\(text)” is no hexadecimal text of 1 to 1,024 bytes")
      }
      found.append((.poison(bytes, atMessage: 1), "answers the first message with \(text)"))
    }
    guard found.count <= 1 else { throw arguments.usage("one way to misbehave at a time") }
    return found.first
  }

  func run() async throws(Failure) {
    Self.raiseDescriptorLimit()
    let loop: SocketEventLoop
    do throws(LoopError) {
      loop = try SocketEventLoop()
    } catch {
      throw Failure(.unavailable, "\(error)")
    }
    // On the loop, where everything of the server happens.
    let problem = await withTaskExecutorPreference(loop) { await serve(on: loop) }
    throw Failure(.unavailable, "\(problem)")
  }

  /// Serves until the process ends.
  /// - Returns: Why it could not begin.
  private func serve(on loop: SocketEventLoop) async -> any Error {
    do {
      switch address.speech {
      case .echo:
        let lines = try DelimiterFraming(delimiter: .lf, maximumLength: 1 << 20)
        return await serve(lines, EchoProgram(), on: loop)
      case .raw: return await serve(RawFraming(), EchoProgram(), on: loop)
      case .line:
        let lines = try DelimiterFraming(delimiter: .crlf)
        return await serve(
          lines, EchoProgram(unanswered: Array("longConnect".utf8)), on: loop)
      case .wg:
        let frames = try SevenByteFraming(
          encoding: key.map { .xor(key: $0) } ?? .plain, compression: compresses ? .gzip : .none)
        return await serve(frames, EchoProgram(), on: loop)
      case .chat:
        return await serve(
          try ChatServerFraming(isBare: isBare), ChatProgram(isBare: isBare), on: loop)
      case .webSocket:
        var options = webSocket.options
        options.notice = { note($0.words, on: loop) }
        return await serve(WebSocketServerEngine(options), EchoProgram(), on: loop)
      }
    } catch {
      return error
    }
  }

  private func serve<Framing: ProtocolEngine>(
    _ framing: Framing, _ program: any ServerProgram, on loop: SocketEventLoop
  ) async -> any Error {
    let log = { (event: ServerEvent) in note(words(for: event), on: loop) }
    #if os(Linux)
      if address.isSecure {
        do throws(TLSError) {
          let identity = try ThrowawayIdentity(host: address.endpoint.host)
          let server = Server<TLSStream<TCPStream>, Framing>(
            loop: loop, context: identity.context, fault: fault, engine: { framing },
            program: program, log: log)
          return await serve(server, hint: identity.hint)
        } catch {
          return error
        }
      }
    #endif
    return await serve(
      Server<TCPStream, Framing>(
        loop: loop, fault: fault, engine: { framing }, program: program, log: log), hint: "")
  }

  private func serve<Stream, Framing>(
    _ server: Server<Stream, Framing>, hint: String
  ) async -> any Error {
    do throws(ListenError) {
      let bound = try start(server)
      Console.print("\(bound) \(behaviour); end with Ctrl-C. In another terminal:")
      Console.print("  \(Tool.invocation) connect \(bound)\(options)\(hint)")
    } catch {
      return error
    }
    let (never, _) = AsyncStream.makeStream(of: ListenError.self)
    for await problem in never { return problem }
    withExtendedLifetime(server) {}
    preconditionFailure("a stream that nobody finishes has ended")
  }

  /// - Returns: What to connect to, as it is written.
  private func start<Stream, Framing>(
    _ server: Server<Stream, Framing>
  ) throws(ListenError) -> Endpoint {
    let endpoint = address.endpoint
    if endpoint.scheme == "unix" {
      try server.start(path: endpoint.host)
      return endpoint
    }
    let port = try server.start(host: endpoint.host, port: address.isAnyPort ? 0 : endpoint.port)
    let scheme =
      switch address.speech {
      // Whoever sends bytes back, sends lines back.
      case .echo, .raw: endpoint.scheme
      case .line: "line"
      case .wg: "wg"
      case .chat: "chat"
      case .webSocket: address.isSecure ? "wss" : "ws"
      }
    return Endpoint(scheme: scheme, host: endpoint.host, port: port)
  }

  /// What the other side must say alike.
  private var options: String {
    var words = ""
    switch address.speech {
    case .echo, .raw: return ""
    case .line: break
    case .wg:
      if let key { words += " --xor \(key)" }
      if compresses { words += " --gzip" }
    case .chat: words += " --name ann" + (isBare ? " --bare" : "")
    case .webSocket: return webSocket.hint
    }
    return words + (address.isSecure ? " --tls" : "")
  }

  private func note(_ words: String, on loop: SocketEventLoop) {
    Console.print(TraceText(colour: Console.usesColour).note(words, at: loop.now))
  }

  private func words(for event: ServerEvent) -> String {
    switch event {
    case .accepted(let number): "#\(number) connected"
    case .message(let number, let message): "#\(number) ← \(withoutPassword(message))"
    case .ended(let number, let how): "#\(number) ended: \(how)"
    }
  }

  private func withoutPassword(_ message: Message) -> String {
    guard address.speech == .chat,
      case .iam(let name, .some) = ChatCommand(message.text, isBare: isBare)
    else { return message.shown }
    return "iam:\(name.printable):…"
  }

  /// Thousands of connections need thousands of descriptors, and the usual limit is 1024.
  private static func raiseDescriptorLimit() {
    #if canImport(Glibc)
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let files = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(files, &limit)
  }
}

extension ArgumentList {
  /// Objects to options that mean nothing for what is spoken at this address.
  fileprivate func refuseIdleOptions(at address: PeerAddress) throws(Failure) {
    try refuse(["--xor", "--gzip"], unless: address.speech == .wg, isFor: "wg")
    try refuse(["--bare"], unless: address.speech == .chat, isFor: "chat")
    try refuse(
      WebSocketService.optionNames, unless: address.isWebSocket, isFor: "ws and wss")
  }
}

extension [UInt8] {
  /// Two digits a byte, nothing between them.
  fileprivate init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    self = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let digit = String(bytes: digits[place..<place + 2], encoding: .utf8),
        digit.first != "+", let byte = UInt8(digit, radix: 16)
      else { return nil }
      append(byte)
    }
  }
}
