#if os(Linux)
  import ConnectionFSM
  import Foundation
  import Testing
  import Transports

  @Suite("A TLS configuration")
  struct TLSConfigurationTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared.get() }

    private func part(
      trust: TLSConfiguration.Trust = .system, pins: Set<PublicKeyPin> = [],
      applicationProtocols: [String] = [], identity: TLSIdentity? = nil,
      serverName: String? = nil, handshakeDeadline: TimeSpan? = nil
    ) -> String? {
      let error = #expect(throws: TLSError.self) {
        _ = try TLSConfiguration(
          trust: trust, pins: pins, applicationProtocols: applicationProtocols,
          identity: identity, serverName: serverName, handshakeDeadline: handshakeDeadline)
      }
      guard let error, case .configuration(let part) = error.kind else { return nil }
      #expect("\(error)".hasPrefix(part + " "))
      return part
    }

    @Test("F19: what cannot be used is told when it is made, by the part at fault")
    func errors() throws {
      let good = certificates.good
      let other = try ThrowawayAuthority.selfSigned(names: ["other"])
      #expect(part(trust: .pinsAlone) == "pins")
      for authorities: PEM in [
        .text(""), .text("no PEM"), .file("/no/such/file"), .file("/"), good.key,
        .text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        .text("-----BEGIN CERTIFICATE-----\n%%\n"),
      ] {
        #expect(part(trust: .authorities(authorities)) == "trust")
      }
      #expect(part(applicationProtocols: ["a", ""]) == "applicationProtocols")
      let long = String(repeating: "a", count: 256)
      #expect(part(applicationProtocols: [long]) == "applicationProtocols")
      let many = [String](repeating: String(long.dropLast()), count: 256)
      #expect(part(applicationProtocols: many) == "applicationProtocols")
      for name in ["", ".", ".test", "a b", "ä.test", "a\0b", long] {
        #expect(part(serverName: name) == "serverName")
      }
      #expect(part(handshakeDeadline: .zero) == "handshakeDeadline")
      #expect(
        part(identity: TLSIdentity(certificates: good.key, key: good.key))
          == "identity.certificates")
      for key in [other.key, good.certificates, .text("")] {
        #expect(
          part(identity: TLSIdentity(certificates: good.certificates, key: key))
            == "identity.key")
      }
    }

    @Test("F19: an encrypted key is refused, not asked a password for, and never shown")
    func encryptedKey() throws {
      let key = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgRkcWh9lLw3gICCAAw
        -----END ENCRYPTED PRIVATE KEY-----
        """
      let error = #expect(throws: TLSError.self) {
        _ = try TLSConfiguration(
          identity: TLSIdentity(certificates: certificates.good.certificates, key: .text(key)))
      }
      #expect(error?.problem.contains("openssl pkey") == true)
      #expect(error?.problem.contains("MIHs") == false)
    }

    @Test("F19: reads files as well as texts, and is good")
    func files() throws {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tls-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      func file(_ pem: PEM, _ name: String) throws -> PEM {
        let path = folder.appendingPathComponent(name)
        try pem.content.write(to: path, atomically: true, encoding: .utf8)
        return .file(path.path)
      }
      let identity = certificates.good
      let configuration = try TLSConfiguration(
        trust: .authorities(try file(certificates.authority.certificate, "ca.pem")),
        identity: TLSIdentity(
          certificates: try file(identity.certificates, "certificate.pem"),
          key: try file(identity.key, "key.pem")),
        serverName: "good.test")
      #expect(configuration.serverName == "good.test")
    }

    @Test("F19: a pin is read as it is written, and nothing else is a pin")
    func pins() throws {
      let text = "sha256/" + String(repeating: "A", count: 43) + "="
      let pin = try PublicKeyPin(text)
      #expect(pin.digest == [UInt8](repeating: 0, count: 32))
      #expect("\(pin)" == text)
      let made = try PublicKeyPin(certificate: certificates.good.certificates)
      #expect(try PublicKeyPin("\(made)") == made)
      for wrong in [
        "", "sha256/", "sha1/AAAA", String(text.dropFirst(7)), text + "A", String(text.dropLast()),
        text.replacing("AA=", with: "AB="), text.replacing("sha256/A", with: "sha256/ "),
        text.replacing("/AA", with: "/-_"), "SHA256/" + text.dropFirst(7),
        text.replacing("A=", with: "=="),
      ] {
        let error = #expect(throws: TLSError.self) { _ = try PublicKeyPin(wrong) }
        #expect(error?.kind == .configuration("pins"))
        #expect(error?.problem.contains("“\(wrong)”") == true)
      }
    }
  }

  extension PEM {
    /// The text, of one that is none of a file.
    var content: String {
      guard case .text(let text) = self else { return "" }
      return text
    }
  }
#endif
