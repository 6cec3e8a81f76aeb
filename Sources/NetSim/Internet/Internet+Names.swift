public import ConnectionFSM

// Names and addresses.

extension Internet {
  /// How long a device waits for a resolver that does not answer: 5 s, twice (resolv.conf(5)).
  private static var patience: TimeSpan { .seconds(10) }
  /// Not a host of ours: the other end of the way to the resolver.
  static var resolver: HostID { HostID(number: .max - 1) }

  /// Asks for the addresses of a host by name; the answer is an occurrence, never inside this call.
  /// A name that is an address already is its own answer.
  public mutating func resolve(_ name: String, from host: HostID, at now: Instant) -> LookupID {
    lookupCount += 1
    let lookup = LookupID(number: lookupCount)
    lookups[lookupCount] = (host, name)
    guard owners[name] == nil else {
      schedule(.answerLookup(lookup), at: now)
      return lookup
    }
    var delay = Self.patience
    if isConnected(host), names[name]?.answerNow(at: now).isSilence != true {
      let link = link(from: host, interface: self[host].active ?? 0, to: Self.resolver)
      let there = links[link].up.delay(at: now)
      delay = there + links[link].down.delay(at: now + there) + resolverDelay(host)
      delay = delay + (names[name]?.delay ?? .zero)
    }
    schedule(.answerLookup(lookup), at: now + delay)
    return lookup
  }

  private func isConnected(_ host: HostID) -> Bool {
    guard let active = self[host].active else { return false }
    return self[host].interfaces[active].isUp && !self[host].isUnreachable
      && !blocks.contains { $0.from == host && $0.to == nil || $0.to == host && $0.from == nil }
  }

  private func resolverDelay(_ host: HostID) -> TimeSpan {
    self[host].active.map { self[host].interfaces[$0].profile.resolverDelay } ?? .zero
  }

  mutating func answer(_ lookup: LookupID) {
    guard let (host, name) = lookups.removeValue(forKey: lookup.number) else { return }
    if owners[name] != nil { return tell(.resolved(lookup, [name], nil)) }
    guard isConnected(host) else {
      return tell(.resolved(lookup, [], .resolution(.temporaryFailure)))
    }
    if let portal = self[host].portal {
      return tell(.resolved(lookup, self[portal].addresses, nil))
    }
    switch names[name]?.answerNow(at: now) ?? .unknown {
    case .addresses(let addresses): tell(.resolved(lookup, addresses, nil))
    case .unknown: tell(.resolved(lookup, [], .resolution(.unknownName)))
    case .silence: tell(.resolved(lookup, [], .resolution(.temporaryFailure)))
    }
  }
}

extension NameRecord {
  func answerNow(at now: Instant) -> Answer {
    if let stale, now < stale.until { return stale.answer }
    return answer
  }
}

extension NameRecord.Answer {
  fileprivate var isSilence: Bool {
    if case .silence = self { return true }
    return false
  }
}
