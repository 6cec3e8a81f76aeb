import ConnectionFSM
import Foundation
import Transports

/// An echo server of lines that can misbehave on purpose.
struct ServeCommand: Command {
  static let name = "serve"
  static let summary = "An echo server of lines, which can misbehave on purpose"
  static let help = Help.serve

  private let host: String
  /// 0 for any that is free, which is no port of an endpoint.
  private let port: UInt16
  private let fault: ServerFault
  private let behaviour: String

  init(_ arguments: inout ArgumentList) throws(Failure) {
    (fault, behaviour) = try Self.fault(&arguments)
    let text = try arguments.endpointWord()
    let isAnyPort = text.hasSuffix(":0")
    let endpoint = try arguments.endpoint(isAnyPort ? text.dropLast() + "1" : text)
    host = endpoint.host
    port = isAnyPort ? 0 : endpoint.port
  }

  private static func fault(
    _ arguments: inout ArgumentList
  ) throws(Failure) -> (ServerFault, String) {
    var found: [(ServerFault, String)] = []
    if arguments.flag("--refuse") { found.append((.refuse, "refuses every dial")) }
    if arguments.flag("--accept-and-drop") {
      found.append((.acceptAndDrop, "accepts every dial and drops it"))
    }
    if arguments.flag("--mute") { found.append((.mute, "reads and never answers")) }
    if arguments.flag("--half-close") {
      found.append((.halfClose(afterMessages: 1), "answers one line, then says no more"))
    }
    if let lines: Int = try arguments.number(of: "--reset-after", in: 1...1_000_000_000) {
      found.append((.reset(atMessage: lines), "resets each connection at its line \(lines)"))
    }
    if let delay: Int64 = try arguments.number(of: "--slow", in: 1...3_600_000) {
      found.append((.slow(.milliseconds(delay)), "answers each line \(delay) ms late"))
    }
    guard found.count <= 1 else { throw arguments.usage("one way to misbehave at a time") }
    return found.first ?? (.none, "sends every line back")
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
  private func serve(on loop: SocketEventLoop) async -> ListenError {
    let text = TraceText(colour: Console.usesColour)
    let server = EchoServer(loop: loop, fault: fault) { event in
      Console.print(text.note(Self.words(for: event), at: loop.now))
    }
    do throws(ListenError) {
      let bound = try server.start(host: host, port: port)
      let endpoint = Endpoint(host: host, port: bound)
      Console.print("\(endpoint) \(behaviour); end with Ctrl-C. In another terminal:")
      Console.print("  \(Tool.invocation) connect \(endpoint)")
    } catch {
      return error
    }
    let (never, _) = AsyncStream.makeStream(of: ListenError.self)
    for await problem in never { return problem }
    withExtendedLifetime(server) {}
    preconditionFailure("a stream that nobody finishes has ended")
  }

  private static func words(for event: ServerEvent) -> String {
    switch event {
    case .accepted(let number): "#\(number) connected"
    case .message(let number, let message): "#\(number) ← \(message.text.printable)"
    case .ended(let number, let how): "#\(number) ended: \(how)"
    }
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
  /// The operand that names an endpoint.
  mutating func endpointWord() throws(Failure) -> String {
    guard let word = operand() else {
      throw usage("name an endpoint, such as tcp://127.0.0.1:7000")
    }
    return word
  }

  /// The endpoint that a word names.
  func endpoint(_ word: String) throws(Failure) -> Endpoint {
    let endpoint: Endpoint
    do throws(EndpointError) {
      endpoint = try Endpoint(word)
    } catch {
      throw usage("\(error)")
    }
    guard endpoint.scheme == "tcp" else {
      throw usage("there is no “\(endpoint.scheme)” here; write tcp://HOST:PORT")
    }
    return endpoint
  }
}
