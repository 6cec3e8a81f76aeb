import ConnectionFSM

/// One message of rtnetlink (rtnetlink(7), RFC 3549), as far as reachability asks for it.
///
/// Total: whatever the bytes are, it gives messages or stops, and reads nothing beyond them. The
/// numbers are part of the kernel's ABI; integers are in the machine's own byte order.
struct RouteMessage: Equatable {
  enum Body: Equatable {
    case link(RouteLink)
    case address(RouteAddress)
    case route(Route)
    /// The end of an answer, or a refusal; 0 if all is well.
    case end(error: Int32)
    /// Anything else, and what is too short for what it says it is.
    case other
  }

  /// Whether it is part of an answer, and not an announcement to everybody.
  let isAnswer: Bool
  /// The things changed while the answer was put together: it fits no moment.
  let isInterrupted: Bool
  /// The number of the question that it answers.
  let number: UInt32
  let body: Body
}

/// An interface.
struct RouteLink: Equatable {
  let index: UInt32
  /// Administratively up, and its carrier there.
  let isUsable: Bool
  let isLoopback: Bool
}

/// The address of an interface.
struct RouteAddress: Equatable {
  let family: AddressFamily
  let link: UInt32
  /// It reaches beyond its link, and no doubt about it is left (IPv6 duplicate detection).
  let isUsable: Bool
}

/// A route.
struct Route: Equatable {
  /// A way out: one that leads further, when it was made up by more than a wish.
  struct Hop: Equatable {
    var link: UInt32 = 0
    /// The gateway's address, folded; 0 if the link leads there by itself.
    var gateway: UInt32 = 0
  }

  let family: AddressFamily
  /// It leads everywhere, and not into a refusal.
  let isDefault: Bool
  /// In the table that is asked where no rule says otherwise.
  let isMain: Bool
  let metric: UInt32
  /// One, or those that share the load.
  let hops: [Hop]
}

extension AddressFamily {
  /// Reads AF_INET or AF_INET6; nil for families without routes to the internet.
  fileprivate init?(number: UInt8) {
    switch number {
    case 2: self = .version4
    case 10: self = .version6
    case _: return nil
    }
  }
}

/// What can be asked: all interfaces, all their addresses, all routes.
package enum RouteQuestion: UInt16, Sendable {
  case links = 18
  case addresses = 22
  case routes = 26

  /// The bytes of the question.
  package func request(number: UInt32) -> [UInt8] {
    // The header of the thing asked for, all zero: of any family, of any interface.
    let headerLength =
      switch self {
      case .links: 16
      case .addresses: 8
      case .routes: 12
      }
    // NLM_F_REQUEST | NLM_F_DUMP
    let flags: UInt16 = 0x301
    var bytes: [UInt8] = []
    withUnsafeBytes(of: UInt32(16 + headerLength)) { bytes += $0 }
    withUnsafeBytes(of: rawValue) { bytes += $0 }
    withUnsafeBytes(of: flags) { bytes += $0 }
    withUnsafeBytes(of: number) { bytes += $0 }
    return bytes + [UInt8](repeating: 0, count: 4 + headerLength)
  }
}

// MARK: Reading

extension RouteMessage {
  /// Reads the messages of a datagram in order, up to the first that is none.
  static func forEach(in bytes: borrowing RawSpan, _ body: (RouteMessage) -> Void) {
    var rest = bytes.extracting(0..<bytes.byteCount)
    while let length = rest.integer(at: 0, as: UInt32.self), length >= 16,
      Int(length) <= rest.byteCount
    {
      body(RouteMessage(rest.extracting(0..<Int(length))))
      rest = rest.extracting(droppingFirst: min(rest.byteCount, aligned(Int(length))))
    }
  }

  /// Reads a message that is as long as its own header says, 16 bytes at least.
  private init(_ bytes: borrowing RawSpan) {
    let type = bytes.integer(at: 4, as: UInt16.self) ?? 0
    let flags = bytes.integer(at: 6, as: UInt16.self) ?? 0
    let payload = bytes.extracting(droppingFirst: 16)
    number = bytes.integer(at: 8, as: UInt32.self) ?? 0
    isInterrupted = flags & 0x10 != 0
    let parsed: Body? =
      switch type {
      case 2: payload.integer(at: 0, as: Int32.self).map { .end(error: $0) }
      case 3: .end(error: payload.integer(at: 0, as: Int32.self) ?? 0)
      case 16, 17: RouteLink(payload).map { .link($0) }
      case 20, 21: RouteAddress(payload).map { .address($0) }
      case 24, 25: Route(payload).map { .route($0) }
      default: .other
      }
    body = parsed ?? .other
    // The kernel gives an announcement the number of whoever caused it, which may be ours. What
    // tells them apart is NLM_F_MULTI, and that refusals are never announced.
    isAnswer = flags & 0x2 != 0 || type == 2
  }

  /// Lengths are rounded up to four bytes.
  fileprivate static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension RouteLink {
  /// Reads an `ifinfomsg`.
  fileprivate init?(_ payload: borrowing RawSpan) {
    guard let index = payload.integer(at: 4, as: UInt32.self),
      let flags = payload.integer(at: 8, as: UInt32.self)
    else { return nil }
    self.index = index
    // IFF_UP and IFF_RUNNING: running is up and with a carrier, or with nobody who could know.
    isUsable = flags & 0x41 == 0x41
    isLoopback = flags & 0x8 != 0
  }
}

extension RouteAddress {
  /// Reads an `ifaddrmsg`; nil also for other families.
  fileprivate init?(_ payload: borrowing RawSpan) {
    guard let family = payload.integer(at: 0, as: UInt8.self).flatMap(AddressFamily.init(number:)),
      let flags = payload.integer(at: 2, as: UInt8.self),
      let scope = payload.integer(at: 3, as: UInt8.self),
      let link = payload.integer(at: 4, as: UInt32.self)
    else { return nil }
    self.family = family
    self.link = link
    // IFA_F_DADFAILED, IFA_F_OPTIMISTIC, IFA_F_TENTATIVE. An optimistic address is in use while it
    // is examined (RFC 4429).
    let isSettled = flags & 0x40 == 0 || flags & 0x4 != 0
    // Scopes from RT_SCOPE_LINK on stay on the link or in the machine.
    isUsable = scope < 253 && flags & 0x8 == 0 && isSettled
  }
}

extension Route {
  /// Reads an `rtmsg` and its attributes; nil also for other families.
  fileprivate init?(_ payload: borrowing RawSpan) {
    guard payload.byteCount >= 12,
      let family = payload.integer(at: 0, as: UInt8.self).flatMap(AddressFamily.init(number:)),
      let prefixLength = payload.integer(at: 1, as: UInt8.self),
      let table = payload.integer(at: 4, as: UInt8.self),
      let type = payload.integer(at: 7, as: UInt8.self),
      let flags = payload.integer(at: 8, as: UInt32.self)
    else { return nil }
    var wideTable = UInt32(table)
    var metric: UInt32 = 0
    var single = Hop()
    var several: [Hop] = []
    payload.extracting(droppingFirst: 12).forEachAttribute { kind, value in
      switch kind {
      case 6: metric = value.integer(at: 0, as: UInt32.self) ?? 0
      case 9: several = Self.hops(value)
      case 15: wideTable = value.integer(at: 0, as: UInt32.self) ?? wideTable
      default: single.take(kind, value)
      }
    }
    self.family = family
    // RTN_UNICAST: IPv6 has default routes whose only meaning is “unreachable”. RTNH_F_DEAD.
    isDefault = prefixLength == 0 && type == 1 && flags & 0x1 == 0
    isMain = wideTable == 254
    self.metric = metric
    hops = several.isEmpty ? [single] : several
  }

  /// Reads a list of `rtnexthop`.
  private static func hops(_ list: borrowing RawSpan) -> [Hop] {
    var hops: [Hop] = []
    var rest = list.extracting(0..<list.byteCount)
    while let length = rest.integer(at: 0, as: UInt16.self), length >= 8,
      Int(length) <= rest.byteCount
    {
      var hop = Hop(link: rest.integer(at: 4, as: UInt32.self) ?? 0)
      rest.extracting(8..<Int(length)).forEachAttribute { hop.take($0, $1) }
      hops.append(hop)
      rest = rest.extracting(droppingFirst: min(rest.byteCount, RouteMessage.aligned(Int(length))))
    }
    return hops
  }
}

extension Route.Hop {
  fileprivate mutating func take(_ kind: UInt16, _ value: borrowing RawSpan) {
    switch kind {
    // RTA_OIF
    case 4: link = value.integer(at: 0, as: UInt32.self) ?? 0
    // RTA_GATEWAY, and RTA_VIA, a gateway of the other family: FNV-1a.
    case 5, 18:
      gateway = 0x811C_9DC5
      for offset in 0..<value.byteCount {
        gateway = (gateway ^ UInt32(value.integer(at: offset, as: UInt8.self) ?? 0)) &* 0x0100_0193
      }
    default: return
    }
  }
}

extension RawSpan {
  /// The integer there, in the machine's byte order; nil if the bytes end before it does.
  fileprivate func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Value.Type
  ) -> Value? {
    guard offset + MemoryLayout<Value>.size <= byteCount else { return nil }
    return unsafeLoadUnaligned(fromByteOffset: offset, as: type)
  }

  /// Reads attributes (`rtattr`) in order, up to the first that is none.
  fileprivate func forEachAttribute(_ body: (UInt16, borrowing RawSpan) -> Void) {
    var offset = 0
    while offset + 4 <= byteCount, let length = integer(at: offset, as: UInt16.self), length >= 4,
      offset + Int(length) <= byteCount, let kind = integer(at: offset + 2, as: UInt16.self)
    {
      // The upper two bits are flags.
      body(kind & 0x3FFF, extracting(offset + 4..<offset + Int(length)))
      offset += RouteMessage.aligned(Int(length))
    }
  }
}
