import ConnectionFSM
import Testing
import Transports

@Suite("F18: a proxy's address and the environment")
struct ProxySettingTests {
  @Test("an address is read with its usual port, its user and its password")
  func addresses() throws {
    let table: [(String, Proxy.Kind, Endpoint)] = [
      ("http://proxy.example:3128", .http, Endpoint(host: "proxy.example", port: 3128)),
      ("proxy.example", .http, Endpoint(host: "proxy.example", port: 80)),
      ("proxy.example:8080/", .http, Endpoint(host: "proxy.example", port: 8080)),
      ("HTTPS://proxy.example", .http, Endpoint(scheme: "tls", host: "proxy.example", port: 443)),
      ("socks5://[::1]", .socks5, Endpoint(host: "::1", port: 1080)),
      ("socks5h://[::1]:9050", .socks5, Endpoint(host: "::1", port: 9050)),
    ]
    for (text, kind, endpoint) in table {
      #expect(try Proxy(text) == Proxy(kind, at: endpoint))
    }
    let credentials = try ProxyCredentials(user: "ad a", password: "p@:ss%")
    let endpoint = Endpoint(host: "p", port: 1)
    #expect(
      try Proxy("http://ad%20a:p%40:ss%25@p:1")
        == Proxy(.http, at: endpoint, credentials: credentials))
    #expect(
      try Proxy("http://user@p:1")
        == Proxy(.http, at: endpoint, credentials: ProxyCredentials(user: "user", password: "")))
  }

  @Test("I16: an address that is none is a typed error, which shows nothing of it")
  func errors() {
    for text in [
      "ftp://u:SECRET@p:1", "http://u:SECRET@", "http://u:SECRET@p:0", "http://u:SECRET@p:99999",
      "http://u:SECRET@p:1/path", "http://u:SECRET@::1:1", "http://u:SECRET%zz@p:1",
      "http://u:SECRET%-1@p:1", "http://u:SECRET%ff@p:1", "http://u%3A:SECRET@p:1",
      "http://u:SECRET%0d@p:1", "socks5://:SECRET@p:1", "socks5://SECRET@p:1", "",
    ] {
      let error = #expect(throws: ProxySettingError.self) { try Proxy(text) }
      let shown = "\(error.map { "\($0) \(String(reflecting: $0))" } ?? "")"
      #expect(!shown.contains("SECRET") && !shown.isEmpty, "\(text)")
    }
    #expect(throws: ProxySettingError.self) {
      try Proxy(
        .socks5, at: Endpoint(host: "p", port: 1),
        credentials: ProxyCredentials(user: String(repeating: "u", count: 256), password: "p"))
    }
  }

  @Test("no description, dump or error shows user or password")
  func nothingShown() throws {
    let credentials = try ProxyCredentials(user: "SECRETUSER", password: "SECRET")
    let proxy = try Proxy(.http, at: Endpoint(host: "p", port: 1), credentials: credentials)
    var dumped = ""
    dump(proxy, to: &dumped)
    dump(credentials, to: &dumped)
    dump([proxy], to: &dumped)
    let environment = try ProxyEnvironment(["https_proxy": "http://SECRETUSER:SECRET@p:1"])
    dump(environment, to: &dumped)
    let shown = "\(proxy) \(String(reflecting: proxy)) \(credentials) \(environment) \(dumped)"
    #expect(!shown.contains("SECRET"))
    #expect("\(proxy)" == "HTTP proxy tcp://p:1 with credentials")
  }

  @Test("the lower case counts before the upper, HTTPS_PROXY before ALL_PROXY, empty is missing")
  func variables() throws {
    let endpoint = Endpoint(host: "example.com", port: 443)
    let table: [([String: String], String?)] = [
      ([:], nil), (["HTTP_PROXY": "h:1", "http_proxy": "h:1"], nil),
      (["HTTPS_PROXY": "a:1"], "a"), (["ALL_PROXY": "b:1"], "b"),
      (["HTTPS_PROXY": "a:1", "ALL_PROXY": "b:1", "all_proxy": "c:1"], "a"),
      (["HTTPS_PROXY": "a:1", "https_proxy": "d:1"], "d"),
      (["https_proxy": "", "HTTPS_PROXY": "a:1"], "a"),
      (["https_proxy": "", "all_proxy": "socks5://c:1"], "c"),
      (["https_proxy": "a:1", "no_proxy": "example.com"], nil),
      (["https_proxy": "a:1", "no_proxy": "", "NO_PROXY": "example.com"], nil),
      (["https_proxy": "a:1", "no_proxy": "other", "NO_PROXY": "example.com"], "a"),
    ]
    for (environment, host) in table {
      #expect(try ProxyEnvironment(environment).proxy(for: endpoint)?.endpoint.host == host)
    }
    let all = try ProxyEnvironment(["all_proxy": "a:1"])
    #expect(all.proxy(for: Endpoint(unixSocket: "/run/a")) == nil)
    let error = #expect(throws: ProxySettingError.self) {
      try ProxyEnvironment(["HTTPS_PROXY": "gopher://u:SECRET@p"])
    }
    #expect(error?.variable == "HTTPS_PROXY")
    #expect(error.map { "\($0)" }?.hasPrefix("HTTPS_PROXY has a scheme") == true)
  }

  @Test(
    "NO_PROXY excepts names at a label's boundary, addresses, CIDR blocks and ports",
    arguments: [
      ("example.com", "example.com", true), ("example.com", "api.example.com", true),
      ("example.com", "notexample.com", false), ("example.com", "example.com.evil.org", false),
      ("Example.COM", "API.example.com.", true), (".example.com", "example.com", true),
      (".example.com", "api.example.com", true), ("*.example.com", "a.b.example.com", true),
      ("example.com.", "example.com", true), ("com", "example.com", true),
      ("*", "anything", true), ("a, b ,c", "b", true), ("a b\tc", "c", true),
      (",,", "a", false), ("example.com:443", "example.com", true),
      ("example.com:80", "example.com", false), ("*:443", "x", true),
      ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.70", false),
      ("2.7", "192.0.2.7", false),
      ("192.0.2.0/24", "192.0.2.255", true), ("192.0.2.0/24", "192.0.3.0", false),
      ("192.0.2.128/25", "192.0.2.127", false), ("0.0.0.0/0", "8.8.8.8", true),
      ("0.0.0.0/0", "::1", false), ("192.0.2.0/31", "192.0.2.1", true),
      ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
      ("2001:db8::1", "2001:0db8:0::0001", true), ("[::1]", "::1", true),
      ("[::1]:443", "::1", true), ("[::1]:80", "::1", false), ("::1", "::1%lo", true),
      ("192.0.2.0/24:443", "192.0.2.1", true), ("192.0.2.0/24", "host.192.0.2.1", false),
    ])
  func exceptions(list: String, host: String, isExcepted: Bool) throws {
    let environment = try ProxyEnvironment(["https_proxy": "p:1", "no_proxy": list])
    let proxy = environment.proxy(for: Endpoint(host: host, port: 443))
    #expect((proxy == nil) == isExcepted)
  }

  @Test(
    "I16: an entry of NO_PROXY that is nothing is a typed error that names it",
    arguments: [
      "192.0.2.0/33", "192.0.2.0/", "192.0.2.0/+8", "example.com/8", "a:b", "a:99999", "[::1",
      "[::1]x", ".", "*.", "10.*",
    ])
  func badException(entry: String) {
    let error = #expect(throws: ProxySettingError.self) {
      try ProxyEnvironment(["no_proxy": "fine, \(entry)"])
    }
    #expect(error?.variable == "no_proxy")
    #expect(error?.problem.contains(entry) == true)
  }

  @Test("an entry of NO_PROXY that may hold a password is not shown")
  func secretException() {
    let error = #expect(throws: ProxySettingError.self) {
      try ProxyEnvironment(["no_proxy": "ann:secret@host"])
    }
    #expect(error.map { "\($0)".contains("secret") } == false)
  }
}
