import ConnectionFSM
import Testing
import Transports

/// How a handshake goes with these bytes, given in pieces of the same size.
private func run(
  _ handshake: any ProxyHandshake, _ bytes: [UInt8], piece: Int = .max
) -> (progress: ProxyProgress, taken: Int, output: [UInt8]) {
  var handshake = handshake
  var output: [UInt8] = []
  handshake.start(into: &output)
  var place = 0
  while place < bytes.count {
    let part = Array(bytes[place..<min(bytes.count, place + min(piece, bytes.count))])
    let progress = handshake.receive(part.span.bytes, into: &output)
    switch progress {
    case .goesOn: place += part.count
    case .isDone(let taken): return (.isDone(taken: 0), place + taken, output)
    case .failed: return (progress, handshake.offset, output)
    }
  }
  return (.goesOn, place, output)
}

@Suite("F18: HTTP CONNECT")
struct ConnectHandshakeTests {
  private let target = Endpoint(host: "example.com", port: 443)

  private func connect(
    _ answer: String, piece: Int = .max
  ) throws -> (progress: ProxyProgress, taken: Int, output: [UInt8]) {
    let handshake = try #require(ConnectHandshake(target: target, credentials: nil))
    return run(handshake, Array(answer.utf8), piece: piece)
  }

  private func text(_ target: Endpoint, _ credentials: ProxyCredentials?) throws -> String {
    var handshake = try #require(ConnectHandshake(target: target, credentials: credentials))
    var output: [UInt8] = []
    handshake.start(into: &output)
    return String(decoding: output, as: UTF8.self)
  }

  @Test("asks for host and port, in brackets for version 6, with Basic credentials (RFC 7617)")
  func request() throws {
    #expect(
      try text(target, nil)
        == "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
    // The example of RFC 7617 section 2.
    let aladdin = try ProxyCredentials(user: "Aladdin", password: "open sesame")
    #expect(
      try text(Endpoint(host: "2001:db8::1", port: 8080), aladdin)
        == "CONNECT [2001:db8::1]:8080 HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n"
        + "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n")
    // And that of section 2.1, in UTF-8.
    let test = try ProxyCredentials(user: "test", password: "123\u{A3}")
    #expect(try text(target, test).contains("Basic dGVzdDoxMjPCow==\r\n"))
  }

  @Test("a host that would break the request is refused before a byte is said")
  func unusable() {
    let hosts = [
      "", "a b", "a\r\nEvil: 1", "a\0b", "fe80::1%eth0", "bücher.example", "a/b", "a@b",
      String(repeating: "x", count: 256),
    ]
    for host in hosts {
      let target = Endpoint(host: host, port: 1)
      #expect(ConnectHandshake(target: target, credentials: nil) == nil)
      #expect(SOCKS5Handshake(target: target, credentials: nil) == nil)
    }
    for target in [
      Endpoint(host: "a", port: 0), Endpoint(scheme: "tls", host: "a", port: 1),
      Endpoint(unixSocket: "/run/a"),
    ] {
      #expect(ConnectHandshake(target: target, credentials: nil) == nil)
    }
  }

  @Test("2xx goes on, and what stands behind the blank line is the tunnel's, in any split")
  func success() throws {
    let answers = [
      "HTTP/1.1 200 Connection established\r\n\r\n",
      "HTTP/1.0 200\r\n\r\n",
      "HTTP/1.1 204 \r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 299 Gr\u{FC}\u{DF}e\nVia: 1.1 proxy\n\n",
      "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ]
    for answer in answers {
      for piece in 1...answer.utf8.count {
        let (progress, taken, _) = try connect(answer + "SSH-2.0 first words", piece: piece)
        #expect(progress == .isDone(taken: 0))
        #expect(taken == answer.utf8.count)
      }
      for end in 0..<answer.utf8.count {
        let (progress, _, _) = try connect(String(decoding: answer.utf8.prefix(end), as: UTF8.self))
        #expect(progress == .goesOn)
      }
    }
  }

  @Test("every other status is its cause; 407 asks for credentials once, then is terminal")
  func statuses() throws {
    for status: UInt16 in [300, 302, 400, 401, 403, 404, 407, 429, 500, 502, 503, 504, 599, 101] {
      let (progress, _, _) = try connect("HTTP/1.1 \(status) No\r\n\r\n")
      #expect(progress == .failed(.http(status: status), .status(status)))
    }
    #expect(Cause.http(status: 407).verdict() == .terminal.refreshing)
    let fields: [(String, UInt16?)] = [
      ("Retry-After: 17", 17), ("retry-after:\t120 ", 120), ("Retry-After: 9999999", .max),
      ("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT", nil), ("Retry-After: -1", nil),
      ("Retry-After:", nil),
    ]
    for (field, seconds) in fields {
      let (progress, _, _) = try connect("HTTP/1.1 503 Busy\r\n\(field)\r\n\r\n")
      #expect(progress == .failed(.http(status: 503, retryAfter: seconds), .status(503)))
    }
  }

  @Test("RFC 9112: what is no HTTP is told at its first byte that is not")
  func garbage() throws {
    let cases = [
      ("SSH-2.0-OpenSSH", 0), ("HTTP/2 200\r\n\r\n", 5), ("HTTP/1.x 200 OK\r\n\r\n", 7),
      ("HTTP/1.1  200 OK\r\n\r\n", 9), ("HTTP/1.1 2OO OK\r\n\r\n", 10),
      ("HTTP/1.1 2000 OK\r\n\r\n", 12), ("HTTP/1.1 600 No\r\n\r\n", 16),
      ("HTTP/1.1 099 No\r\n\r\n", 16), ("HTTP/1.1 20\r\n\r\n", 11), ("\r\nHTTP/1.1 200 OK\r\n", 0),
      ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", 26), ("HTTP/1.1 200 OK\r\n: x\r\n\r\n", 21),
      ("HTTP/1.1 200 OK\r\nA b: x\r\n\r\n", 24), ("HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", 22),
      ("HTTP/1.1 200 O\rK\r\n\r\n", 17), ("\u{16}\u{3}\u{1}", 0),
    ]
    for (answer, offset) in cases {
      for piece in [1, 5, 4096] {
        let (progress, _, _) = try connect(answer, piece: piece)
        #expect(progress == .failed(.protocolError, .garbled(offset: offset)), "\(answer)")
      }
    }
  }

  @Test("I21: a header beyond 16 KiB and interim answers without end are cut")
  func bounds() throws {
    let limit = ConnectHandshake.headerLimit
    let long = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: limit)
    let tooLong = ProxyProgress.failed(.protocolError, .headerTooLong(limit: limit))
    #expect(try connect(long).progress == tooLong)
    let start = "HTTP/1.1 200 OK\r\nA: "
    let whole = start + String(repeating: "x", count: limit - start.utf8.count - 4) + "\r\n\r\n"
    #expect(try connect(whole).progress == .isDone(taken: 0))
    #expect(whole.utf8.count == limit)
    let interim = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 9)
    #expect(
      try connect(interim).progress
        == .failed(
          .protocolError, .tooManyInterimAnswers(limit: ConnectHandshake.interimLimit)))
  }

  @Test("I13: 3000 drawn answers end alike in every split, and none traps")
  func drawn() throws {
    let words = [
      "HTTP/1.1 ", "200", "407", "100", " OK", "\r\n", "\n", "\r", "A: b", ":", "Retry-After: 5",
      "\0", "x", "\r\n\r\n", "HTTP/1.1 200 OK\r\n",
    ]
    for seed in UInt64(1)...3000 {
      var dice = SplitMix64(seed: seed)
      var answer = ""
      for _ in 0..<(1 + dice.next(through: 11)) {
        answer += words[Int(dice.next(through: UInt64(words.count - 1)))]
      }
      let whole = try connect(answer)
      for piece in 1...4 {
        let cut = try connect(answer, piece: piece)
        #expect(cut.progress == whole.progress, "seed \(seed)")
        #expect(cut.taken == whole.taken, "seed \(seed)")
      }
    }
  }
}

@Suite("F18: SOCKS5")
struct SOCKS5HandshakeTests {
  private let target = Endpoint(host: "example.com", port: 443)
  private let bound: [UInt8] = [5, 0, 0, 1, 10, 0, 0, 1, 0x1F, 0x90]

  private func socks(
    _ bytes: [UInt8], target: Endpoint? = nil, credentials: ProxyCredentials? = nil,
    piece: Int = .max
  ) throws -> (progress: ProxyProgress, taken: Int, output: [UInt8]) {
    let handshake = SOCKS5Handshake(target: target ?? self.target, credentials: credentials)
    return run(try #require(handshake), bytes, piece: piece)
  }

  @Test("passes the name to the proxy, an address as its bytes, and keeps what comes behind")
  func requests() throws {
    let cases: [(Endpoint, [UInt8])] = [
      (target, [3, 11] + Array("example.com".utf8) + [1, 187]),
      (Endpoint(host: "192.0.2.7", port: 256), [1, 192, 0, 2, 7, 1, 0]),
      (
        Endpoint(host: "2001:db8::1", port: 1),
        [4, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]
      ),
    ]
    let bounds: [[UInt8]] = [
      bound, [5, 0, 0, 3, 4] + Array("host".utf8) + [0, 1],
      [5, 0, 0, 4] + [UInt8](repeating: 9, count: 18), [5, 0, 0, 3, 0, 0, 1],
    ]
    for (target, address) in cases {
      for bound in bounds {
        for piece in 1...(bound.count + 2) {
          let (progress, taken, output) = try socks(
            [5, 0] + bound + [5, 0, 1], target: target, piece: piece)
          #expect(progress == .isDone(taken: 0))
          #expect(taken == 2 + bound.count)
          #expect(output == [5, 1, 0] + [5, 1, 0] + address)
        }
      }
    }
  }

  @Test("RFC 1929: tells user and password if the proxy wants them, and not otherwise")
  func authentication() throws {
    let credentials = try ProxyCredentials(user: "ada", password: "pw")
    let wanted = try socks([5, 2, 1, 0] + bound, credentials: credentials, piece: 1)
    #expect(wanted.progress == .isDone(taken: 0))
    #expect(wanted.output.starts(with: [5, 2, 0, 2, 1, 3, 97, 100, 97, 2, 112, 119, 5, 1, 0, 3]))
    let unwanted = try socks([5, 0] + bound, credentials: credentials)
    #expect(unwanted.output.starts(with: [5, 2, 0, 2, 5, 1, 0, 3]))
    let refused = try socks([5, 2, 1, 1], credentials: credentials)
    #expect(refused.progress == .failed(.credentialsRefused, .credentialsRefused))
    for answer: [UInt8] in [[5, 0xFF], [5, 2], [5, 1]] {
      #expect(try socks(answer).progress == .failed(.credentialsRefused, .noMethod))
    }
    #expect(Cause.credentialsRefused.failureClass == .terminal)
  }

  @Test("each reply is the cause that fits it")
  func replies() throws {
    let table: [(UInt8, Cause, FailureClass)] = [
      (1, .system(.other), .transient), (2, .system(.accessDenied), .terminal),
      (3, .system(.hostUnreachable), .transient), (4, .system(.hostUnreachable), .transient),
      (5, .system(.connectionRefused), .transient), (6, .system(.hostUnreachable), .transient),
      (7, .protocolError, .terminal), (8, .unsupportedEndpoint, .terminal),
      (9, .protocolError, .terminal), (255, .protocolError, .terminal),
    ]
    for (code, cause, failureClass) in table {
      let (progress, _, _) = try socks([5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0])
      #expect(progress == .failed(cause, .reply(code)))
      #expect(cause.failureClass == failureClass)
    }
  }

  @Test("what is no SOCKS5 is told with its place")
  func garbage() throws {
    let cases: [([UInt8], Int, UInt8)] = [
      (Array("HTTP/1.1 400".utf8), 0, 72), ([4, 0], 0, 4), ([5, 0, 4], 2, 4),
      ([5, 0, 5, 0, 0, 2, 0, 0, 0, 0, 0, 0], 5, 2),
    ]
    for (bytes, offset, byte) in cases {
      for piece in [1, 100] {
        #expect(
          try socks(bytes, piece: piece).progress
            == .failed(.protocolError, .notSOCKS5(offset: offset, byte: byte)))
      }
    }
    let credentials = try ProxyCredentials(user: "a", password: "b")
    #expect(
      try socks([5, 2, 5], credentials: credentials).progress
        == .failed(.protocolError, .notSOCKS5(offset: 2, byte: 5)))
  }

  @Test("I13: 3000 drawn answers end alike in every split, and none traps")
  func drawn() throws {
    let credentials = try ProxyCredentials(user: "a", password: "b")
    for seed in UInt64(1)...3000 {
      var dice = SplitMix64(seed: seed)
      let bytes = (0..<30).map { _ in [5, 0, 1, 2, 3, 4, 255][Int(dice.next(through: 6))] as UInt8 }
      let whole = try socks(bytes, credentials: credentials)
      for piece in 1...4 {
        let cut = try socks(bytes, credentials: credentials, piece: piece)
        #expect(cut.progress == whole.progress && cut.taken == whole.taken, "seed \(seed)")
      }
    }
  }
}
