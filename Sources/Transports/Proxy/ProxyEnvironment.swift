public import ConnectionFSM

/// The proxies that an environment names, and the hosts that need none.
///
/// Nothing reads the environment by itself: a program that wants it gives it, as in
/// `try ProxyEnvironment(ProcessInfo.processInfo.environment)`.
///
/// `HTTPS_PROXY` leads to every endpoint that is not excepted, else `ALL_PROXY` does. `HTTP_PROXY`
/// is for requests in clear, of which there are none here. Of a variable in both cases the lower
/// one counts; an empty one counts as missing.
///
/// `NO_PROXY` is a list, separated by commas or blanks. `*` excepts everything. A name excepts that
/// host and every host below it (`example.com`, also with a dot or `*.` in front); an address
/// excepts itself, in whatever form it is written, and a block in CIDR form (RFC 4632) the
/// addresses in it; `:port` behind a name or an address (IPv6 then in brackets) excepts that port
/// alone. Names are compared without case and without a dot at the end, and never looked up.
public struct ProxyEnvironment: Sendable {
  private let proxy: Proxy?
  private let exceptions: [Exception]

  /// Reads the variables of an environment.
  /// - Throws: ``ProxySettingError``, which names the variable, and of its value at most
  ///   an entry of NO_PROXY without an @.
  public init(_ environment: [String: String]) throws(ProxySettingError) {
    func value(_ name: String) -> (name: String, text: String)? {
      for name in [name.lowercased(), name] {
        if let text = environment[name], !text.isEmpty { return (name, text) }
      }
      return nil
    }
    if let (name, text) = value("HTTPS_PROXY") ?? value("ALL_PROXY") {
      do throws(ProxySettingError) {
        proxy = try Proxy(text)
      } catch {
        throw ProxySettingError(error.problem, variable: name)
      }
    } else {
      proxy = nil
    }
    var exceptions: [Exception] = []
    if let (name, text) = value("NO_PROXY") {
      for entry in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
        guard let exception = Exception(entry) else {
          // What stands before an @ may be a password.
          let shown = entry.contains("@") ? "an entry with @" : "“\(entry)”"
          throw ProxySettingError(
            "has \(shown), which is no name, address or CIDR block", variable: name)
        }
        exceptions.append(exception)
      }
    }
    self.exceptions = exceptions
  }

  /// The proxy that leads to the endpoint; nil if it is to be dialled itself, as a path always is.
  public func proxy(for endpoint: Endpoint) -> Proxy? {
    guard let proxy, endpoint.scheme != "unix" else { return nil }
    let host = Host(endpoint.host)
    return exceptions.contains { $0.covers(host, port: endpoint.port) } ? nil : proxy
  }
}

/// A host as it is compared.
private struct Host {
  let name: String
  let address: NumericAddress?

  init(_ text: some StringProtocol) {
    var name = text.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    self.name = name
    // A zone says by which link, not to whom.
    address = NumericAddress(name.prefix { $0 != "%" })
  }
}

/// An entry of NO_PROXY.
private struct Exception: Sendable {
  private enum Hosts {
    case all
    case domain(String)
    case block(NumericAddress, length: Int)
  }

  private let hosts: Hosts
  private let port: UInt16?

  /// Nil if the text is none.
  init?(_ text: Substring) {
    guard let (host, port) = Self.split(text) else { return nil }
    self.port = port
    if host == "*" {
      hosts = .all
    } else if let slash = host.firstIndex(of: "/") {
      guard let address = NumericAddress(host[..<slash]),
        let length = Self.number(host[slash...].dropFirst()),
        Int(length) <= address.bytes.count * 8
      else { return nil }
      hosts = .block(address, length: Int(length))
    } else if let address = NumericAddress(host) {
      hosts = .block(address, length: address.bytes.count * 8)
    } else {
      var name = host.lowercased()[...]
      if name.hasPrefix("*.") { name.removeFirst() }
      if name.hasPrefix(".") { name.removeFirst() }
      if name.hasSuffix(".") { name.removeLast() }
      guard !name.isEmpty, !name.contains(where: { "*/[]:@".contains($0) }) else { return nil }
      hosts = .domain(String(name))
    }
  }

  /// The host and its port. An IPv6 address with a port stands in brackets, and may do so without.
  private static func split(_ text: Substring) -> (host: Substring, port: UInt16?)? {
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { return nil }
      let host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      if rest.isEmpty { return (host, nil) }
      guard rest.first == ":", let number = Self.number(rest.dropFirst()) else { return nil }
      return (host, number)
    }
    guard let colon = text.firstIndex(of: ":"), text[colon...].dropFirst().contains(":") == false
    else { return (text, nil) }
    guard let number = Self.number(text[colon...].dropFirst()) else { return nil }
    return (text[..<colon], number)
  }

  // UInt16 would read a sign.
  private static func number(_ text: Substring) -> UInt16? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt16(text) : nil
  }

  func covers(_ host: Host, port: UInt16) -> Bool {
    if let wanted = self.port, wanted != port { return false }
    switch hosts {
    case .all: return true
    case .block(let block, let length): return host.address?.hasPrefix(length, of: block) ?? false
    // The end of an address is no domain.
    case .domain(let name):
      return host.address == nil && (host.name == name || host.name.hasSuffix(".\(name)"))
    }
  }
}
