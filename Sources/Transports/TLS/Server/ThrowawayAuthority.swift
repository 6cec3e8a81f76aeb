#if os(Linux)
  import COpenSSL

  /// A certificate authority that lives as long as the process, and what it signs. For tests and
  /// demonstrations: the keys are in memory alone, in clear.
  package struct ThrowawayAuthority: Sendable {
    /// When a certificate is valid.
    package enum Validity {
      /// Since an hour ago, for thirty days.
      case current
      /// It was, until yesterday.
      case over
      /// It will be, from tomorrow on.
      case notBegun
    }

    /// What a certificate may be used for.
    package enum Use: String {
      case server = "serverAuth"
      case client = "clientAuth"
    }

    /// Its own certificate, to be trusted or pinned.
    package let certificate: PEM
    private let owner: Signed
    /// Of authorities between it and the root.
    private let chain: String

    /// Makes one that signed itself.
    package init(name: String = "Throwaway Authority") throws(TLSError) {
      owner = try Signed(name, Self.authority, validity: .current, by: nil)
      certificate = .text(try owner.certificateText())
      chain = ""
    }

    private init(owner: Signed, chain: String) throws(TLSError) {
      self.owner = owner
      self.chain = try owner.certificateText() + chain
      certificate = .text(try owner.certificateText())
    }

    private static let authority: [(Int32, String)] = [
      (NID_basic_constraints, "critical,CA:TRUE"),
      (NID_key_usage, "critical,keyCertSign,cRLSign"),
      (NID_subject_key_identifier, "hash"),
    ]

    /// Makes an authority that this one has signed. What it issues brings its certificate along.
    package func intermediate(_ name: String) throws(TLSError) -> ThrowawayAuthority {
      try ThrowawayAuthority(
        owner: Signed(name, Self.authority, validity: .current, by: owner), chain: chain)
    }

    /// Signs a certificate with a new key.
    /// - Parameters:
    ///   - commonName: Its subject, for people to read; nil is the first name or address.
    ///   - names: DNS names it is for.
    ///   - addresses: Addresses it is for.
    package func issue(
      commonName: String? = nil, names: [String] = [], addresses: [String] = [],
      for use: Use = .server, validity: Validity = .current
    ) throws(TLSError) -> TLSIdentity {
      let leaf = try Signed(
        commonName ?? names.first ?? addresses.first ?? "client", Self.leaf(names, addresses, use),
        validity: validity, by: owner)
      return TLSIdentity(
        certificates: .text(try leaf.certificateText() + chain), key: .text(try leaf.keyText()))
    }

    /// Makes a certificate that nobody but itself has signed.
    package static func selfSigned(
      names: [String] = [], addresses: [String] = [], validity: Validity = .current
    ) throws(TLSError) -> TLSIdentity {
      let leaf = try Signed(
        names.first ?? addresses.first ?? "nobody", Self.leaf(names, addresses, .server),
        validity: validity, by: nil)
      return TLSIdentity(
        certificates: .text(try leaf.certificateText()), key: .text(try leaf.keyText()))
    }

    private static func leaf(
      _ names: [String], _ addresses: [String], _ use: Use
    ) -> [(Int32, String)] {
      var extensions = [
        (NID_basic_constraints, "critical,CA:FALSE"),
        (NID_key_usage, "critical,digitalSignature"), (NID_ext_key_usage, use.rawValue),
      ]
      let all = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
      if !all.isEmpty {
        extensions.append((NID_subject_alt_name, all.joined(separator: ",")))
      }
      return extensions
    }
  }

  /// A certificate and its key.
  private struct Signed: Sendable {
    let certificate: Certificate
    let key: Key

    init(
      _ name: String, _ extensions: [(Int32, String)], validity: ThrowawayAuthority.Validity,
      by issuer: Signed?
    ) throws(TLSError) {
      ERR_clear_error()
      // Fast to make, and what public authorities issue, too.
      guard let rawKey = cssl_new_key("P-256") else { throw Self.failure() }
      key = Key(owning: rawKey)
      guard let raw = X509_new() else { throw Self.failure() }
      certificate = Certificate(owning: raw)
      var isMade = X509_set_version(raw, 2) == 1
      // OpenSSL tells certificates of one issuer apart by their numbers.
      isMade =
        isMade
        && ASN1_INTEGER_set_uint64(X509_get_serialNumber(raw), .random(in: 1 ... .max)) == 1
      let hour = 3600
      let (from, to) =
        switch validity {
        case .current: (-hour, 30 * 24 * hour)
        case .over: (-48 * hour, -24 * hour)
        case .notBegun: (24 * hour, 48 * hour)
        }
      isMade = isMade && X509_gmtime_adj(X509_getm_notBefore(raw), from) != nil
      isMade = isMade && X509_gmtime_adj(X509_getm_notAfter(raw), to) != nil
      isMade = isMade && key.lend({ X509_set_pubkey(raw, $0) }) == 1
      isMade =
        isMade
        && X509_NAME_add_entry_by_txt(
          X509_get_subject_name(raw), "CN", MBSTRING_UTF8, name, -1, -1, 0) == 1
      let signer = issuer ?? self
      isMade =
        isMade
        && signer.certificate.lend({ X509_set_issuer_name(raw, X509_get_subject_name($0)) }) == 1
      isMade = isMade && signer.certificate.lend { Self.extend(raw, extensions, signer: $0) }
      guard isMade, signer.key.lend({ X509_sign(raw, $0, EVP_sha256()) }) > 0 else {
        throw Self.failure()
      }
    }

    private static func extend(
      _ certificate: OpaquePointer, _ extensions: [(Int32, String)], signer: OpaquePointer
    ) -> Bool {
      var context = X509V3_CTX()
      X509V3_set_ctx(&context, signer, certificate, nil, nil, 0)
      return extensions.allSatisfy { kind, value in
        guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_add_ext(certificate, made, -1) == 1
      }
    }

    func certificateText() throws(TLSError) -> String {
      try Self.written { sink in certificate.lend { PEM_write_bio_X509(sink, $0) } == 1 }
    }

    func keyText() throws(TLSError) -> String {
      try Self.written { sink in
        key.lend { PEM_write_bio_PrivateKey(sink, $0, nil, nil, 0, nil, nil) } == 1
      }
    }

    private static func written(_ write: (OpaquePointer) -> Bool) throws(TLSError) -> String {
      guard let sink = BIO_new(BIO_s_mem()) else { throw failure() }
      defer { BIO_free(sink) }
      var bytes: UnsafeMutablePointer<CChar>?
      guard write(sink), case let count = cssl_memory(sink, &bytes), let bytes else {
        throw failure()
      }
      return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private static func failure() -> TLSError {
      .configuration("certificate", "could not be made", QueuedError.take())
    }
  }
#endif
