#if os(Linux)
  import COpenSSL

  /// What all streams of one configuration share: versions, authorities, the own certificate.
  ///
  /// Unchecked: set up by its maker alone; after that OpenSSL itself guards what streams on several
  /// threads share.
  final class TLSContext: @unchecked Sendable {
    enum Role {
      case dialling, accepting
    }

    let role: Role
    let rules: VerificationRules
    let raw: OpaquePointer
    /// As they stand in ALPN: each with its length before it, the preferred one first.
    private(set) var applicationProtocols: [UInt8] = []

    init(_ role: Role, judgedBy rules: VerificationRules = VerificationRules()) throws(TLSError) {
      ERR_clear_error()
      let method = role == .dialling ? TLS_client_method() : TLS_server_method()
      guard let raw = SSL_CTX_new(method) else {
        throw .configuration("TLS", "cannot be set up; is libssl complete?", QueuedError.take())
      }
      self.role = role
      self.rules = rules
      self.raw = raw
      // Whatever openssl.cnf says: what is older is broken (RFC 8996).
      cssl_set_minimum_version(raw, TLS1_2_VERSION)
      // The peer could ask for handshakes without end (CVE-2011-1473); TLS 1.3 has none.
      SSL_CTX_set_options(raw, cssl_no_renegotiation)
      // An idle stream owns no record buffers, which are 34 KiB.
      cssl_release_buffers_when_idle(raw)
      SSL_CTX_set_verify(raw, role == .dialling ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
      SSL_CTX_set_cert_verify_callback(raw, verifyPeer, nil)
      guard role == .dialling else { return }
      SSL_CTX_set_cert_cb(raw, noteCertificateRequest, nil)
      cssl_cache_sessions_outside(raw)
      SSL_CTX_sess_set_new_cb(raw, keepSession)
    }

    deinit { SSL_CTX_free(raw) }
  }

  // MARK: Setting up

  extension TLSContext {
    func trustSystem() throws(TLSError) {
      ERR_clear_error()
      guard SSL_CTX_set_default_verify_paths(raw) == 1 else {
        throw .configuration(
          "trust", "cannot load the system's authorities; install ca-certificates, or give some",
          QueuedError.take())
      }
    }

    /// Trusts these and whom they have signed.
    func trust(_ authorities: PEM, for part: String) throws(TLSError) {
      let store = SSL_CTX_get_cert_store(raw)
      for certificate in try authorities.certificates(for: part) {
        ERR_clear_error()
        guard certificate.lend({ X509_STORE_add_cert(store, $0) }) == 1 else {
          throw .configuration(part, "of \(authorities) cannot be used", QueuedError.take())
        }
      }
      // Or one that is not its own issuer would be no root, and silently of no use.
      X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
    }

    /// Demands a certificate of the client that these have signed.
    func demandCertificate(signedBy authorities: PEM) throws(TLSError) {
      let part = "clientAuthorities"
      try trust(authorities, for: part)
      for certificate in try authorities.certificates(for: part) {
        _ = certificate.lend { SSL_CTX_add_client_CA(raw, $0) }
      }
      SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    func identify(by identity: TLSIdentity) throws(TLSError) {
      let part = "identity.certificates"
      let certificates = try identity.certificates.certificates(for: part)
      let key = try identity.key.key(for: "identity.key")
      ERR_clear_error()
      guard certificates[0].lend({ SSL_CTX_use_certificate(raw, $0) }) == 1,
        certificates.dropFirst().allSatisfy({ certificate in
          certificate.lend { cssl_add_chain_certificate(raw, $0) } == 1
        })
      else {
        throw .configuration(part, "cannot be used; keys must be strong", QueuedError.take())
      }
      guard key.lend({ SSL_CTX_use_PrivateKey(raw, $0) }) == 1,
        SSL_CTX_check_private_key(raw) == 1
      else {
        throw .configuration(
          "identity.key", "is not that of the first certificate; give the pair", QueuedError.take())
      }
    }

    func offer(_ protocols: [String]) throws(TLSError) {
      for name in protocols {
        let bytes = Array(name.utf8)
        guard (1...255).contains(bytes.count) else {
          throw .configuration(
            "applicationProtocols", "hold “\(name)”, which has not 1 to 255 bytes")
        }
        applicationProtocols.append(UInt8(bytes.count))
        applicationProtocols += bytes
      }
      guard !protocols.isEmpty else { return }
      // Of all functions, these two answer 0 for success.
      guard
        applicationProtocols.count <= Int(UInt16.max),
        SSL_CTX_set_alpn_protos(
          raw, applicationProtocols, UInt32(applicationProtocols.count)) == 0
      else {
        throw .configuration("applicationProtocols", "are too many; ALPN has room for 64 KiB")
      }
    }

    static func isAddress(_ text: String) -> Bool {
      guard let address = a2i_IPADDRESS(text) else {
        ERR_clear_error()
        return false
      }
      ASN1_OCTET_STRING_free(address)
      return true
    }
  }

  // MARK: What OpenSSL calls

  // All of them run inside a call that a session made, and find it by a pointer that owns nothing.

  private let verifyPeer: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
    store, _ in
    guard let store,
      let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    else { return 0 }
    return TLSSession.of(OpaquePointer(ssl))?.verifies(store) == true ? 1 : 0
  }

  private let noteCertificateRequest:
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
      TLSSession.of(ssl)?.wasAskedForCertificate = true
      return 1
    }

  private let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = {
    ssl, session in
    guard let session else { return 0 }
    // 1 says that the reference is kept.
    return TLSSession.of(ssl)?.keeps(session) == true ? 1 : 0
  }
#endif
