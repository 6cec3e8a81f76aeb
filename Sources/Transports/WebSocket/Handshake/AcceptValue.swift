#if canImport(CryptoKit)
  import CryptoKit
#else
  import COpenSSL
#endif

extension ServerHandshake {
  private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// How a server shows that it has read a key: the base64 of the SHA-1 of the key, as it stands in
  /// its field, and of the protocol's own UUID (RFC 6455 section 4.2.2).
  package static func acceptValue(for key: String) -> String {
    Base64.encode(sha1(Array("\(key)\(suffix)".utf8)))
  }

  private static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      var hash = Insecure.SHA1()
      bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
      return Array(hash.finalize())
    #else
      var digest = [UInt8](repeating: 0, count: 20)
      let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil)
      // Nothing that arrives can lead here, and without it there is no handshake at all.
      precondition(done == 1, "OpenSSL has no SHA-1, which RFC 6455 section 4.2.2 asks for")
      return digest
    #endif
  }
}
