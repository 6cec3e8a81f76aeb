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
    link: LinkProfile = .wptCable, system: OperatingSystem = .linux,
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

  /// Two minutes of a link where nothing befalls.
  public init(link profile: LinkProfile) {
    self.init(
      profile.name, profile.about, source: profile.source, lasts: .seconds(120), link: profile)
  }

  /// A client and a server that live under this condition from the beginning.
  /// - Parameters:
  ///   - seed: What all randomness is drawn from.
  ///   - service: What the server's port serves. The condition may change what the system in front
  ///     of the program is like.
  public func stage(seed: UInt64, service: Service = Service()) -> Stage {
    var stage = Stage(seed: seed, link: link, system: system, service: service)
    prepare(&stage)
    stage.internet.listen(stage.server, port: stage.port, stage.service)
    return stage
  }
}

// MARK: By name

extension Condition {
  /// Every condition there is.
  public static let all: [Condition] = ofLinks + ofNames + ofBoxes + ofDevices + ofWays + ofServers

  /// The condition of that name; nil if there is none.
  public static func named(_ name: String) -> Condition? { all.first { $0.name == name } }
}

/// An ``Internet`` with one client and one server on it.
public struct Stage: Sendable {
  /// The internet.
  public var internet: Internet
  /// The device; its host is called `client`.
  public let client: HostID
  /// Its server, `server` by name, with one address of version 6 and one of version 4.
  public let server: HostID
  /// The port to dial.
  public let port: UInt16 = 443
  /// What the server's port serves.
  public internal(set) var service: Service

  init(seed: UInt64, link: LinkProfile, system: OperatingSystem, service: Service) {
    internet = Internet(seed: seed)
    client = internet.addHost("client", link: link, system: system)
    server = internet.addHost("server", hasVersion6: true)
    self.service = service
  }

  /// The addresses that the name `server` stands for.
  var serverAddresses: [String] { internet.addresses(of: server) }

  /// Lets faults befall so long after the beginning.
  mutating func at(_ span: TimeSpan, _ faults: Fault...) {
    for fault in faults { internet.inject(fault, at: .origin + span) }
  }

  /// Lets a schedule of faults befall, counted from so long after the beginning.
  mutating func at(_ span: TimeSpan, _ schedule: FaultSchedule) {
    internet.inject(schedule, from: .origin + span)
  }

  /// Has a fault there before anybody can dial.
  mutating func fromTheStart(_ fault: Fault) { internet.apply(fault) }

  /// Lets others dial the server at an even pace, who then say nothing.
  mutating func crowd(_ count: Int, from start: TimeSpan, over span: TimeSpan) {
    let crowd = internet.addHost("crowd")
    at(start, .crowd(crowd, to: server, port: port, count: count, over: span))
  }
}
