#if os(Linux)
  import COpenSSL
  package import ConnectionFSM

  /// What the TLS streams of a server share. For tests and demonstrations.
  ///
  /// ```swift
  /// let listener = TCPListener(loop: loop) { tcp in
  ///   let stream = context.accept(tcp, on: loop)
  ///   let connection = Echo(stream)            // keeps the stream, and observes it
  ///   return stream.start(observer: connection)
  /// }
  /// ```
  package struct TLSServerContext: Sendable {
    private let context: TLSContext

    /// Reads and checks everything.
    /// - Parameters:
    ///   - identity: What clients are shown.
    ///   - clientAuthorities: Who must have signed the certificate that each client then needs; nil
    ///     demands none.
    ///   - applicationProtocols: What is spoken above TLS, the preferred first. A client that
    ///     speaks none of them is refused (RFC 7301 section 3.2), one without ALPN is not.
    ///   - maximumVersion: The newest version that is spoken.
    /// - Throws: ``TLSError``.
    package init(
      identity: TLSIdentity, clientAuthorities: PEM? = nil, applicationProtocols: [String] = [],
      maximumVersion: TLSVersion = .v13
    ) throws(TLSError) {
      context = try TLSContext(.accepting)
      try context.identify(by: identity)
      if let clientAuthorities { try context.demandCertificate(signedBy: clientAuthorities) }
      if maximumVersion == .v12 { cssl_set_maximum_version(context.raw, TLS1_2_VERSION) }
      try context.offer(applicationProtocols)
      try context.select()
    }

    /// Puts TLS over a connection that was accepted; `TLSStream.start(observer:)` begins it.
    /// - Parameter handshakeDeadline: How long a client may take; nil is no limit.
    package func accept<Base>(
      _ base: Base, on loop: any EventLoop, handshakeDeadline: TimeSpan? = nil
    ) -> TLSStream<Base> {
      let stream = TLSStream<Base>(loop: loop, handshakeLimit: handshakeDeadline) {
        [context] () throws(TLSError) -> TLSSession in try TLSSession(context)
      }
      stream.base = base
      return stream
    }
  }

  extension TLSContext {
    /// Chooses among the client's protocols by the own order, and lets clients come back to their
    /// sessions.
    fileprivate func select() throws(TLSError) {
      if !applicationProtocols.isEmpty {
        // Lives as long as the OpenSSL context, which is freed by its owner.
        SSL_CTX_set_alpn_select_cb(
          raw, selectProtocol, Unmanaged.passUnretained(self).toOpaque())
      }
      // Without a name of its own, sessions with client certificates are refused.
      let name = Array("connection-fsm".utf8)
      guard SSL_CTX_set_session_id_context(raw, name, UInt32(name.count)) == 1 else {
        throw .configuration("TLS", "cannot be set up", QueuedError.take())
      }
    }
  }

  private let selectProtocol:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
      UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
    ) -> Int32 = { _, selected, length, offered, count, context in
      guard let context, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
      let own = Unmanaged<TLSContext>.fromOpaque(context).takeUnretainedValue()
        .applicationProtocols
      let theirs = UnsafeBufferPointer(start: offered, count: Int(count))
      for name in names(in: own[...]) {
        guard let match = names(in: theirs[...]).first(where: { $0.elementsEqual(name) }) else {
          continue
        }
        // Into the client's list, which outlives this call.
        selected?.pointee = UnsafeBufferPointer(rebasing: match).baseAddress
        length?.pointee = UInt8(match.count)
        return SSL_TLSEXT_ERR_OK
      }
      return SSL_TLSEXT_ERR_ALERT_FATAL
    }

  /// The names in a list of ALPN: each has its length before it.
  private func names<List: RandomAccessCollection<UInt8>>(in list: List) -> [List.SubSequence]
  where List.SubSequence: RandomAccessCollection<UInt8> {
    var names: [List.SubSequence] = []
    var rest = list[...]
    while let length = rest.first {
      rest = rest.dropFirst()
      names.append(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
    }
    return names
  }
#endif
