import ConnectionFSM
import Testing
import Transports

@Suite("F20: redirections")
struct RedirectTests {
  private static let statuses = [301, 302, 303, 307, 308]

  private func resource(_ trial: HandshakeTrial) -> String {
    String(trial.request.split(separator: " ")[1])
  }

  @Test("each of the five statuses is followed where that is asked for, and the request made anew")
  func followed() throws {
    let table = [
      ("ws://b.example/x", Endpoint(host: "b.example", port: 80), "/x"),
      ("http://b.example:81/x?y", Endpoint(host: "b.example", port: 81), "/x?y"),
      ("wss://b.example", Endpoint(scheme: "tls", host: "b.example", port: 443), "/"),
      ("HTTPS://b.example/#f", Endpoint(scheme: "tls", host: "b.example", port: 443), "/"),
      ("//b.example/x", Endpoint(host: "b.example", port: 80), "/x"),
      ("/x", Endpoint(host: "a", port: 80), "/x"),
      ("x?y", Endpoint(host: "a", port: 80), "/b/x?y"),
      ("../x", Endpoint(host: "a", port: 80), "/x"),
      ("?z", Endpoint(host: "a", port: 80), "/b/c?z"),
    ]
    for status in Self.statuses {
      for (location, endpoint, resource) in table {
        var trial = try HandshakeTrial("ws://a/b/c?d", redirectLimit: 1)
        let progress = trial.receive(status, "Location: \(location)")
        #expect(progress == .redirected(endpoint), "\(location)")
        trial.start()
        #expect(self.resource(trial) == resource, "\(location)")
        let opened = trial.receive(HandshakeTrial.answer())
        #expect(opened == HandshakeTrial.plain(HandshakeTrial.answer()))
        #expect(trial.agreement?.url.endpoint == endpoint)
      }
    }
  }

  @Test("statuses that move nothing, and all where no redirection is asked for, are the cause")
  func notFollowed() throws {
    for (status, limit) in [(300, 5), (304, 5), (305, 5), (306, 5)] + Self.statuses.map({ ($0, 0) })
    {
      var trial = try HandshakeTrial(redirectLimit: limit)
      let progress = trial.receive(status, "Location: ws://b/")
      #expect(progress == .failed(.http(status: UInt16(status)), .status(UInt16(status))))
    }
  }

  @Test("a Location that leads nowhere is a typed error, and the status is the cause")
  func location() throws {
    let table: [([String], WebSocketHandshakeError.Problem?)] = [
      ([], .field("Location", .missing)),
      (["Location: /a", "Location: /a"], .field("Location", .repeated)),
      (["Location: ftp://b/"], nil), (["Location: mailto:x"], nil), (["Location: ws://"], nil),
      (["Location: ws://b:0/"], nil), (["Location: ws://u:p@b/"], nil), (["Location: /a b"], nil),
      (["Location: ///"], nil), (["Location: http:/x"], nil), (["Location: /\u{E4}"], nil),
    ]
    for (fields, problem) in table {
      var trial = try HandshakeTrial(redirectLimit: 5)
      let lines = (["HTTP/1.1 302"] + fields + ["", ""]).joined(separator: "\r\n")
      let progress = trial.receive(lines)
      guard case .failed(.http(status: 302, retryAfter: nil), let found) = progress else {
        Issue.record("\(fields): \(progress)")
        continue
      }
      if let problem {
        #expect(found == problem)
      } else if case .location = found {
      } else {
        Issue.record("\(fields): \(found)")
      }
    }
    #expect(Cause.http(status: 302).failureClass == .terminal)
  }

  @Test("wss never becomes ws; ws may become wss")
  func downgrade() throws {
    for location in ["ws://a/x", "http://a:443/x", "ws://a:443/b"] {
      var trial = try HandshakeTrial("wss://a/b", redirectLimit: 5)
      let progress = trial.receive(302, "Location: \(location)")
      let target = try WebSocketURL("wss://a/").following(location)
      #expect(progress == .failed(.http(status: 302), .redirectToInsecure(target)))
    }
    var trial = try HandshakeTrial("ws://a/b", redirectLimit: 5)
    let progress = trial.receive(302, "Location: wss://a/b")
    #expect(progress == .redirected(Endpoint(scheme: "tls", host: "a", port: 443)))
    trial.start()
    let back = trial.receive(302, "Location: ws://a/b")
    #expect(
      try back == .failed(.http(status: 302), .redirectToInsecure(WebSocketURL("ws://a/b"))))
  }

  @Test("a loop and too many are told as such")
  func loops() throws {
    for location in ["", "/b", "ws://A:80/b#x", "./b", "?"] {
      var trial = try HandshakeTrial(
        location == "?" ? "ws://a/b?" : "ws://a/b", redirectLimit: 5)
      let progress = trial.receive(302, "Location: \(location)")
      guard case .failed(.http(status: 302, retryAfter: nil), .redirectLoop) = progress else {
        Issue.record("\(location): \(progress)")
        continue
      }
    }
    var far = try HandshakeTrial("ws://a/0", redirectLimit: 3)
    for step in 1...3 {
      let progress = far.receive(307, "Location: /\(step)")
      #expect(progress == .redirected(Endpoint(host: "a", port: 80)))
      far.start()
    }
    var around = far
    let loop = around.receive(307, "Location: /1")
    #expect(try loop == .failed(.http(status: 307), .redirectLoop(WebSocketURL("ws://a/1"))))
    let end = far.receive(307, "Location: /4")
    #expect(end == .failed(.http(status: 307), .tooManyRedirects(limit: 3)))
    #expect(far.error.map { "\($0)".contains("redirectLimit") } == true)
  }

  @Test("credentials and cookies do not go to another host or port, nor come back from there")
  func credentials() throws {
    let headers = try [
      HTTPField("authorization", "s3cret"), HTTPField("Origin", "http://o"),
      HTTPField("COOKIE", "s3cret"), HTTPField("Proxy-Authorization", "s3cret"),
    ]
    for (location, keeps) in [
      ("/x", true), ("ws://A:80/x", true), ("ws://a:81/x", false), ("wss://a/x", false),
      ("ws://b/x", false), ("ws://a.b/x", false),
    ] {
      var trial = try HandshakeTrial("ws://a/b", headers: headers, redirectLimit: 5)
      #expect(trial.request.contains("s3cret"))
      _ = trial.receive(302, "Location: \(location)")
      trial.start()
      #expect(trial.request.contains("s3cret") == keeps, "\(location)")
      #expect(trial.request.contains("Origin: http://o\r\n"))
      let home = trial.receive(302, "Location: wss://a:80/home")
      #expect(home == .redirected(Endpoint(scheme: "tls", host: "a", port: 80)))
      trial.start()
      #expect(trial.request.contains("s3cret") == keeps, "\(location) and back")
    }
  }

  @Test("RFC 3986 section 5.4: references, seen from a base")
  func references() throws {
    let base = try WebSocketURL("ws://a/b/c/d;p?q")
    let table = [
      ("ws://h", "ws://h/"), ("g", "ws://a/b/c/g"), ("./g", "ws://a/b/c/g"),
      ("g/", "ws://a/b/c/g/"),
      ("/g", "ws://a/g"), ("//g", "ws://g/"), ("?y", "ws://a/b/c/d;p?y"), ("g?y", "ws://a/b/c/g?y"),
      ("#s", "ws://a/b/c/d;p?q"), ("g#s", "ws://a/b/c/g"), ("g?y#s", "ws://a/b/c/g?y"),
      (";x", "ws://a/b/c/;x"), ("g;x", "ws://a/b/c/g;x"), ("", "ws://a/b/c/d;p?q"),
      (".", "ws://a/b/c/"), ("./", "ws://a/b/c/"), ("..", "ws://a/b/"), ("../", "ws://a/b/"),
      ("../g", "ws://a/b/g"), ("../..", "ws://a/"), ("../../", "ws://a/"), ("../../g", "ws://a/g"),
      ("../../../g", "ws://a/g"), ("../../../../g", "ws://a/g"), ("/./g", "ws://a/g"),
      ("/../g", "ws://a/g"), ("g.", "ws://a/b/c/g."), (".g", "ws://a/b/c/.g"),
      ("g..", "ws://a/b/c/g.."), ("..g", "ws://a/b/c/..g"), ("./../g", "ws://a/b/g"),
      ("./g/.", "ws://a/b/c/g/"), ("g/./h", "ws://a/b/c/g/h"), ("g/../h", "ws://a/b/c/h"),
      ("g;x=1/./y", "ws://a/b/c/g;x=1/y"), ("g;x=1/../y", "ws://a/b/c/y"),
      ("g?y/./x", "ws://a/b/c/g?y/./x"), ("g?y/../x", "ws://a/b/c/g?y/../x"),
      ("ws://h/a/../b/./?c/../d", "ws://h/b/?c/../d"), ("/a//b/../c", "ws://a/a//c"),
    ]
    for (reference, target) in table {
      #expect(try base.following(reference) == WebSocketURL(target), "\(reference)")
      #expect(try "\(base.following(reference))" == target)
    }
  }
}
