#if os(Linux)
  import COpenSSL

  /// Certificates, or a key, in PEM (RFC 7468): `-----BEGIN CERTIFICATE-----` …
  public enum PEM: Hashable, Sendable {
    /// The text itself.
    case text(String)
    /// A file of such text. It is read once, when what it is for is made.
    case file(String)
  }

  /// A certificate chain and the private key of its first certificate.
  public struct TLSIdentity: Hashable, Sendable {
    /// The own certificate first, then those between it and the authority, in order.
    public var certificates: PEM
    /// The private key, which must not be encrypted.
    public var key: PEM

    /// Makes an identity; a ``TLSConfiguration`` reads it.
    public init(certificates: PEM, key: PEM) {
      self.certificates = certificates
      self.key = key
    }
  }

  /// Owns a reference to a certificate. Unchecked: not changed once it is made or read.
  final class Certificate: @unchecked Sendable {
    private let raw: OpaquePointer

    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { X509_free(raw) }

    /// Lends the pointer for the time of the call: the optimizer would let go of an owner that is
    /// not mentioned any more, and so free what the pointer leads to.
    func lend<Result>(_ body: (OpaquePointer) -> Result) -> Result {
      withExtendedLifetime(self) { body(raw) }
    }
  }

  /// Owns a reference to a key. Unchecked: not changed once it is made or read.
  final class Key: @unchecked Sendable {
    private let raw: OpaquePointer

    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { EVP_PKEY_free(raw) }

    /// Lends the pointer, as a certificate does.
    func lend<Result>(_ body: (OpaquePointer) -> Result) -> Result {
      withExtendedLifetime(self) { body(raw) }
    }
  }

  extension PEM {
    /// Reads all certificates, of which there must be one at least.
    /// - Parameter part: What they are for, to be named in an error.
    func certificates(for part: String) throws(TLSError) -> [Certificate] {
      let source = try open(for: part)
      defer { BIO_free(source) }
      var certificates: [Certificate] = []
      while let raw = PEM_read_bio_X509(source, nil, refusePassword, nil) {
        certificates.append(Certificate(owning: raw))
      }
      let error = QueuedError.take()
      // That no further block begins is how the end is told.
      if let error, error.reason != PEM_R_NO_START_LINE {
        throw .configuration(part, "of \(self) holds a broken certificate; make it anew", error)
      }
      guard !certificates.isEmpty else {
        throw .configuration(
          part, "of \(self) holds no certificate; it needs -----BEGIN CERTIFICATE-----")
      }
      return certificates
    }

    /// Reads the private key.
    func key(for part: String) throws(TLSError) -> Key {
      let source = try open(for: part)
      defer { BIO_free(source) }
      guard let raw = PEM_read_bio_PrivateKey(source, nil, refusePassword, nil) else {
        throw .configuration(
          part,
          "of \(self) holds no private key that can be read; one that is encrypted is decrypted by "
            + "openssl pkey -in KEY -out PLAIN", QueuedError.take())
      }
      return Key(owning: raw)
    }

    private func open(for part: String) throws(TLSError) -> OpaquePointer {
      ERR_clear_error()
      let source: OpaquePointer?
      switch self {
      case .file(let path): source = BIO_new_file(path, "r")
      case .text(let text):
        source = BIO_new(BIO_s_mem())
        let bytes = Array(text.utf8)
        if let source { BIO_write(source, bytes, Int32(clamping: bytes.count)) }
      }
      guard let source else {
        throw .configuration(
          part, "of \(self) cannot be read; check the path and its permissions",
          QueuedError.take())
      }
      return source
    }
  }

  extension PEM: CustomStringConvertible, CustomReflectable {
    /// Shows nothing, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }

    /// Where it is from; a text may be a secret and is not shown.
    public var description: String {
      switch self {
      case .text: "the given text"
      case .file(let path): "“\(path)”"
      }
    }
  }

  /// In place of OpenSSL's own, which would ask on the terminal.
  private func refusePassword(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
  ) -> Int32 { -1 }
#endif
