#if os(Linux)
  import COpenSSL

  /// The SHA-256 of a certificate's public key (its SubjectPublicKeyInfo, RFC 7469 section 2.4).
  ///
  /// It stays the same when the certificate is renewed with its key. That of a running server:
  ///
  /// ```sh
  /// openssl s_client -connect HOST:PORT -servername HOST </dev/null |
  ///   openssl x509 -pubkey -noout | openssl pkey -pubin -outform der |
  ///   openssl dgst -sha256 -binary | base64
  /// ```
  public struct PublicKeyPin: Hashable, Sendable {
    /// The 32 bytes of the hash.
    public let digest: [UInt8]

    private static let prefix = "sha256/"
    private static let size = 32

    /// Reads `sha256/` and 44 characters of base64.
    /// - Throws: ``TLSError`` of the part `pins`.
    public init(_ text: String) throws(TLSError) {
      let base64 = Array(text.utf8.dropFirst(Self.prefix.utf8.count))
      // Three bytes for four characters: one more than there are, since the last is padding.
      var bytes = [UInt8](repeating: 0, count: Self.size + 1)
      guard text.hasPrefix(Self.prefix), base64.count == 44,
        EVP_DecodeBlock(&bytes, base64, 44) == 33
      else { throw Self.unreadable(text) }
      digest = Array(bytes.dropLast())
      // The decoder takes blanks, missing padding and spare bits, too.
      guard description == text else { throw Self.unreadable(text) }
    }

    /// The pin of the first certificate.
    /// - Throws: ``TLSError`` if there is none to be read.
    public init(certificate: PEM) throws(TLSError) {
      let certificates = try certificate.certificates(for: "certificate")
      guard let pin = certificates[0].lend({ PublicKeyPin(of: $0) }) else {
        throw .configuration("certificate", "of \(certificate) has no public key")
      }
      self = pin
    }

    init?(of certificate: OpaquePointer) {
      var encoded: UnsafeMutablePointer<UInt8>?
      let length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded)
      guard length > 0, let encoded else { return nil }
      defer { cssl_free_text(encoded) }
      var digest = [UInt8](repeating: 0, count: Self.size)
      guard EVP_Digest(encoded, Int(length), &digest, nil, EVP_sha256(), nil) == 1 else {
        return nil
      }
      self.digest = digest
    }

    private static func unreadable(_ text: String) -> TLSError {
      .configuration(
        "pins", "hold “\(text)”, which is not sha256/ and the base64 of 32 bytes")
    }
  }

  extension PublicKeyPin: CustomStringConvertible {
    /// `sha256/` and the hash in base64.
    public var description: String {
      var base64 = [UInt8](repeating: 0, count: 45)
      EVP_EncodeBlock(&base64, digest, Int32(digest.count))
      return Self.prefix + String(decoding: base64.dropLast(), as: UTF8.self)
    }
  }
#endif
