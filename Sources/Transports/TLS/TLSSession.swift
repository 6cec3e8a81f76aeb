#if os(Linux)
  import COpenSSL
  import ConnectionFSM

  /// One side of a TLS connection without its input and output: bytes of the stream below go in and
  /// come out through two rings of memory, those of the application through calls.
  ///
  /// Confined to one thread at a time. No call waits; one that lacks input or room says so and is
  /// repeated.
  final class TLSSession {
    /// How a call went.
    enum Step {
      case done
      /// More bytes of the peer's are needed.
      case wantsInput
      /// What is in ``output`` must leave before.
      case wantsOutput
      /// The peer has said that nothing more follows (close_notify).
      case ended
      /// It is over.
      case failed(TLSError)
    }

    private let context: TLSContext
    private let ssl: OpaquePointer
    /// Our end of the rings; the other end is OpenSSL's.
    private let network: OpaquePointer
    /// What the peer's certificates were refused for.
    private var refusal: TLSError?
    /// Set by OpenSSL's call when the server asks for a certificate of ours.
    var wasAskedForCertificate = false
    /// Where sessions of this server are kept.
    private var cache: (sessions: SessionCache, server: SessionCache.Server)?
    private var hasKeptSession = false
    /// After a failure nothing may be called any more but what reads the output.
    private var isBroken = false

    /// The most that one record carries (RFC 8446 section 5.1).
    static let recordLimit = 1 << 14
    // Room for a record with all that any cipher adds, and on the way out for answers to KeyUpdates
    // beside it. More would save calls of the system's, and cost each idle stream memory.
    private static let inputSize = recordLimit + 1024
    private static let outputSize = recordLimit + 2048

    /// - Throws: ``TLSError`` when memory is short.
    init(_ context: TLSContext) throws(TLSError) {
      ERR_clear_error()
      guard let ssl = SSL_new(context.raw) else { throw Self.failure() }
      var inner: OpaquePointer?
      var outer: OpaquePointer?
      guard BIO_new_bio_pair(&inner, Self.outputSize, &outer, Self.inputSize) == 1, let outer
      else {
        SSL_free(ssl)
        throw Self.failure()
      }
      SSL_set_bio(ssl, inner, inner)
      self.context = context
      self.ssl = ssl
      network = outer
      SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
      switch context.role {
      case .dialling: SSL_set_connect_state(ssl)
      case .accepting: SSL_set_accept_state(ssl)
      }
    }

    deinit {
      SSL_free(ssl)
      BIO_free(network)
    }

    private static func failure() -> TLSError {
      TLSError(
        .failure(.tls(.internalError)), "OpenSSL gave no session; is memory short?",
        reason: QueuedError.take()?.text)
    }

    /// The session behind a pointer that OpenSSL passes to its callbacks.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
      guard let ssl, let pointer = SSL_get_ex_data(ssl, 0) else { return nil }
      return Unmanaged<TLSSession>.fromOpaque(pointer).takeUnretainedValue()
    }
  }

  // MARK: Who the peer must be

  extension TLSSession {
    /// Says whose certificate is expected, and resumes a session with it if there is one that would
    /// be made today as it was then.
    func expect(_ server: SessionCache.Server, sessions: SessionCache) throws(TLSError) {
      let name = server.name
      let parameters = SSL_get0_param(ssl)
      // No certificate speaks for f*.example.org, nor by its subject in place of its names (RFC
      // 9525 sections 6.3 and 2).
      X509_VERIFY_PARAM_set_hostflags(
        parameters,
        UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
      let isSet =
        name.isAddress
        ? X509_VERIFY_PARAM_set1_ip_asc(parameters, name.text) == 1
        : X509_VERIFY_PARAM_set1_host(parameters, name.text, name.text.utf8.count) == 1
          && cssl_set_server_name(ssl, name.text) == 1
      guard isSet else { throw Self.failure() }
      cache = (sessions, server)
      while let session = sessions.take(for: server) {
        defer { SSL_SESSION_free(session) }
        guard SSL_SESSION_is_resumable(session) == 1, SSL_set_session(ssl, session) == 1 else {
          continue
        }
        // A handshake that resumes shows no certificate. That of then is judged by the rules, the
        // pins and the date of now.
        if isStillGood(session) { break }
        SSL_set_session(ssl, nil)
      }
      ERR_clear_error()
    }

    private func isStillGood(_ session: OpaquePointer) -> Bool {
      guard let leaf = SSL_SESSION_get0_peer(session), let store = X509_STORE_CTX_new() else {
        return false
      }
      defer { X509_STORE_CTX_free(store) }
      // Of the SSL, whose session it is by now.
      let chain = SSL_get_peer_cert_chain(ssl)
      guard X509_STORE_CTX_init(store, SSL_CTX_get_cert_store(context.raw), leaf, chain) == 1,
        X509_STORE_CTX_set_default(store, "ssl_server") == 1
      else { return false }
      let parameters = X509_STORE_CTX_get0_param(store)
      X509_VERIFY_PARAM_set_auth_level(parameters, SSL_get_security_level(ssl))
      guard X509_VERIFY_PARAM_set1(parameters, SSL_get0_param(ssl)) == 1 else { return false }
      return context.rules.judge(store) == nil
    }

    /// Called by OpenSSL with the peer's certificates.
    func verifies(_ store: OpaquePointer) -> Bool {
      refusal = context.rules.judge(store)
      return refusal == nil
    }

    /// Called by OpenSSL with a session that may be resumed later.
    func keeps(_ session: OpaquePointer) -> Bool {
      guard let cache else { return false }
      cache.sessions.insert(session, of: cache.server)
      hasKeptSession = true
      return true
    }
  }

  // MARK: The handshake

  extension TLSSession {
    func handshake() -> Step {
      let step = perform { SSL_do_handshake(ssl) }
      // Before TLS 1.3 the same session is resumed again and again, and is not given anew.
      if case .done = step, isResumed, version == .v12, !hasKeptSession, let cache,
        let session = SSL_get1_session(ssl)
      {
        cache.sessions.insert(session, of: cache.server)
      }
      return step
    }

    var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    var version: TLSVersion { SSL_version(ssl) == TLS1_2_VERSION ? .v12 : .v13 }

    var applicationProtocol: String? {
      var name: UnsafePointer<UInt8>?
      var length: UInt32 = 0
      SSL_get0_alpn_selected(ssl, &name, &length)
      guard let name, length > 0 else { return nil }
      return String(
        decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }
  }

  // MARK: The application's bytes

  extension TLSSession {
    /// Decrypts into the buffer, from the given offset: at most one record.
    func read(into buffer: UnsafeMutableRawBufferPointer, count: inout Int) -> Step {
      count = 0
      return perform { SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count) }
    }

    /// Whether something can be read: `done` if so.
    func look() -> Step {
      guard SSL_pending(ssl) == 0 else { return .done }
      var byte: UInt8 = 0
      var count = 0
      return perform { SSL_peek_ex(ssl, &byte, 1, &count) }
    }

    /// Encrypts at most ``recordLimit`` bytes, once ``output`` is empty: then they fit, and are
    /// taken as a whole. A call that took them and yet had to be repeated would bind whoever writes
    /// to the same bytes.
    func write(_ bytes: UnsafeRawBufferPointer) -> Step {
      var count = 0
      return perform { SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count) }
    }

    /// Says that nothing more will be written (close_notify). False if it must be repeated once
    /// there is room.
    func sayGoodbye() -> Bool {
      guard !isBroken else { return true }
      ERR_clear_error()
      let result = SSL_shutdown(ssl)
      guard result < 0 else { return true }
      return SSL_get_error(ssl, result) != SSL_ERROR_WANT_WRITE
    }

    private func perform(_ call: () -> Int32) -> Step {
      // What another call left there would be taken for this one's.
      ERR_clear_error()
      let result = call()
      guard result <= 0 else { return .done }
      switch SSL_get_error(ssl, result) {
      case SSL_ERROR_WANT_READ: return .wantsInput
      case SSL_ERROR_WANT_WRITE: return .wantsOutput
      case SSL_ERROR_ZERO_RETURN: return .ended
      case _:
        isBroken = true
        let queued = QueuedError.take()
        return .failed(
          refusal ?? TLSError(queued, askedForCertificate: wasAskedForCertificate))
      }
    }
  }

  // MARK: The stream's bytes

  extension TLSSession {
    /// Lets a stream read into the ring.
    func receive(_ read: (inout MutableRawSpan) -> ReadResult) -> ReadResult {
      var place: UnsafeMutablePointer<CChar>?
      let room = BIO_nwrite0(network, &place)
      guard room > 0, let place else { return .wouldBlock }
      var bytes = UnsafeMutableRawBufferPointer(start: place, count: Int(room)).mutableBytes
      let result = read(&bytes)
      if case .bytes(let count) = result {
        var ignored: UnsafeMutablePointer<CChar>?
        BIO_nwrite(network, &ignored, Int32(count))
      }
      return result
    }

    /// What is to be written to the stream next; valid until the next call of any kind.
    var output: UnsafeRawBufferPointer? {
      var place: UnsafeMutablePointer<CChar>?
      let count = BIO_nread0(network, &place)
      guard count > 0 else { return nil }
      return UnsafeRawBufferPointer(start: place, count: Int(count))
    }

    /// The stream took so much of ``output``.
    func dropOutput(_ count: Int) {
      var ignored: UnsafeMutablePointer<CChar>?
      BIO_nread(network, &ignored, Int32(count))
    }
  }
#endif
