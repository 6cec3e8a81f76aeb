public import ConnectionFSM

/// A link with a name: both directions, and where the figures were read.
public struct LinkProfile: Equatable, Sendable {
  /// What it is called, as in `wpt-lte`.
  public var name: String
  /// What it is like.
  public var about: String
  /// Where the figures were read.
  public var source: String
  /// From the device.
  public var up: Channel
  /// To the device.
  public var down: Channel
  /// How much longer the resolver takes than the link alone would make it.
  public var resolverDelay: TimeSpan

  /// Makes a profile.
  public init(
    _ name: String, about: String, source: String, up: Channel, down: Channel,
    resolverDelay: TimeSpan = .zero
  ) {
    self.name = name
    self.about = about
    self.source = source
    self.up = up
    self.down = down
    self.resolverDelay = resolverDelay
  }

  /// So long each way, and nothing else.
  public static func constant(_ latency: TimeSpan) -> LinkProfile {
    let channel = Channel(latency: .constant(latency))
    return LinkProfile(
      "constant", about: "The same latency each way", source: "", up: channel, down: channel)
  }

  /// A millisecond each way, and nothing else.
  public static let perfect = constant(.milliseconds(1))
}
