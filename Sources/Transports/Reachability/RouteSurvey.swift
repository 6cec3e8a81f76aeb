import ConnectionFSM

/// What one look at the interfaces, their addresses and the routes has gathered so far.
struct RouteSurvey: Sendable {
  private struct Place: Hashable {
    let family: AddressFamily
    let link: UInt32
  }

  /// A default route that can be used; the smallest is taken.
  private struct WayOut {
    let isMain: Bool
    let family: AddressFamily
    let metric: UInt32
    let hop: Route.Hop

    func precedes(_ other: WayOut) -> Bool {
      if isMain != other.isMain { return isMain }
      // Metrics of different families do not compare, and IPv4 is what most networks still have.
      if family != other.family { return family == .version4 }
      return metric < other.metric
    }
  }

  private var usable: Set<UInt32> = []
  private var loopbacks: Set<UInt32> = []
  private var addressed: Set<Place> = []
  private var wayOut: WayOut?

  /// More interfaces than any system has; beyond that they are not looked at.
  private static let linkLimit = 65_536

  /// Takes a piece of an answer; links before addresses, addresses before routes.
  mutating func take(_ body: RouteMessage.Body) {
    switch body {
    case .link(let link):
      guard usable.count + loopbacks.count < Self.linkLimit else { return }
      if link.isLoopback {
        loopbacks.insert(link.index)
      } else if link.isUsable {
        usable.insert(link.index)
      }
    case .address(let address):
      guard address.isUsable else { return }
      // An interface without an address of its own borrows one of the loopback's (RFC 1812,
      // section 5.2.7, unnumbered): link 0 stands for that.
      let link = loopbacks.contains(address.link) ? 0 : address.link
      guard link == 0 || usable.contains(link) else { return }
      addressed.insert(Place(family: address.family, link: link))
    case .route(let route):
      guard route.isDefault, let hop = route.hops.first(where: { isUsable($0, route.family) })
      else { return }
      let found = WayOut(
        isMain: route.isMain, family: route.family, metric: route.metric, hop: hop)
      if wayOut.map({ found.precedes($0) }) ?? true { wayOut = found }
    case .end, .other: return
    }
  }

  private func isUsable(_ hop: Route.Hop, _ family: AddressFamily) -> Bool {
    usable.contains(hop.link)
      && (addressed.contains(Place(family: family, link: hop.link))
        || addressed.contains(Place(family: family, link: 0)))
  }

  /// What the look amounts to.
  var path: Path {
    guard let wayOut else { return .down }
    let mixed = wayOut.hop.link ^ wayOut.hop.gateway
    // 0 stands for an interface that is not known.
    return Path(.up, interface: max(1, UInt16(truncatingIfNeeded: mixed ^ mixed >> 16)))
  }
}
