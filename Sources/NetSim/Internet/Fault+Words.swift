import ConnectionFSM

extension Internet {
  /// A fault in words, with the names of the hosts: what a trace shows where it befalls.
  public func words(for fault: Fault) -> String {
    switch fault {
    case .serve(let host, let port, _): "\(name(host)) serves port \(port) anew"
    case .refuse(let host, let port): "\(name(host)) serves port \(port) no more"
    case .resetAll(let host, _, let window): "\(name(host)) resets all\(within(window))"
    case .sayAll(let host, _, _, let window): "\(name(host)) warns all\(within(window))"
    case .closeAll(let host, _, _, let window): "\(name(host)) ends all in order\(within(window))"
    case .loseShare(let host, let share):
      "\(share) of 10,000 connections of \(name(host)) vanish"
    case .crash(let host): "\(name(host)) is gone without a word"
    case .restart(let host): "\(name(host)) is there again"
    case .crowd(let host, let server, _, let count, let span):
      "\(name(host)) dials \(name(server)) \(count) times\(within(span))"
    case .deaf(let address): "\(address) does not answer dials"
    case .heard(let address): "\(address) answers dials again"
    case .unknownName(let name): "there is no name \(name)"
    case .silentName(let name): "the resolver does not answer for \(name)"
    case .slowName(let name, let delay): "the resolver takes \(delay) s longer for \(name)"
    case .moveName(let name, let addresses, _): "\(name) moves to \(addresses)"
    case .block(let from, let to, let mode):
      mode == .drop
        ? "nothing gets from \(name(from)) to \(name(to))"
        : "all is held from \(name(from)) to \(name(to))"
    case .unblock(let from, let to): "the way from \(name(from)) to \(name(to)) is free"
    case .sever(let host): "the connections of \(name(host)) vanish without a word"
    case .cut(let host): "boxes on the way reset the connections of \(name(host))"
    case .link(let host, let profile): "\(name(host)) is on the link \(profile.name)"
    case .chunking(let chunking): "bytes are cut: \(chunking)"
    case .corrupt(let host): "a bit is turned on the way to \(name(host))"
    case .failLocally(let host, let error?): "every dial of \(name(host)) fails with \(error)"
    case .failLocally(let host, nil): "dials of \(name(host)) leave again"
    case .limitDescriptors(let host, let limit?): "\(name(host)) may have \(limit) sockets"
    case .limitDescriptors(let host, nil): "\(name(host)) may have any number of sockets"
    case .claimPath(let host, let path): "\(name(host)) says that its path is \(path)"
    case .leaveNetwork(let host, let fate): "\(name(host)) leaves its network\(words(fate))"
    case .join(let host, let number, let fate):
      "\(name(host)) joins \(interface(number, of: host))\(words(fate))"
    case .portal(let host, let portal?): "\(name(portal)) answers for all that \(name(host)) dials"
    case .portal(let host, nil): "\(name(host)) is through the portal"
    case .sleep(let host): "\(name(host)) falls asleep"
    case .suspend(let host): "the programs of \(name(host)) stand still"
    case .wake(let host, let fate): "\(name(host)) wakes\(words(fate))"
    }
  }

  private func name(_ host: HostID) -> String { self[host].name }
  private func name(_ host: HostID?) -> String { host.map { self[$0].name } ?? "anybody" }

  private func interface(_ number: UInt16, of host: HostID) -> String {
    self[host].interfaces.first { $0.number == number }?.name ?? "interface \(number)"
  }

  private func within(_ window: TimeSpan) -> String {
    window > .zero ? " within \(window) s" : ""
  }

  private func words(_ fate: SocketFate) -> String {
    switch fate {
    case .kept: ""
    case .failed(let error): "; its sockets fail with \(error)"
    }
  }
}
