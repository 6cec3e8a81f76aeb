import ConnectionFSM

// Profiles of tools that shape the packets of a host.

extension LinkProfile {
  /// The profiles in the README of comcast.
  ///
  /// The tool delays what leaves the host (`tc qdisc … netem delay` on its device), so that its
  /// latency is added once a round trip: half of it is one way. Rate and loss are each direction's.
  public static let comcast: [LinkProfile] = [
    comcastGPRS, comcastEdge, comcast3G, comcastDialUp, comcastDSLPoor, comcastDSLGood,
    comcastWiFi, comcastStarlink,
  ]

  /// GPRS: 500 ms a round trip, 2 % lost.
  public static let comcastGPRS = shaped("comcast-gprs", "GPRS", 50, latency: 500, loss: 200)
  /// EDGE: 300 ms a round trip, 1.5 % lost.
  public static let comcastEdge = shaped("comcast-edge", "EDGE", 250, latency: 300, loss: 150)
  /// 3G: 250 ms a round trip, 1.5 % lost.
  public static let comcast3G = shaped("comcast-3g", "3G", 750, latency: 250, loss: 150)
  /// A telephone modem: 185 ms a round trip, 2 % lost.
  public static let comcastDialUp = shaped(
    "comcast-dialup", "A telephone modem", 40, latency: 185, loss: 200)
  /// Poor DSL: 70 ms a round trip, 2 % lost.
  public static let comcastDSLPoor = shaped(
    "comcast-dsl-poor", "DSL, poor", 2000, latency: 70, loss: 200)
  /// Good DSL: 40 ms a round trip, 0.5 % lost.
  public static let comcastDSLGood = shaped(
    "comcast-dsl-good", "DSL, good", 8000, latency: 40, loss: 50)
  /// Wi-Fi: 40 ms a round trip, 0.2 % lost.
  public static let comcastWiFi = shaped("comcast-wifi", "Wi-Fi", 30_000, latency: 40, loss: 20)
  /// Starlink: 20 ms a round trip, 2.5 % lost, no limit of rate.
  public static let comcastStarlink = shaped(
    "comcast-starlink", "Starlink", nil, latency: 20, loss: 250)

  /// The profiles of str0m's network emulator.
  ///
  /// Its latency is applied to each packet one way (so its satellite takes 1.2 s a round trip,
  /// where its comment means 0.6 s), its jitter is uniform around that, its losses come in bursts.
  /// One configuration serves both directions. It drops what its buffer does not hold; TCP waits.
  public static let str0m: [LinkProfile] = [
    str0mWiFi, str0mWiFiLossy, str0mWiFiCongested, str0mCellular, str0mSatellite, str0mCongested,
  ]

  /// Good Wi-Fi.
  public static let str0mWiFi = emulated(
    "str0m-wifi", "Wi-Fi", 100_000, latency: 5, jitter: 2, buffer: 200, bursts: (200, 2))
  /// Wi-Fi with a weak signal.
  public static let str0mWiFiLossy = emulated(
    "str0m-wifi-lossy", "Wi-Fi, lossy", 50_000, latency: 15, jitter: 10, buffer: 100,
    bursts: (40, 2))
  /// Wi-Fi that many share; its losses are those of str0m's congested network.
  public static let str0mWiFiCongested = emulated(
    "str0m-wifi-congested", "Wi-Fi, congested", 5000, latency: 10, jitter: 20, buffer: 30,
    bursts: (20, 2))
  /// 4G.
  public static let str0mCellular = emulated(
    "str0m-cellular", "4G", 30_000, latency: 50, jitter: 15, buffer: 100, bursts: (100, 2))
  /// A geostationary satellite.
  public static let str0mSatellite = emulated(
    "str0m-satellite", "A geostationary satellite", 15_000, latency: 600, jitter: 30, buffer: 500,
    bursts: (100, 3))
  /// A congested network.
  public static let str0mCongested = emulated(
    "str0m-congested", "A congested network", 10_000, latency: 80, jitter: 40, buffer: 50,
    bursts: (20, 2))

  /// The network conditions of Loadero.
  ///
  /// They name a latency and a jitter for what comes in and for what goes out: one way.
  public static let loadero: [LinkProfile] = [
    loadero4G, loadero35G, loadero3G, loaderoGPRS, loaderoEdge, loaderoSatellitePhone,
    loaderoHighJitter,
  ]

  /// 4G; its jitter is 5 ms in and 15 ms out.
  public static let loadero4G = condition(
    "loadero-4g", "4G", down: 100_000, up: 50_000, latency: 45, jitter: (5, 15), loss: 20)
  /// 3.5G.
  public static let loadero35G = condition(
    "loadero-3.5g", "3.5G", down: 20_000, up: 10_000, latency: 150, jitter: (10, 10), loss: 50)
  /// 3G.
  public static let loadero3G = condition(
    "loadero-3g", "3G", down: 1200, up: 1200, latency: 250, jitter: (50, 50), loss: 50)
  /// GPRS.
  public static let loaderoGPRS = condition(
    "loadero-gprs", "GPRS", down: 80, up: 20, latency: 650, jitter: (100, 100), loss: 100)
  /// EDGE.
  public static let loaderoEdge = condition(
    "loadero-edge", "EDGE", down: 200, up: 260, latency: 650, jitter: (100, 100), loss: 100)
  /// A satellite telephone.
  public static let loaderoSatellitePhone = condition(
    "loadero-satellite-phone", "A satellite telephone", down: 1000, up: 256, latency: 600)
  /// Nothing but a jitter of half the latency.
  public static let loaderoHighJitter = condition(
    "loadero-high-jitter", "High jitter", latency: 200, jitter: (100, 100))

  /// Rates in kbit/s, the added latency in milliseconds, the loss in ten thousand.
  private static func shaped(
    _ name: String, _ kind: String, _ kilobits: Int64?, latency: Int64, loss: Int
  ) -> LinkProfile {
    let channel = Channel.published(
      kilobits: kilobits, .microseconds(latency * 500), loss: .perTenThousand(loss))
    return published(
      name, kind, source: "comcast, tylertreat/comcast README", up: channel, down: channel)
  }

  /// The rate in kbit/s, times in milliseconds, the buffer in kB.
  private static func emulated(
    _ name: String, _ kind: String, _ kilobits: Int64, latency: Int64, jitter: Int64,
    buffer: Int, bursts: (good: Int, bad: Int)
  ) -> LinkProfile {
    let channel = Channel.published(
      kilobits: kilobits, .milliseconds(latency), jitter: .milliseconds(jitter),
      buffer: buffer * 1000, loss: .bursts(meanGood: bursts.good, meanBad: bursts.bad))
    return published(
      name, kind, source: "str0m, algesten/str0m crates/netem/src/config.rs", up: channel,
      down: channel)
  }

  /// Rates in kbit/s, times in milliseconds, the jitter down and up, the loss in ten thousand.
  private static func condition(
    _ name: String, _ kind: String, down: Int64? = nil, up: Int64? = nil, latency: Int64,
    jitter: (down: Int64, up: Int64) = (0, 0), loss: Int = 0
  ) -> LinkProfile {
    published(
      name, kind, source: "Loadero, wiki.loadero.com network-conditions",
      up: .published(
        kilobits: up, .milliseconds(latency), jitter: .milliseconds(jitter.up),
        loss: .perTenThousand(loss)),
      down: .published(
        kilobits: down, .milliseconds(latency), jitter: .milliseconds(jitter.down),
        loss: .perTenThousand(loss)))
  }
}
