import Testing
import Transports

@Suite("F26: what is agreed on about compression")
struct CompressionNegotiationTests {
  private static let name = "permessage-deflate"

  private static func agreement(
    client: Bool = true, server: Bool = true, _ clientBits: Int = 15, _ serverBits: Int = 15
  ) -> DeflateAgreement {
    DeflateAgreement(
      clientTakesContextOver: client, serverTakesContextOver: server,
      clientWindowBits: clientBits, serverWindowBits: serverBits)
  }

  /// All of what may be chosen of the bits and the takeovers.
  private static func choices() throws -> [WebSocketCompression] {
    var choices: [WebSocketCompression] = []
    for client in 9...15 {
      for server in [nil, 9, 12, 15] as [Int?] {
        for takes in [(true, true), (true, false), (false, true), (false, false)] {
          choices.append(
            try WebSocketCompression(
              clientWindowBits: client, serverWindowBits: server,
              clientTakesContextOver: takes.0, serverTakesContextOver: takes.1))
        }
      }
    }
    return choices
  }

  // MARK: Options

  @Test("F26: an argument out of its range is named, with what it may be")
  func arguments() throws {
    func description(_ make: () throws -> WebSocketCompression) -> String? {
      do { _ = try make() } catch { return "\(error)" }
      return nil
    }
    for level in 0...9 { #expect(try WebSocketCompression(level: level).level == level) }
    #expect(description { try .init(level: -1) } == "level: is -1; give 0 to 9")
    #expect(description { try .init(level: 10) } == "level: is 10; give 0 to 9")
    #expect(description { try .init(threshold: -1) } == "threshold: is -1; give 0 or more")
    #expect(
      description { try .init(clientWindowBits: 8) }
        == "clientWindowBits: is 8; give 9 to 15; zlib cannot deflate with 8")
    #expect(
      description { try .init(clientWindowBits: 16) } == "clientWindowBits: is 16; give 9 to 15")
    #expect(
      description { try .init(serverWindowBits: 8) }
        == "serverWindowBits: is 8; give 9 to 15; zlib cannot deflate with 8")
    #expect(
      description { try .init(serverWindowBits: 16) } == "serverWindowBits: is 16; give 9 to 15")
  }

  @Test(
    "F26: an offer says what differs from the usual, and always lets the server bound our window")
  func offers() throws {
    #expect(try WebSocketCompression().offer == "permessage-deflate; client_max_window_bits")
    #expect(
      try WebSocketCompression(
        clientWindowBits: 10, serverWindowBits: 15, clientTakesContextOver: false,
        serverTakesContextOver: false
      ).offer
        == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
        + "server_max_window_bits=15; client_max_window_bits=10")
  }

  // MARK: A client's side

  private func agreed(
    _ answer: String..., on compression: WebSocketCompression
  ) throws -> DeflateAgreement? {
    try compression.agreement(answering: answer)
  }

  @Test("F26: a legal answer is obeyed")
  func answers() throws {
    let usual = try WebSocketCompression()
    #expect(try usual.agreement(answering: []) == nil)
    #expect(try agreed(Self.name, on: usual) == Self.agreement())
    #expect(try agreed("", " \(Self.name) ", on: usual) == Self.agreement())
    #expect(
      try agreed("\(Self.name); server_no_context_takeover", on: usual)
        == Self.agreement(server: false))
    #expect(
      try agreed("\(Self.name); client_no_context_takeover", on: usual)
        == Self.agreement(client: false))
    for bits in 8...15 {
      #expect(
        try agreed("\(Self.name); server_max_window_bits=\(bits)", on: usual)
          == Self.agreement(15, bits))
    }
    for bits in 9...15 {
      #expect(
        try agreed(#"\#(Self.name); client_max_window_bits="\#(bits)""#, on: usual)
          == Self.agreement(bits, 15))
    }
  }

  @Test("F26: what the client says of itself holds, whether the server repeats it or not")
  func hints() throws {
    let modest = try WebSocketCompression(clientWindowBits: 10, clientTakesContextOver: false)
    let expected = Self.agreement(client: false, 10, 15)
    #expect(try agreed(Self.name, on: modest) == expected)
    #expect(try agreed("\(Self.name); client_max_window_bits=15", on: modest) == expected)
    #expect(
      try agreed("\(Self.name); client_max_window_bits=9", on: modest)
        == Self.agreement(client: false, 9, 15))
  }

  private func problem(
    _ answer: String..., on compression: WebSocketCompression
  ) -> DeflateAnswerError? {
    do throws(DeflateAnswerError) { _ = try compression.agreement(answering: answer) } catch {
      return error
    }
    return nil
  }

  @Test("F26: an illegal answer is a typed error")
  func illegalAnswers() throws {
    let usual = try WebSocketCompression()
    func expect(
      _ parameters: String, _ error: DeflateAnswerError,
      on compression: WebSocketCompression? = nil,
      _ location: SourceLocation = #_sourceLocation
    ) {
      let found = problem("\(Self.name)\(parameters)", on: compression ?? usual)
      #expect(found == error, sourceLocation: location)
    }
    let malformed = ExtensionHeaderError(line: 0, offset: 19, problem: .tokenMissing)
    expect(";", .malformed(malformed))
    expect("x", .unknownExtension("permessage-deflatex"))
    expect(", x-webkit-deflate-frame", .unknownExtension("x-webkit-deflate-frame"))
    #expect(problem("Permessage-Deflate", on: usual) == .unknownExtension("Permessage-Deflate"))
    expect(", permessage-deflate", .repeatedExtension)
    #expect(problem(Self.name, Self.name, on: usual) == .repeatedExtension)
    expect("; foo", .unknownParameter("foo"))
    expect("; Client_max_window_bits=9", .unknownParameter("Client_max_window_bits"))
    for name in ["server_no_context_takeover", "client_no_context_takeover"] {
      expect("; \(name); \(name)", .repeatedParameter(name))
      expect("; \(name)=1", .badValue(name, value: "1"))
    }
    for name in ["server_max_window_bits", "client_max_window_bits"] {
      expect("; \(name)=10; \(name)=10", .repeatedParameter(name))
      expect("; \(name)", .valueMissing(name))
      for value in ["7", "16", "0", "09", "010", "+9", "-9", "9.0", "0x9", "99999999999999999999"] {
        expect("; \(name)=\(value)", .badValue(name, value: value))
      }
    }
    expect("; client_max_window_bits=8", .windowTooSmall(bits: 8))
    let demanding = try WebSocketCompression(serverWindowBits: 11, serverTakesContextOver: false)
    expect("; server_max_window_bits=11", .notAccepted("server_no_context_takeover"), on: demanding)
    expect("; server_no_context_takeover", .notAccepted("server_max_window_bits"), on: demanding)
    expect(
      "; server_no_context_takeover; server_max_window_bits=12",
      .windowTooWide(bits: 12, offered: 11), on: demanding)
  }

  @Test("F26: an error's words name the header, the fault and the mend, and stay short")
  func descriptions() {
    #expect(
      "\(DeflateAnswerError.windowTooSmall(bits: 8))"
        == "Sec-WebSocket-Extensions: client_max_window_bits is 8, and zlib deflates with 9 to 15; "
        + "raise it at the server, or offer no compression")
    #expect(
      "\(DeflateAnswerError.unknownExtension(String(repeating: "x", count: 9000)))".count < 200)
    #expect(
      "\(DeflateAnswerError.badValue("a", value: String(repeating: "x", count: 9000)))".count < 200)
    let error = ExtensionHeaderError(line: 0, offset: 3, problem: .tokenMissing)
    #expect("\(DeflateAnswerError.malformed(error))" == "\(error)")
  }

  // MARK: A server's side

  private func answer(
    _ offers: String..., by compression: WebSocketCompression
  ) throws -> (DeflateAgreement, answer: String)? {
    try compression.answer(offers: offers)
  }

  @Test("F26: a server accepts by repeating what it must")
  func serverAnswers() throws {
    let usual = try WebSocketCompression()
    for (offer, expected) in [
      ("", ""), ("; client_max_window_bits", ""),
      ("; server_no_context_takeover", "; server_no_context_takeover"),
      ("; client_no_context_takeover", "; client_no_context_takeover"),
      ("; server_max_window_bits=15", "; server_max_window_bits=15"),
      ("; server_max_window_bits=\"9\"", "; server_max_window_bits=9"),
      ("; client_max_window_bits=8", "; client_max_window_bits=8"),
      ("; client_max_window_bits=15", ""),
    ] {
      #expect(try answer(Self.name + offer, by: usual)?.answer == Self.name + expected)
    }
    let modest = try WebSocketCompression(
      clientWindowBits: 10, serverWindowBits: 11, clientTakesContextOver: false,
      serverTakesContextOver: false)
    let met = try answer("\(Self.name); client_max_window_bits", by: modest)
    #expect(met?.0 == Self.agreement(client: false, server: false, 10, 11))
    #expect(
      met?.answer
        == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
        + "server_max_window_bits=11; client_max_window_bits=10")
  }

  @Test("F26: the first offer that can be met is; others, and other extensions, are passed over")
  func firstOffer() throws {
    let usual = try WebSocketCompression()
    #expect(try usual.answer(offers: []) == nil)
    for illegal in [
      "x-webkit-deflate-frame", "\(Self.name); foo", "\(Self.name); server_max_window_bits",
      "\(Self.name); server_max_window_bits=8", "\(Self.name); client_max_window_bits=16",
      "\(Self.name); client_max_window_bits; client_max_window_bits",
      "\(Self.name); client_no_context_takeover=true",
    ] {
      #expect(try answer(illegal, by: usual) == nil)
      let second = "\(Self.name); server_max_window_bits=10"
      #expect(try answer("\(illegal), \(second), \(Self.name)", by: usual)?.answer == second)
      #expect(try answer(illegal, second, Self.name, by: usual)?.answer == second)
    }
    // The client's window can be bounded only where it said so.
    let bounding = try WebSocketCompression(clientWindowBits: 10)
    #expect(try answer(Self.name, by: bounding) == nil)
    let met = try answer(Self.name, "\(Self.name); client_max_window_bits", by: bounding)
    #expect(met?.0 == Self.agreement(10, 15))
    #expect(throws: ExtensionHeaderError.self) { try answer("\(Self.name);", by: usual) }
  }

  @Test("F26: whatever either side chooses, both agree on the same, or on nothing")
  func bothSides() throws {
    let choices = try Self.choices()
    var agreements = 0
    for client in choices {
      for server in choices {
        guard let (mine, text) = try server.answer(offers: [client.offer]) else {
          Issue.record("\(client.offer) cannot be met")
          continue
        }
        let theirs = try client.agreement(answering: [text])
        #expect(theirs == mine)
        #expect(mine.clientWindowBits <= min(client.clientWindowBits, server.clientWindowBits))
        agreements += 1
      }
    }
    #expect(agreements == choices.count * choices.count)
  }
}
