import ConnectionFSM
import Testing

@Suite("Endpoint")
struct EndpointTests {
  @Test(
    "an address is read into its parts and written back",
    arguments: [
      ("tcp://example.com:80", "tcp", "example.com", UInt16(80)),
      ("tcp://127.0.0.1:1", "tcp", "127.0.0.1", 1),
      ("tcp://localhost:65535", "tcp", "localhost", 65535),
      ("tcp://[::1]:8080", "tcp", "::1", 8080),
      ("tcp://[fe80::1%eth0]:9", "tcp", "fe80::1%eth0", 9),
      ("x-sim+tls://a_b-c.example:443", "x-sim+tls", "a_b-c.example", 443),
    ])
  func reads(text: String, scheme: String, host: String, port: UInt16) throws {
    let endpoint = try Endpoint(text)
    #expect(endpoint.scheme == scheme)
    #expect(endpoint.host == host)
    #expect(endpoint.port == port)
    #expect("\(endpoint)" == text)
    #expect(try endpoint == Endpoint("\(endpoint)"))
  }

  @Test("the scheme is read without regard to case")
  func schemeCase() throws {
    #expect(try Endpoint("TCP://Example.com:80") == Endpoint(host: "Example.com", port: 80))
  }

  @Test(
    "B0.19: a text that is no address is refused with the mend",
    arguments: [
      ("", "scheme"), ("example.com:80", "scheme"), ("://example.com:80", "scheme"),
      ("tcp:example.com:80", "scheme"), ("tcp:/example.com:80", "scheme"),
      ("tcp://", "host"), ("ws://", "host"), ("tcp://:80", "host"), ("tcp://[]:80", "host"),
      ("tcp://[::1:80", "bracket"), ("tcp://::1:80", "colon"), ("tcp://fe80::1", "colon"),
      ("tcp://a:80:90", "colon"),
      ("tcp://example.com", "port"), ("tcp://example.com:", "port"),
      ("tcp://example.com:0", "port"), ("tcp://example.com:65536", "port"),
      ("tcp://example.com:-1", "port"), ("tcp://example.com:http", "port"),
      ("tcp://example.com:8 0", "port"), ("tcp://example.com:80/", "port"),
      ("tcp://[::1]", "port"), ("tcp://[::1]80", "port"),
      ("tcp://exa mple.com:80", "space"), ("tcp://a\u{0}b:80", "space"),
      ("tcp://a\nb:80", "space"), ("tcp://a\u{7F}:80", "space"),
      ("tcp://host/path:80", "path"), ("tcp://a#b:80", "path"),
      ("tcp://[[::1]:80", "path"), ("tcp://example.com:+80", "port"),
    ])
  func refuses(text: String, mend: String) {
    let error = #expect(throws: EndpointError.self) { try Endpoint(text) }
    #expect(error?.text == text)
    #expect(error?.problem.contains(mend) == true)
    #expect(error.map { "\($0)".contains(text) } == true)
  }

  @Test("what stands before an @, which may be a password, is refused and not repeated")
  func secret() {
    let error = #expect(throws: EndpointError.self) { try Endpoint("tcp://user:secret@host:80") }
    #expect(error?.text == "…@host:80")
    #expect(error.map { "\($0)".contains("secret") } == false)
  }
}
