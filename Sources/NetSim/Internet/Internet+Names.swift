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
    come(to: now)
    lookupCount += 1
    let lookup = LookupID(number: lookupCount)
    lookups[lookupCount] = (host, name)
    guard owners[name] == nil else {
      schedule(.answerLookup(lookup), at: self.now)
      return lookup
    }
    schedule(.answerLookup(lookup), at: self.now + answerDelay(name, from: host))
    return lookup
  }

  private mutating func answerDelay(_ name: String, from host: HostID) -> TimeSpan {
    // Without a network there is no way to ask: the device's own system says so.
    guard let active = self[host].active else { return .zero }
    guard isConnected(host), names[name]?.answerNow(at: now).isSilence != true else {
      return Self.patience
    }
    let link = link(from: host, interface: active, to: Self.resolver)
    let there = links[link].up.delay(at: now)
    let back = links[link].down.delay(at: now + there)
    return there + back + resolverDelay(host) + (names[name]?.delay ?? .zero)
  }

  private func isConnected(_ host: HostID) -> Bool {
    guard let active = self[host].active else { return false }
    let resolver = Self.resolver
    return self[host].interfaces[active].isUp && !self[host].isUnreachable
      && !blocks.contains { $0.covers(host, resolver) || $0.covers(resolver, host) }
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
