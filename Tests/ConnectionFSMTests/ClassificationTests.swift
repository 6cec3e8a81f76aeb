import ConnectionFSM
import Testing

// The rows are written out by hand, in the notation of the tables: T transient, W the network's, X
// terminal, and their modifiers: "T +cap 5", "X +auth", "T +after 5...30".

@Suite("Classification")
struct ClassificationTests {
  /// Causes and the row they have.
  struct Row: CustomTestStringConvertible, Sendable {
    let verdict: String
    let causes: [Cause]
    var circumstances = Circumstances(path: .up, reach: .notOpen)
    var testDescription: String { "\(causes[0]) …: \(verdict)" }

    init(_ verdict: String, _ causes: Cause...) {
      (self.verdict, self.causes) = (verdict, causes)
    }

    init(_ verdict: String, codes: [ClosedRange<UInt16>]) {
      self.verdict = verdict
      causes = codes.flatMap { $0.map { .closedByPeer(CloseCode($0)) } }
    }

    init(_ verdict: String, statuses: [ClosedRange<UInt16>]) {
      self.verdict = verdict
      causes = statuses.flatMap { $0.map { .http(status: $0) } }
    }

    func on(_ path: PathStatus, _ reach: Circumstances.Reach = .notOpen) -> Row {
      var copy = self
      copy.circumstances = Circumstances(path: path, reach: reach)
      return copy
    }
  }

  static let closeCodes = [
    Row("X", codes: [0...999]),
    Row("T", codes: [1000...1001]),
    Row("X +cap 1", codes: [1002...1002]),
    Row("X", codes: [1003...1003]),
    Row("X", codes: [1004...1004]),
    Row("T", codes: [1005...1006]),
    Row("W", codes: [1006...1006]).on(.down),
    Row("X +cap 1", codes: [1007...1007]),
    Row("X +auth", codes: [1008...1008]),
    Row("T +cap 2", codes: [1009...1009]),
    Row("X", codes: [1010...1010]),
    Row("T +cap 5", codes: [1011...1011]),
    Row("T +after 5...30", codes: [1012...1012]),
    Row("T +after 30...60", codes: [1013...1013]),
    Row("T", codes: [1014...1014]),
    Row("X", codes: [1015...1015]),
    Row("X", codes: [1016...1999]),
    Row("X", codes: [2000...2999]),
    Row("X +auth", codes: [3000...3000]),
    Row("X", codes: [3003...3003]),
    Row("T", codes: [3008...3008]),
    Row("T +cap 5", codes: [3001...3002, 3004...3007, 3009...3999]),
    Row("T +cap 5", codes: [4000...4999]),
    Row("X", codes: [5000...65535]),
  ]

  static let system = [
    Row("T", .system(.connectionRefused)),
    Row("T", .system(.timedOut)),
    Row("T", .system(.hostUnreachable), .system(.hostDown)),
    Row("W", .system(.hostUnreachable), .system(.hostDown)).on(.down),
    Row("W", .system(.networkUnreachable)),
    Row("W", .system(.networkDown)),
    Row("T", .system(.networkReset)),
    Row("T", .system(.connectionReset)),
    Row("T", .system(.connectionReset)).on(.up, .open),
    Row("T +now", .system(.connectionReset)).on(.up, .stable),
    Row("T +now", .system(.connectionAborted)),
    Row("T", .system(.brokenPipe)),
    Row("T", .system(.notConnected)),
    Row("T +now", .system(.notConnected)).on(.up, .open),
    Row("T +now", .system(.notConnected)).on(.up, .stable),
    Row("W", .system(.notConnected)).on(.down, .open),
    Row("T +after 30...60", .system(.addressNotAvailable)),
    Row("T +cap 3", .system(.addressInUse)),
    Row("T +after 30...60", .system(.tooManyOpenFiles)),
    Row("T +after 30...60", .system(.noBufferSpace)),
    Row("X", .system(.accessDenied)),
    Row("X", .system(.accessDenied)).on(.down),
    Row("X", .system(.addressFamilyNotSupported)),
    Row("X", .system(.internalFault)),
    Row("T +cap 2", .system(.protocolFailure)),
    Row("T +cap 10", .system(.other)),
  ]

  static let resolver = [
    Row("T", .resolution(.temporaryFailure)),
    Row("W", .resolution(.temporaryFailure)).on(.down),
    Row("T +cap 3", .resolution(.unknownName)),
    Row("W", .resolution(.unknownName)).on(.down),
    Row("W", .resolution(.unknownName)).on(.unknown),
    Row("T +cap 3", .resolution(.permanentFailure)),
    Row("T +after 30...60", .resolution(.outOfMemory)),
    Row("X", .resolution(.misconfigured)),
  ]

  static let statuses = [
    Row("X +cap 1", statuses: [100...100, 102...103]),
    Row("X +cap 1", statuses: [101...101]),
    Row("X +cap 1", statuses: [104...199]),
    Row("X", statuses: [200...299]),
    Row("X", statuses: [301...303, 307...308]),
    Row("X", statuses: [300...300, 304...306, 309...399]),
    Row("X", statuses: [400...400, 405...406, 411...417, 431...431, 451...451]),
    Row("X", statuses: [402...402, 409...409, 418...420, 422...424, 427...428, 430...430]),
    Row("X", statuses: [432...450, 452...499]),
    Row("X +auth", statuses: [401...401]),
    Row("X", statuses: [403...403]),
    Row("X", statuses: [404...404]),
    Row("X +auth", statuses: [407...407]),
    Row("T", statuses: [408...408]),
    Row("X", statuses: [410...410]),
    Row("T +cap 1", statuses: [421...421]),
    Row("T", statuses: [425...425]),
    Row("X", statuses: [426...426]),
    Row("T +after 30...60", statuses: [429...429]),
    Row("T +after 8...10", .http(status: 429, retryAfter: 8)),
    Row("T", .http(status: 429, retryAfter: 0)),
    Row("T +cap 10", statuses: [500...500]),
    Row("X", statuses: [501...501, 505...506, 510...510]),
    Row("T", statuses: [502...502, 504...504]),
    Row("T", statuses: [503...503]),
    Row("T +after 120...150", .http(status: 503, retryAfter: 120)),
    Row("T +after 3600...4500", .http(status: 503, retryAfter: .max)),
    Row("W +after 120...150", .http(status: 503, retryAfter: 120)).on(.down),
    Row("W", statuses: [511...511]),
    Row("T +cap 10", statuses: [507...509, 512...599]),
    Row("X +cap 1", statuses: [0...99, 600...999]),
  ]

  static let others = [
    Row("X", .tls(.untrusted), .tls(.expired), .tls(.hostMismatch), .tls(.pinMismatch)),
    Row("X", .tls(.noCommonVersion), .tls(.certificateRequired)),
    Row("T", .tls(.reset), .tls(.closed)),
    Row("T", .tls(.internalError)),
    Row(
      "W", .loading(.notConnectedToInternet), .loading(.dataNotAllowed),
      .loading(.internationalRoamingOff)),
    Row(
      "T", .loading(.timedOut), .loading(.cannotConnectToHost),
      .loading(.networkConnectionLost), .loading(.secureConnectionFailed)),
    Row("T +cap 3", .loading(.cannotFindHost), .loading(.dnsLookupFailed)),
    Row("W", .loading(.cannotFindHost), .loading(.dnsLookupFailed)).on(.unknown),
    Row("X +cap 1", .loading(.badServerResponse)),
    Row(
      "X", .loading(.unsupportedURL), .loading(.badURL),
      .loading(.appTransportSecurityRequiresSecureConnection),
      .loading(.serverCertificateHasBadDate), .loading(.serverCertificateUntrusted),
      .loading(.serverCertificateHasUnknownRoot), .loading(.serverCertificateNotYetValid),
      .loading(.clientCertificateRejected), .loading(.clientCertificateRequired)),
    Row("T +cap 10", .loading(.other)),
    Row("T", .timedOut(.connect), .timedOut(.login), .timedOut(.pong), .timedOut(.credentials)),
    Row(
      "T", .timedOut(.resolution), .timedOut(.handshake), .timedOut(.read), .timedOut(.write)),
    Row("T +cap 3", .slowConsumer),
    Row("X +cap 1", .protocolError),
  ]

  /// What §8 has no row for, with what F05 and the cases say of it.
  static let own = [
    Row("X", .closedByUser),  // F05: user stop
    Row("W", .pathLost),  // F05: networkLost, wait
    Row("T", .closedByPeer(nil)),  // F05: server, retry
    Row("T", .replaced, .truncated),
    Row("X", .unsupportedEndpoint, .sessionRefused(.denied), .credentialsRefused),
    Row("X +auth", .sessionRefused(.credentials)),
    Row("T", .sessionRefused(.unavailable)),
    Row("T", .suspended),  // F05: suspended
    Row("T +now", .pathChanged),  // RC108
    Row("W", .localAddressLost),
    Row("T", .credentialsUnavailable),  // RC063
  ]

  @Test(
    "I7, I15, F14: every row of the tables",
    arguments: closeCodes + system + resolver + statuses + others + own)
  func rows(row: Row) {
    let verdicts = row.causes.map { notation(of: $0.verdict(in: row.circumstances)) }
    #expect(verdicts.allSatisfy { $0 == row.verdict }, "\(Set(verdicts))")
  }

  @Test("I7: every cause with a table of its own is in a row, and codes and statuses just once")
  func covers() {
    let causes = (Self.system + Self.resolver + Self.others + Self.own).flatMap(\.causes)
    let symbols: [Cause] =
      SystemError.allCases.map { .system($0) } + ResolutionError.allCases.map { .resolution($0) }
      + TLSFailure.allCases.map { .tls($0) } + LoadingError.allCases.map { .loading($0) }
      + Timeout.allCases.map { .timedOut($0) }
    #expect(symbols.allSatisfy(causes.contains))
    let codes = Self.closeCodes.filter { $0.circumstances.path == .up }.flatMap(\.causes)
    #expect(codes.count == 65_536 && Set(codes).count == 65_536)
    let statuses = Self.statuses.flatMap(\.causes)
    #expect((0...999).allSatisfy { statuses.contains(.http(status: $0)) })
  }

  @Test("I15: no code, status or Retry-After has a verdict out of bounds, on whatever path")
  func total() {
    let paths = PathStatus.allCases.flatMap { path in
      Circumstances.Reach.allCases.map { Circumstances(path: path, reach: $0) }
    }
    var broken: [Cause] = []
    for number in UInt16.min ... .max {
      let causes: [Cause] = [
        .closedByPeer(CloseCode(number)), .http(status: number),
        .http(status: 503, retryAfter: number),
      ]
      for cause in causes {
        for circumstances in paths where !isSane(cause.verdict(in: circumstances)) {
          broken.append(cause)
        }
      }
    }
    #expect(broken.isEmpty)
  }

  private func isSane(_ verdict: Verdict) -> Bool {
    verdict.minimumDelay >= .zero && verdict.minimumDelay <= .seconds(3600)
      && verdict.spread >= .zero && verdict.spread <= .seconds(3600)
      && (verdict.failureClass != .terminal || verdict.retryLimit != nil)
  }

  @Test("the codes of the URL loading system are read by symbol; a foreign one is other")
  func loadingCodes() {
    let table: [(Int, LoadingError)] = [
      (-1009, .notConnectedToInternet), (-1020, .dataNotAllowed),
      (-1018, .internationalRoamingOff), (-1001, .timedOut), (-1004, .cannotConnectToHost),
      (-1005, .networkConnectionLost), (-1200, .secureConnectionFailed),
      (-1003, .cannotFindHost), (-1006, .dnsLookupFailed), (-1011, .badServerResponse),
      (-1002, .unsupportedURL), (-1000, .badURL),
      (-1022, .appTransportSecurityRequiresSecureConnection),
      (-1201, .serverCertificateHasBadDate), (-1202, .serverCertificateUntrusted),
      (-1203, .serverCertificateHasUnknownRoot), (-1204, .serverCertificateNotYetValid),
      (-1205, .clientCertificateRejected), (-1206, .clientCertificateRequired),
      (-999, .other), (0, .other), (1, .other), (.min, .other), (.max, .other),
    ]
    for (code, symbol) in table { #expect(LoadingError(code: code) == symbol) }
  }

  @Test("causes are written with what was given")
  func descriptions() {
    #expect("\(Cause.http(status: 503))" == "http(503)")
    #expect("\(Cause.http(status: 503, retryAfter: 2))" == "http(503, retry after 2 s)")
    #expect("\(Cause.tls(.pinMismatch))" == "tls(pinMismatch)")
    #expect("\(Cause.loading(.timedOut))" == "loading(timedOut)")
    #expect("\(Cause.slowConsumer)" == "slowConsumer")
  }

  @Test("no input and no effect is larger for what a cause keeps")
  func sizes() {
    #expect(MemoryLayout<Input>.stride == 24)
    #expect(MemoryLayout<Effect>.stride == 32)
  }
}

/// A verdict in the notation of the tables; `+slow` is the `+after` that it stands for.
func notation(of verdict: Verdict) -> String {
  var text =
    switch verdict.failureClass {
    case .transient: "T"
    case .network: "W"
    case .terminal: "X"
    }
  if verdict.refreshesCredentials { text += " +auth" }
  if verdict.minimumDelay > .zero || verdict.spread > .zero {
    let first = verdict.minimumDelay.nanoseconds / 1_000_000_000
    text += " +after \(first)...\(first + verdict.spread.nanoseconds / 1_000_000_000)"
  }
  if verdict.retriesAtOnce { text += " +now" }
  if let limit = verdict.retryLimit, limit > 0 { text += " +cap \(limit)" }
  return text
}
