import ConnectionFSM

// Profiles for testing web pages: the figures are round trips, and half of one is one way.

extension LinkProfile {
  /// The profiles of Chrome's developer tools and of Lighthouse.
  ///
  /// Both are meant as links of so long a round trip. The developer tools delay each request, not
  /// each packet, and so apply the round trip 5, 3.75 and 2.75 times: figures for HTTP, of no
  /// meaning for the packets of a connection. So here it is the round trip that they name. Their
  /// rates are the nominal ones times 0.8 and 0.9, as they apply them.
  public static let developerTools: [LinkProfile] = [
    devtools3G, devtoolsSlow4G, devtoolsFast4G, lighthouseMobile,
  ]

  /// Nominally 500 kbit/s and a round trip of 400 ms.
  public static let devtools3G = browser(
    "devtools-3g", "3G", source: developerToolsSource, down: 400, up: 400, roundTrip: 400)

  /// Nominally 1.6 Mbit/s down, 750 kbit/s up and a round trip of 150 ms.
  public static let devtoolsSlow4G = browser(
    "devtools-slow-4g", "Slow 4G", source: developerToolsSource, down: 1440, up: 675,
    roundTrip: 150)

  /// Nominally 9 Mbit/s down, 1.5 Mbit/s up and a round trip of 60 ms.
  public static let devtoolsFast4G = browser(
    "devtools-fast-4g", "Fast 4G", source: developerToolsSource, down: 8100, up: 1350,
    roundTrip: 60)

  /// Lighthouse's mobileSlow4G, at its nominal rates.
  public static let lighthouseMobile = browser(
    "lighthouse-mobile", "Slow 4G", source: "Lighthouse, docs on throttling (mobileSlow4G)",
    down: 1600, up: 750, roundTrip: 150)

  /// The profiles of WebPageTest. Its latency is a round trip.
  public static let webPageTest: [LinkProfile] = [
    wptCable, wptDSL, wpt3GSlow, wpt3G, wpt3GFast, wpt4G, wptLTE, wptEdge, wpt2G, wptDial, wptFios,
  ]

  /// A cable modem.
  public static let wptCable = page("wpt-cable", "Cable", down: 5000, up: 1000, roundTrip: 28)
  /// DSL.
  public static let wptDSL = page("wpt-dsl", "DSL", down: 1500, up: 384, roundTrip: 50)
  /// A slow 3G network.
  public static let wpt3GSlow = page("wpt-3g-slow", "3G, slow", down: 400, up: 400, roundTrip: 400)
  /// A 3G network.
  public static let wpt3G = page("wpt-3g", "3G", down: 1600, up: 768, roundTrip: 300)
  /// A fast 3G network.
  public static let wpt3GFast = page("wpt-3g-fast", "3G, fast", down: 1600, up: 768, roundTrip: 150)
  /// A 4G network.
  public static let wpt4G = page("wpt-4g", "4G", down: 9000, up: 9000, roundTrip: 170)
  /// An LTE network.
  public static let wptLTE = page("wpt-lte", "LTE", down: 12_000, up: 12_000, roundTrip: 70)
  /// An EDGE network.
  public static let wptEdge = page("wpt-edge", "EDGE", down: 240, up: 200, roundTrip: 840)
  /// A 2G network.
  public static let wpt2G = page("wpt-2g", "2G", down: 280, up: 256, roundTrip: 800)
  /// A telephone modem.
  public static let wptDial = page(
    "wpt-dial", "A telephone modem", down: 49, up: 30, roundTrip: 120)
  /// Fibre to the home.
  public static let wptFios = page("wpt-fios", "Fibre", down: 20_000, up: 5000, roundTrip: 4)

  private static let developerToolsSource =
    "Chrome DevTools, ChromeDevTools/devtools-frontend NetworkManager.ts"

  private static func page(
    _ name: String, _ kind: String, down: Int64, up: Int64, roundTrip: Int64
  ) -> LinkProfile {
    browser(
      name, kind, source: "WebPageTest, WPO-Foundation/webpagetest connectivity.ini.sample",
      down: down, up: up, roundTrip: roundTrip)
  }

  /// Rates in kbit/s, the round trip in milliseconds.
  private static func browser(
    _ name: String, _ kind: String, source: String, down: Int64, up: Int64, roundTrip: Int64
  ) -> LinkProfile {
    let half = TimeSpan.microseconds(roundTrip * 500)
    return published(
      name, kind, source: source, up: .published(kilobits: up, half),
      down: .published(kilobits: down, half))
  }
}
