import ConnectionFSM

// What befalls a device: other networks, portals, sleep.

extension Condition {
  static let ofDevices: [Condition] = [
    commuter, captivePortal, iOSSuspend, androidDoze, laptopLid, flap,
  ]

  private static let commuter = Condition(
    "commuter",
    "From Wi-Fi to cellular with 15 s of nothing between, and back and forth within 30 s: sockets"
      + " die loudly at first, then in silence",
    source: "Zoom: more than 15 s count as a drop (besthub.dev); Virginia Tech 2026, 43 h of"
      + " traces: most vertical handovers go back to Wi-Fi within 30 s",
    lasts: .seconds(180), link: .str0mWiFi
  ) { stage in
    let client = stage.client
    let cellular = stage.internet.addInterface("cellular", to: client, link: .str0mCellular)
    stage.at(
      .seconds(30),
      .handover(
        client, to: cellular, gap: .seconds(15), sockets: .failed(.connectionAborted)))
    stage.at(.seconds(65), .join(client, interface: 1, sockets: .kept))
    stage.at(.seconds(85), .join(client, interface: cellular, sockets: .kept))
    stage.at(.seconds(110), .join(client, interface: 1, sockets: .kept))
  }

  private static let captivePortal = Condition(
    "captive-portal", "Every host is answered for by a portal, until the login after 60 s",
    source: "Apple: captive.apple.com/hotspot-detect.html must say Success; the login's time is our"
      + " own figure",
    lasts: .seconds(180), link: .str0mWiFi
  ) { stage in
    let portal = stage.internet.addHost("portal")
    let answer = "HTTP/1.1 302 Found\r\nLocation: http://portal/\r\nContent-Length: 0\r\n\r\n"
    stage.internet.listen(portal, port: stage.port, .answering(answer))
    stage.fromTheStart(.portal(stage.client, portal))
    stage.at(.seconds(60), .portal(stage.client, nil))
  }

  private static let iOSSuspend = Condition(
    "ios-suspend",
    "30 s after the app went to the background it is suspended; its sockets are gone when it wakes",
    source: "developer.apple.com/forums/thread/802375 and TN2277; 30 s as observed",
    lasts: .seconds(240), system: .darwin
  ) { stage in
    // To the background after 30 s: that is the app's own to tell.
    stage.at(.seconds(60), .suspend(stage.client))
    stage.at(.seconds(180), .wake(stage.client, sockets: .failed(.connectionAborted)))
  }

  private static let androidDoze = Condition(
    "android-doze",
    "An hour after the device was laid down it dozes: windows of 5 min after 1, 2, 4, 6 and 6 more"
      + " hours, until it is taken up",
    source: "Android doze: after 1 h still, windows at +1, +2, +4, +6, +6 h of 5 to 10 min",
    lasts: .seconds(20 * 3600 + 3600)
  ) { stage in
    var time: Int64 = 3600
    for hours: Int64 in [1, 2, 4, 6, 6] {
      stage.at(.seconds(time), .sleep(stage.client))
      time += hours * 3600
      stage.at(.seconds(time), .wake(stage.client, sockets: .kept))
      time += 300
    }
  }

  private static let laptopLid = Condition(
    "laptop-lid",
    "The lid is shut for 8 h: a clock that counts sleep jumps, one that does not stands still",
    source: "The 8 h are our own figure", lasts: .seconds(8 * 3600 + 360), link: .str0mWiFi
  ) { stage in
    stage.at(.seconds(60), .sleep(stage.client))
    stage.at(.seconds(60 + 8 * 3600), .wake(stage.client, sockets: .kept))
  }

  private static let flap = Condition(
    "flap", "The network is left and joined again every 4 s, half of the time there is none",
    source: "Our own figures", lasts: .seconds(180), link: .str0mWiFi
  ) { stage in
    stage.at(
      .seconds(30),
      .flapping(stage.client, period: .seconds(4), downFor: .seconds(2), times: 15))
  }
}
