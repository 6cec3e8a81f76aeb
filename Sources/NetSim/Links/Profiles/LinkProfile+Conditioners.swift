import ConnectionFSM

// Profiles of tools that delay each direction: the figures are one way.

extension LinkProfile {
  /// The profiles of Apple's Network Link Conditioner.
  ///
  /// Its delay is one way, each direction has its own.
  public static let networkLinkConditioner: [LinkProfile] = [
    nlcHighLatencyDNS, nlcVeryBadNetwork, nlcEdge, nlc3GGood, nlc3GAverage, nlc3GLossy,
    nlcEdgeGood, nlcEdgeLossy, nlcCable, nlcDSL,
  ]

  /// Answers about names take 3 s longer; nothing else is.
  public static let nlcHighLatencyDNS = published(
    "nlc-high-latency-dns", "A slow resolver", source: certification,
    up: .published(.zero), down: .published(.zero), resolverDelay: .seconds(3))

  /// 1 Mbit/s, 500 ms each way, and a tenth is lost.
  public static let nlcVeryBadNetwork = conditioner(
    "nlc-very-bad-network", "A very bad network", source: certification, down: 1000, up: 1000,
    delay: (500, 500), loss: (1000, 1000))

  /// EDGE, 400 ms down and 440 ms up.
  public static let nlcEdge = conditioner(
    "nlc-edge", "EDGE", source: certification, down: 240, up: 200, delay: (400, 440))

  /// A good 3G network. The delay down is that of the ipfw script; ATC has 100 ms.
  public static let nlc3GGood = conditioner(
    "nlc-3g-good", "3G, good", source: script, down: 850, up: 420, delay: (90, 100))

  /// An average 3G network.
  public static let nlc3GAverage = conditioner(
    "nlc-3g-average", "3G, average", source: script, down: 780, up: 330, delay: (100, 100))

  /// An average 3G network that loses a hundredth on the way down.
  public static let nlc3GLossy = conditioner(
    "nlc-3g-lossy", "3G, lossy", source: script, down: 780, up: 330, delay: (100, 100),
    loss: (100, 0))

  /// A good EDGE network.
  public static let nlcEdgeGood = conditioner(
    "nlc-edge-good", "EDGE, good", source: script, down: 250, up: 200, delay: (350, 370))

  /// An EDGE network that loses a hundredth on the way down.
  public static let nlcEdgeLossy = conditioner(
    "nlc-edge-lossy", "EDGE, lossy", source: script, down: 240, up: 200, delay: (400, 440),
    loss: (100, 0))

  /// A cable modem.
  public static let nlcCable = conditioner(
    "nlc-cable", "Cable", source: script, down: 6000, up: 1000, delay: (2, 2))

  /// DSL.
  public static let nlcDSL = conditioner(
    "nlc-dsl", "DSL", source: script, down: 2000, up: 256, delay: (5, 5))

  /// The profiles of Facebook's Augmented Traffic Control that are its own. Its delay is one way.
  public static let augmentedTrafficControl: [LinkProfile] = [
    atc2GDevelopingRural, atc2GDevelopingUrban,
  ]

  /// 2G in the country: 650 ms each way, 2 % lost.
  public static let atc2GDevelopingRural = conditioner(
    "atc-2g-developing-rural", "2G in the country", source: trafficControl, down: 20, up: 18,
    delay: (650, 650), loss: (200, 200))

  /// 2G in a city: 650 ms each way.
  public static let atc2GDevelopingUrban = conditioner(
    "atc-2g-developing-urban", "2G in a city", source: trafficControl, down: 35, up: 32,
    delay: (650, 650))

  private static let certification =
    "Apple Network Link Conditioner, as a third party's device certification document has it"
  private static let script =
    "Apple Network Link Conditioner, as an ipfw script made from it and"
    + " facebook/augmented-traffic-control utils/profiles have it"
  private static let trafficControl = "facebook/augmented-traffic-control utils/profiles"

  /// Rates in kbit/s; delays in milliseconds and losses in ten thousand, down and up.
  private static func conditioner(
    _ name: String, _ kind: String, source: String, down: Int64, up: Int64,
    delay: (down: Int64, up: Int64), loss: (down: Int, up: Int) = (0, 0)
  ) -> LinkProfile {
    published(
      name, kind, source: source,
      up: .published(kilobits: up, .milliseconds(delay.up), loss: .perTenThousand(loss.up)),
      down: .published(kilobits: down, .milliseconds(delay.down), loss: .perTenThousand(loss.down)))
  }
}

extension Loss {
  static func perTenThousand(_ share: Int) -> Loss {
    share == 0 ? .none : .independent(perTenThousand: share)
  }
}
