import ConnectionFSM
import Testing
import Transports

@Suite("Errors of Apple's frameworks, by domain and number")
struct AppleErrorTests {
  @Test(
    "F14: an error of a domain has the symbol of that domain, whatever the number means elsewhere",
    arguments: [
      ("NSURLErrorDomain", -1009, Cause.loading(.notConnectedToInternet)),
      ("NSURLErrorDomain", -1001, .loading(.timedOut)),
      ("NSURLErrorDomain", -1202, .loading(.serverCertificateUntrusted)),
      ("NSURLErrorDomain", -1, .loading(.other)),
      ("NSPOSIXErrorDomain", 13, .system(.accessDenied)),
      ("NSOSStatusErrorDomain", -9_843, .tls(.hostMismatch)),
      ("kCFErrorDomainCFNetwork", -1009, .system(.other)),
      ("", 0, .system(.other)),
    ])
  func domain(_ domain: String, _ code: Int, _ cause: Cause) {
    #expect(Cause(domain: domain, code: code) == cause)
  }

  @Test(
    "F14: a look-up's error has its class",
    arguments: [
      (Int32(-65_538), Cause.resolution(.unknownName), FailureClass.transient),
      (-65_554, .resolution(.unknownName), .transient),
      (-65_570, .system(.accessDenied), .terminal),
      (-65_540, .resolution(.misconfigured), .terminal),
      (-65_544, .resolution(.misconfigured), .terminal),
      (-65_568, .resolution(.temporaryFailure), .transient),
      (-65_539, .resolution(.outOfMemory), .transient),
      (-65_537, .resolution(.temporaryFailure), .transient),
    ])
  func lookup(_ code: Int32, _ cause: Cause, _ failureClass: FailureClass) {
    #expect(Cause(dnsServiceError: code) == cause)
    #expect(cause.failureClass == failureClass)
  }

  @Test(
    "F14, F19: a handshake's error has its reason",
    arguments: [
      (Int32(-9_814), TLSFailure.expired), (-67_818, .expired), (-9_843, .hostMismatch),
      (-67_602, .hostMismatch), (-9_807, .untrusted), (-9_808, .untrusted), (-67_843, .untrusted),
      (-9_825, .certificateRequired), (-9_829, .certificateRequired), (-9_824, .noCommonVersion),
      (-9_836, .noCommonVersion), (-9_805, .closed), (-9_806, .reset), (-9_810, .internalError),
      (0, .internalError),
    ])
  func handshake(_ status: Int32, _ failure: TLSFailure) {
    #expect(Cause(secureTransportStatus: status) == .tls(failure))
  }

  @Test("I15: the tables are total: any domain and number gives a cause")
  func total() {
    var random = SplitMix64(seed: 15)
    for _ in 0..<20_000 {
      let number = Int(bitPattern: UInt(random.next()))
      let near = Int32(truncatingIfNeeded: number % 70_000)
      for domain in ["NSURLErrorDomain", "NSPOSIXErrorDomain", "NSOSStatusErrorDomain", "?"] {
        _ = Cause(domain: domain, code: number)
        _ = Cause(domain: domain, code: Int(near))
      }
      _ = Cause(dnsServiceError: near)
      _ = Cause(secureTransportStatus: near)
    }
  }
}
