#if os(Linux)
  import COpenSSL
  import ConnectionFSM

  /// By what rules, beyond those that OpenSSL has, a peer's certificates are judged.
  struct VerificationRules {
    let pins: Set<PublicKeyPin>
    /// Pinned keys take the place of authorities.
    let pinsAreAnchors: Bool

    /// OpenSSL's alone.
    init() {
      pins = []
      pinsAreAnchors = false
    }

    init(_ trust: TLSConfiguration.Trust, _ pins: Set<PublicKeyPin>) {
      self.pins = pins
      pinsAreAnchors = trust == .pinsAlone
    }
  }

  extension VerificationRules {
    /// Judges what the context holds.
    /// - Returns: What is wrong; nil if the certificates are good.
    func judge(_ store: OpaquePointer) -> TLSError? {
      guard pinsAreAnchors else {
        if let error = verify(store) { return error }
        // The chain that was verified, and not what the peer sent: to that anybody may append the
        // certificate whose key is pinned.
        guard pins.isEmpty || has(pinned: X509_STORE_CTX_get0_chain(store)) else {
          return unpinned(store)
        }
        return nil
      }
      // A certificate with a pinned key is believed as an authority is, and so is what its key has
      // signed. One that merely stands beside a stranger's leaf is of no use to that leaf.
      guard let anchors = cssl_new_certificates() else { return outOfMemory }
      defer { cssl_free_certificates(anchors) }
      collectPinned(X509_STORE_CTX_get0_untrusted(store), into: anchors)
      guard cssl_certificate_count(anchors) > 0 else { return unpinned(store) }
      X509_STORE_CTX_set0_trusted_stack(store, anchors)
      X509_VERIFY_PARAM_set_flags(
        X509_STORE_CTX_get0_param(store), UInt(X509_V_FLAG_PARTIAL_CHAIN))
      return verify(store)
    }

    private func isPinned(_ certificate: OpaquePointer) -> Bool {
      PublicKeyPin(of: certificate).map(pins.contains) == true
    }

    private func has(pinned chain: OpaquePointer?) -> Bool {
      guard let chain else { return false }
      return (0..<cssl_certificate_count(chain)).contains { index in
        cssl_certificate(chain, index).map(isPinned) == true
      }
    }

    private func collectPinned(_ chain: OpaquePointer?, into anchors: OpaquePointer) {
      guard let chain else { return }
      for index in 0..<cssl_certificate_count(chain) {
        if let certificate = cssl_certificate(chain, index), isPinned(certificate) {
          _ = cssl_append_certificate(anchors, certificate)
        }
      }
    }

    private func verify(_ store: OpaquePointer) -> TLSError? {
      guard X509_verify_cert(store) != 1 else { return nil }
      return TLSError(
        verifyCode: X509_STORE_CTX_get_error(store),
        certificate: X509_STORE_CTX_get_current_cert(store) ?? X509_STORE_CTX_get0_cert(store))
    }

    private func unpinned(_ store: OpaquePointer) -> TLSError {
      // Or the peer would be told that all is well.
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
      return TLSError(
        verifyCode: X509_V_ERR_APPLICATION_VERIFICATION,
        certificate: X509_STORE_CTX_get0_cert(store))
    }

    private var outOfMemory: TLSError { TLSError(.failure(.tls(.internalError)), "out of memory") }
  }

  extension TLSError {
    /// What a code of verification means.
    init(verifyCode code: Int32, certificate: OpaquePointer?) {
      let (failure, problem) = Self.meaning(of: code, certificate)
      self.init(
        .failure(.tls(failure)), problem,
        reason: X509_verify_cert_error_string(Int(code)).map { String(cString: $0) },
        verifyCode: code, subject: certificate.flatMap(Self.subject))
    }

    private static func meaning(
      of code: Int32, _ certificate: OpaquePointer?
    ) -> (TLSFailure, String) {
      switch code {
      case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD:
        (.expired, "the certificate's time is over; its owner must renew it")
      case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD:
        (.expired, "the certificate's time has not begun; check this machine's clock")
      case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
        (
          .hostMismatch,
          "the certificate is for \(certificate.flatMap(names) ?? "no name"); dial such a name, or "
            + "give it as TLSConfiguration.serverName"
        )
      case X509_V_ERR_APPLICATION_VERIFICATION:
        (
          .pinMismatch,
          "no key of the chain is pinned; if the server has a new key on purpose, add "
            + (certificate.flatMap(PublicKeyPin.init(of:)).map { "\($0)" } ?? "its pin")
        )
      case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        (
          .untrusted,
          "nobody whom we trust has signed the certificate, it signed itself; give it as "
            + "TLSConfiguration.Trust.authorities, or pin its key"
        )
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
        X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        (
          .untrusted,
          "nobody whom we trust has signed the certificate; give the authority as "
            + "TLSConfiguration.Trust.authorities, install ca-certificates, or let the server send "
            + "its whole chain"
        )
      case X509_V_ERR_OUT_OF_MEM: (.internalError, "out of memory")
      case _: (.untrusted, "the certificate cannot be trusted; its owner must replace it")
      }
    }

    /// What stands in a certificate about its owner; without control characters, since these are
    /// the peer's words.
    private static func subject(of certificate: OpaquePointer) -> String? {
      written { sink in
        X509_NAME_print_ex(sink, X509_get_subject_name(certificate), 0, cssl_name_format) >= 0
      }
    }

    /// The names it is for: `DNS:example.org, IP Address:192.0.2.1`.
    private static func names(of certificate: OpaquePointer) -> String? {
      let place = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
      guard place >= 0, let names = X509_get_ext(certificate, place) else { return nil }
      return written { X509V3_EXT_print($0, names, 0, 0) == 1 }
    }

    /// At most 500 bytes of it: it is for a log.
    private static func written(_ write: (OpaquePointer) -> Bool) -> String? {
      guard let sink = BIO_new(BIO_s_mem()) else { return nil }
      defer { BIO_free(sink) }
      guard write(sink) else { return nil }
      var bytes = [UInt8](repeating: 0, count: 500)
      let count = BIO_read(sink, &bytes, Int32(bytes.count))
      guard count > 0 else { return nil }
      // Names are written as they are, whatever is in them.
      let shown = bytes.prefix(Int(count)).map {
        (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?")
      }
      return String(decoding: shown, as: UTF8.self)
    }
  }
#endif
