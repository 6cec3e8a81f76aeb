#if os(Linux)
  import COpenSSL
  public import ConnectionFSM

  /// Why a ``TLSConfiguration`` cannot be used, or what stands behind a failure of TLS; with the
  /// mend.
  public struct TLSError: Error, Sendable, Equatable {
    /// What it is about.
    public enum Kind: Hashable, Sendable {
      /// This part of a configuration: `pins`, `identity.key`, …
      case configuration(String)
      /// A stream that failed with this cause.
      case failure(Cause)
    }

    /// What it is about.
    public let kind: Kind
    /// What is wrong, and what to do about it.
    public let problem: String
    /// OpenSSL's own words for it, if it had any.
    public let reason: String?
    /// OpenSSL's code for what is wrong with the certificate (`X509_V_ERR_…`, as in
    /// `openssl verify`); nil if nothing is.
    public let verifyCode: Int32?
    /// Whose certificate it is, as in RFC 4514: `CN=example.org,O=Example`. As the peer sent it.
    public let subject: String?

    init(
      _ kind: Kind, _ problem: String, reason: String? = nil, verifyCode: Int32? = nil,
      subject: String? = nil
    ) {
      self.kind = kind
      self.problem = problem
      self.reason = reason
      self.verifyCode = verifyCode
      self.subject = subject
    }

    static func configuration(
      _ part: String, _ problem: String, _ queued: QueuedError? = nil
    ) -> TLSError {
      TLSError(.configuration(part), problem, reason: queued?.text)
    }

    /// The cause of a stream's failure. What is wrong with a configuration is no stream's, and
    /// redialling does not mend it.
    var cause: Cause {
      switch kind {
      case .configuration: .unsupportedEndpoint
      case .failure(let cause): cause
      }
    }
  }

  extension TLSError: CustomStringConvertible {
    public var description: String {
      var text =
        switch kind {
        case .configuration(let part): "\(part) \(problem)"
        case .failure(let cause): "\(cause): \(problem)"
        }
      if let subject { text += "; certificate “\(subject)”" }
      if let reason { text += " (OpenSSL: \(reason))" }
      return text
    }
  }

  /// The error that OpenSSL left on this thread.
  struct QueuedError {
    /// The number of the reason within its library.
    let reason: Int32
    let text: String

    private static let sslLibrary = Int32(ERR_LIB_SSL)

    /// Takes it away. Of several, that of the TLS library says most; else the first is the root.
    static func take() -> QueuedError? {
      var best: UInt?
      while true {
        let code = ERR_get_error()
        guard code != 0 else { break }
        if best == nil { best = code }
        if ERR_GET_LIB(code) == sslLibrary, best.map({ ERR_GET_LIB($0) }) != sslLibrary {
          best = code
        }
      }
      guard let best else { return nil }
      let text = ERR_reason_error_string(best).map { String(cString: $0) }
      return QueuedError(reason: ERR_GET_REASON(best), text: text ?? "error \(best)")
    }
  }

  extension TLSError {
    /// What a call of the TLS library has failed with, other than by verification.
    init(_ queued: QueuedError?, askedForCertificate: Bool) {
      let reason = queued?.reason ?? 0
      // What the peer's alert says, one byte, is offset by 1000; OpenSSL's common reasons lie
      // above.
      let isAlert = (SSL_AD_REASON_OFFSET + 1...SSL_AD_REASON_OFFSET + 255).contains(reason)
      let (failure, problem) =
        isAlert
        ? Self.alert(reason - SSL_AD_REASON_OFFSET, askedForCertificate)
        : Self.own(reason)
      self.init(
        .failure(failure.map { .tls($0) } ?? .protocolError), problem, reason: queued?.text)
    }

    /// What an alert of the peer's means (RFC 8446 section 6.2, RFC 5246 section 7.2.2).
    private static func alert(
      _ number: Int32, _ askedForCertificate: Bool
    ) -> (TLSFailure?, String) {
      switch number {
      case SSL_AD_HANDSHAKE_FAILURE where askedForCertificate, TLS13_AD_CERTIFICATE_REQUIRED:
        (
          .certificateRequired,
          "the peer demands a certificate of ours; give one with TLSConfiguration.identity"
        )
      case SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED,
        SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA,
        SSL_AD_ACCESS_DENIED:
        (
          .certificateRequired,
          "the peer refused our certificate; give one that its authority signed and that is valid"
        )
      case SSL_AD_HANDSHAKE_FAILURE, SSL_AD_PROTOCOL_VERSION, SSL_AD_INSUFFICIENT_SECURITY:
        (
          .noCommonVersion,
          "the peer shares no version or cipher with us; it needs TLS 1.2 or later"
        )
      case SSL_AD_NO_APPLICATION_PROTOCOL:
        (.noCommonVersion, "the peer speaks none of our application protocols")
      case SSL_AD_UNRECOGNIZED_NAME:
        (.hostMismatch, "the peer does not serve that name; check TLSConfiguration.serverName")
      case SSL_AD_INTERNAL_ERROR: (.internalError, "the peer reports a fault of its own")
      case SSL_AD_USER_CANCELLED: (.closed, "the peer broke off the handshake")
      case _: (nil, "the peer says that we broke the protocol (alert \(number))")
      }
    }

    /// What our side found wrong with the peer's bytes.
    private static func own(_ reason: Int32) -> (TLSFailure?, String) {
      switch reason {
      case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_NO_SHARED_CIPHER,
        SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_DH_KEY_TOO_SMALL, SSL_R_VERSION_TOO_LOW,
        SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SUITABLE_KEY_SHARE,
        SSL_R_UNSAFE_LEGACY_RENEGOTIATION_DISABLED:
        (
          .noCommonVersion,
          "the two sides share no version or cipher; the peer needs TLS 1.2 or later"
        )
      case SSL_R_NO_APPLICATION_PROTOCOL:
        (.noCommonVersion, "the peer speaks none of our application protocols")
      case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        (.certificateRequired, "the peer gave no certificate, and this side demands one")
      case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
        (nil, "the peer does not speak TLS; check the port")
      case Int32(ERR_R_MALLOC_FAILURE), Int32(ERR_R_INTERNAL_ERROR), 0:
        (.internalError, "OpenSSL failed on this side")
      case _: (nil, "the peer broke the protocol, or bytes were damaged on the way")
      }
    }
  }
#endif
