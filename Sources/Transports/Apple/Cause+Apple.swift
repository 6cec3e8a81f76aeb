package import ConnectionFSM

// Errors of Apple's frameworks by domain and number, on their way to a symbol: pure and total, and
// compiled everywhere, so that they are tested everywhere (I15).

extension Cause {
  /// The cause behind an `NSError`.
  package init(domain: String, code: Int) {
    self =
      switch domain {
      case "NSURLErrorDomain": .loading(LoadingError(code: code))
      case "NSPOSIXErrorDomain": .system(SystemError(errno: Int32(truncatingIfNeeded: code)))
      case "NSOSStatusErrorDomain": Cause(secureTransportStatus: Int32(truncatingIfNeeded: code))
      // What no table knows: transient, with a bounded budget.
      default: .system(.other)
      }
  }

  /// The cause behind a `kDNSServiceErr` (dns_sd.h) of a look-up.
  package init(dnsServiceError code: Int32) {
    self =
      switch code {
      // NoSuchName, NoSuchRecord
      case -65_538, -65_554: .resolution(.unknownName)
      case -65_539: .resolution(.outOfMemory)
      // BadParam, BadReference, BadState, BadFlags, Unsupported, Invalid, BadInterfaceIndex
      case -65_544 ... -65_540, -65_549, -65_552: .resolution(.misconfigured)
      // Firewall, NoAuth, PolicyDenied (the privacy of local networks), NotPermitted
      case -65_550, -65_555, -65_570, -65_571: .system(.accessDenied)
      // Refused
      case -65_553: .resolution(.permanentFailure)
      // Timeout, Transient, ServiceNotRunning, NoRouter …
      default: .resolution(.temporaryFailure)
      }
  }

  /// The cause behind an `errSSL` (SecureTransport.h) or `errSec` (SecBase.h) of a TLS handshake.
  package init(secureTransportStatus status: Int32) {
    self =
      switch status {
      // CertExpired, CertNotYetValid, CertificateExpired, CertificateNotValidYet
      case -9_814, -9_815, -67_818, -67_819: .tls(.expired)
      // HostNameMismatch, in both files
      case -9_843, -67_602: .tls(.hostMismatch)
      // XCertChainInvalid, BadCert, UnknownRootCert, NoRootCert, NotTrusted
      case -9_808, -9_807, -9_813, -9_812, -67_843: .tls(.untrusted)
      // PeerBadCert, PeerUnsupportedCert, PeerCertRevoked, PeerCertExpired, PeerCertUnknown,
      // PeerUnknownCA, PeerAccessDenied: it is our certificate that the peer does not take.
      case -9_829 ... -9_825, -9_831, -9_832: .tls(.certificateRequired)
      // Negotiation, BadCipherSuite, PeerHandshakeFail, PeerProtocolVersion,
      // PeerInsufficientSecurity
      case -9_801, -9_818, -9_824, -9_836, -9_837: .tls(.noCommonVersion)
      // ClosedGraceful, ClosedNoNotify
      case -9_805, -9_816: .tls(.closed)
      // ClosedAbort
      case -9_806: .tls(.reset)
      default: .tls(.internalError)
      }
  }
}
