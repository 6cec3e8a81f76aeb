import ConnectionFSM
import Transports

/// What `serve` offers over a WebSocket, and how it misbehaves there.
struct WebSocketService {
  /// What `--fault` knows.
  private enum Fault: String, CaseIterable {
    case slowAnswer = "slow-answer"
    case endlessAnswer = "endless-answer"
    case masked
    case reserved
    case oversized
    case badText = "bad-text"
    case splitText = "split-text"
    case endlessMessage = "endless-message"
    case bomb
    case pingFlood = "ping-flood"
    case silentClose = "silent-close"
    case openClose = "open-close"
    case lateMessage = "late-message"
  }

  let options: WebSocketServerOptions
  /// What is wrong with it, as a sentence without its subject; nil if nothing is.
  let behaviour: String?
  /// The options by which a client meets it halfway.
  let hint: String

  static let optionNames = [
    "--protocol", "--compress", "--header", "--answer", "--close", "--fault", "--at",
  ]

  init(_ arguments: inout ArgumentList) throws(Failure) {
    let names = try arguments.values(of: "--protocol")
    let place: Int? = try arguments.number(of: "--at", in: 1...1_000_000_000)
    var found: [(fault: WebSocketFault, words: String)] = []
    if let status: UInt16 = try arguments.number(of: "--answer", in: 200...599) {
      found.append((.status(status), "answers every request with HTTP \(status)"))
    }
    if let close = try Self.close(&arguments, at: place ?? 0) { found.append(close) }
    let named = try arguments.choice(of: "--fault", Fault.self)
    if let named { found.append(Self.play(named, at: place ?? 0)) }
    guard found.count <= 1 else { throw arguments.usage("one way to misbehave at a time") }
    if place != nil {
      switch found.first?.fault {
      case .speech, .close: break
      case _: throw arguments.usage("--at is for --close and for faults that are frames")
      }
    }
    var compresses = arguments.flag("--compress")
    // It can be told from reserved bits only where compression was agreed.
    if named == .bomb { compresses = true }
    options = WebSocketServerOptions(
      compression: compresses ? try Self.compression(arguments) : nil,
      fields: try arguments.headers(), fault: found.first?.fault ?? .none
    ) { request in
      // The client's preference counts.
      .accept(subprotocol: request.subprotocols.first(where: names.contains))
    }
    behaviour = found.first?.words
    hint = names.map { " --protocol \($0)" }.joined() + (compresses ? " --compress" : "")
  }

  private static func compression(
    _ arguments: ArgumentList
  ) throws(Failure) -> WebSocketCompression {
    do throws(WebSocketCompressionError) {
      return try WebSocketCompression()
    } catch {
      throw arguments.usage("\(error)")
    }
  }

  /// Reads `--close CODE[:REASON]`.
  private static func close(
    _ arguments: inout ArgumentList, at place: Int
  ) throws(Failure) -> (WebSocketFault, String)? {
    guard let text = try arguments.value(of: "--close") else { return nil }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let reason = parts.count > 1 ? String(parts[1]) : ""
    guard let code = UInt16(parts[0]), reason.utf8.count <= 123 else {
      throw arguments.usage(
        "--close “\(text)” is no CODE or CODE:REASON with a code up to 65535 and a reason of at "
          + "most 123 bytes")
    }
    let words = "closes with \(code)" + (reason.isEmpty ? "" : " “\(reason.printable)”")
    return (.close(code, reason: reason, atMessage: place), words + when(place))
  }

  private static func when(_ place: Int) -> String {
    place == 0 ? " right after the handshake" : " instead of its message \(place)"
  }

  private static func play(_ fault: Fault, at place: Int) -> (WebSocketFault, String) {
    func frame(_ bytes: [UInt8], _ words: String) -> (WebSocketFault, String) {
      (.speech(bytes, atMessage: place), words + when(place))
    }
    switch fault {
    case .slowAnswer:
      return (.slowAnswer(.milliseconds(10)), "answers the handshake byte by byte, 10 ms apart")
    case .endlessAnswer: return (.endlessAnswer, "never ends its answer to the handshake")
    case .masked: return frame(ServerBytes.masked, "sends a masked frame")
    case .reserved: return frame(ServerBytes.reservedBits, "sends a frame with reserved bits")
    case .oversized:
      return frame(ServerBytes.header(declaring: 1 << 40), "announces a frame of 1 TiB")
    case .badText: return frame(ServerBytes.invalidText, "sends text that is no UTF-8")
    case .splitText:
      return frame(ServerBytes.splitScalar, "sends a character cut in two, which is legal,")
    case .endlessMessage:
      return (
        .flood(ServerBytes.fragment, again: ServerBytes.nextFragment),
        "sends a message whose fragments never end"
      )
    case .bomb:
      return frame(ServerBytes.bomb(megabytes: 64), "sends 64 KiB that inflate to 64 MiB")
    case .pingFlood:
      return (.flood([], again: ServerBytes.ping), "sends pings as fast as they are taken")
    case .silentClose: return (.silentAtClose, "never answers a close")
    case .openClose: return (.openAfterClose, "answers a close, and keeps the stream open")
    case .lateMessage: return (.talkAfterClose, "sends a message behind its close")
    }
  }
}
