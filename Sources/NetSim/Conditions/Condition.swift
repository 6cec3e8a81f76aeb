public import ConnectionFSM

/// What a client has to live with, by name: a link, boxes on the way, and what befalls when.
public struct Condition: Sendable {
  /// What it is called, as in `commuter`.
  public let name: String
  /// What happens.
  public let about: String
  /// Where the figures were read; our own figures say so.
  public let source: String
  /// How long it takes until all has happened that it has to show.
  public let duration: TimeSpan
  private let link: LinkProfile
  private let system: OperatingSystem
  private let prepare: @Sendable (inout Stage) -> Void

  /// Makes a condition.
  /// - Parameter prepare: Adds boxes, hosts and faults to the stage.
  init(
    _ name: String, _ about: String, source: String, lasts duration: TimeSpan,
    link: LinkProfile, system: OperatingSystem = .linux,
    prepare: @escaping @Sendable (inout Stage) -> Void = { _ in }
  ) {
    self.name = name
    self.about = about
    self.source = source
    self.duration = duration
    self.link = link
    self.system = system
    self.prepare = prepare
  }

  /// A client and a server that live under this condition from the beginning.
  public func stage(seed: UInt64) -> Stage {
    var stage = Stage(seed: seed, link: link, system: system)
    prepare(&stage)
    return stage
  }
}

/// An ``Internet`` with one client and one server on it. What the server's port serves is left to
/// whoever uses the stage, unless the condition has a say in it.
public struct Stage: Sendable {
  /// The internet.
  public var internet: Internet
  /// The device; its host is called `client`.
  public let client: HostID
  /// Its server, `server` by name, with one address of version 6 and one of version 4.
  public let server: HostID
  /// The port to dial.
  public let port: UInt16 = 443
  /// What the system in front of the server's program is like.
  public var service = Service()

  init(seed: UInt64, link: LinkProfile, system: OperatingSystem) {
    internet = Internet(seed: seed)
    client = internet.addHost("client", link: link, system: system)
    server = internet.addHost("server", hasVersion6: true)
  }

  /// Lets a fault befall so long after the beginning.
  mutating func at(_ span: TimeSpan, _ fault: Fault) { internet.inject(fault, at: .origin + span) }
}
