import ConnectionFSM

// What the ledger makes of what the session hears and does.

extension SessionWorld {
  /// What the session is about to hear.
  mutating func note(_ words: String, on link: UInt64) {
    let parts = words.split(separator: " ").map(String.init)
    switch parts[0] {
    case "accepted": accounts[link]?.mayTalk = true
    case "resumed": noteResumed(link)
    case "subbed":
      // The answers come in order: first that to the last end, if it is answered at all.
      let ended = accounts[link]?.ending[parts[1]]?.last
      if let ended, now - ended < Self.timeout { return }
      if accounts[link]?.told.contains(parts[1]) == true {
        accounts[link]?.confirmed.insert(parts[1])
      }
    case "unsubbed":
      for topic in parts[1].split(separator: ",").map(String.init) { noteEnded(topic, on: link) }
    case "nosuch":
      guard accounts[link]?.isRetired == false else { return }
      accounts[link]?.told.remove(parts[1])
      accounts[link]?.confirmed.remove(parts[1])
    case "pub":
      let number = UInt64(parts[2]) ?? 0
      if let last = delivered[parts[1]], number > last + 1 { gapSeen.insert(parts[1]) }
    default: break
    }
  }

  private mutating func noteEnded(_ topic: String, on link: UInt64) {
    let ending = accounts[link]?.ending[topic]?.dropFirst() ?? []
    accounts[link]?.ending[topic] = ending.isEmpty ? nil : Array(ending)
    guard accounts[link]?.confirmed.remove(topic) != nil else { return }
    accounts[link]?.askedAt[topic] = now
    mayJump.insert(topic)
  }

  private mutating func noteResumed(_ link: UInt64) {
    guard let remains else { return fail("resumed what nobody left") }
    count("resumed")
    let topics = Set(wanted.keys)
    let known = weather.confirms ? remains.confirmed.subtracting(remains.ending.keys) : []
    let recent = remains.ending.filter { topic, ends in
      ends.contains { remains.lostAt - $0 < Self.timeout }
    }
    let uncertain = remains.told.subtracting(known).union(recent.keys)
    var account = Account()
    account.endedLongAgo = Set(remains.ending.keys)
    account.told = known.union(uncertain.subtracting(topics))
    account.confirmed = known
    account.mayTalk = true
    account.isResumed = true
    account.isLoggedIn = true
    accounts[link] = account
    // What is asked for anew begins a new row, also while the question still waits for a token.
    if !weather.recovers { mayJump.formUnion(topics.subtracting(account.told)) }
  }

  mutating func check(_ action: SessionAction) {
    switch action {
    case .send(let epoch, let message): checkSent(message.text, on: epoch.rawValue)
    case .report(let epoch, let event): checkReport(event, on: epoch.rawValue)
    case .deliver(let message, let topic?): checkDelivered(message.text, of: topic)
    case .deliver(let message, nil):
      count("numbered")
      if !numbered.insert(message.text).inserted { fail("\(message.text) is delivered twice") }
    case .acknowledged: break
    case .answered(let id, _):
      if requests.removeValue(forKey: id) == nil { fail("request \(id) ends twice") }
      count("answered")
    case .requestFailed(let id, let failure):
      guard let request = requests.removeValue(forKey: id) else {
        return fail("request \(id) ends twice")
      }
      count("\(failure)")
      let isDue = request.deadline == now
      let isLost = request.link.map { accounts[$0] == nil } ?? false
      if failure == .timedOut ? !isDue : !isLost || request.survives { fail("\(id) \(failure)") }
    case .topicRefused(let topic, _):
      count("refused topic")
      if wanted[topic] == nil { fail("\(topic) is refused, and nobody wants it") }
      forget(topic)
    }
  }

  private mutating func checkReport(_ event: SessionEvent, on link: UInt64) {
    guard event == .ready || event == .resumed else { return }
    if accounts[link]?.isReady != false { fail("\(link) is ready twice") }
    accounts[link]?.isReady = true
    if accounts[link]?.told != Set(wanted.keys) { fail("\(link) is ready too early (I14)") }
  }

  private mutating func checkSent(_ text: String, on link: UInt64) {
    guard let account = accounts[link] else { return fail("\(text) goes to no link") }
    peer.links[link]?.toPeer.append(text)
    let words = text.split(separator: " ").map(String.init)
    if words[0] == "login" {
      if account.isLoggedIn { fail("a second login") }
      accounts[link]?.isLoggedIn = true
      return
    }
    if !account.mayTalk { fail("\(text) precedes the answer to the login (I14)") }
    takeToken()
    let topics = words[1].split(separator: ",").map(String.init)
    if topics.count > settings.topicsPerMessage { fail("\(text) names too many topics") }
    if Set(topics).count < topics.count { fail("\(text) names a topic twice") }
    if words[0] != "ack", account.isRetired { fail("\(text) goes to a link that was replaced") }
    for topic in topics {
      if words[0] == "sub" { checkSubscribed(topic, on: link) }
      if words[0] == "unsub" { checkUnsubscribed(topic, on: link) }
    }
    if words[0] == "recover" {
      count("recovery")
      if delivered[topics[0]] != UInt64(words[2]) { fail("\(text) asks for what it has") }
    }
  }

  private mutating func checkSubscribed(_ topic: String, on link: UInt64) {
    guard let account = accounts[link] else { return }
    if wanted[topic] == nil { fail("nobody wants \(topic)") }
    if account.told.contains(topic) {
      count("repetition")
      let waited = now - (account.askedAt[topic] ?? now)
      if account.confirmed.contains(topic) || waited < Self.timeout {
        fail("\(topic) is asked for twice")
      }
    } else {
      accounts[link]?.told.insert(topic)
      // Where nothing is recovered, a subscription that is alone begins a new row.
      let isAlone = accounts.allSatisfy { $0.key == link || !$0.value.told.contains(topic) }
      if !weather.recovers, isAlone { mayJump.insert(topic) }
    }
    accounts[link]?.askedAt[topic] = now
    accounts[link]?.confirmed.remove(topic)
  }

  private mutating func checkUnsubscribed(_ topic: String, on link: UInt64) {
    let wasTold = accounts[link]?.told.remove(topic) != nil
    let wasEnded = accounts[link]?.endedLongAgo.remove(topic) != nil
    if !wasTold, !wasEnded { fail("\(topic) was not asked for") }
    accounts[link]?.confirmed.remove(topic)
    if weather.confirms { accounts[link]?.ending[topic, default: []].append(now) }
    guard wanted[topic] != nil else { return }
    count("renewal")
    if !gapSeen.contains(topic) { fail("\(topic) is renewed, and nothing was missing") }
    // The next message begins the row, also one that was on its way.
    delivered[topic] = nil
    gapSeen.remove(topic)
  }

  private mutating func checkDelivered(_ text: String, of topic: String) {
    let words = text.split(separator: " ").map(String.init)
    let number = UInt64(words[2]) ?? 0
    if wanted[topic] == nil { fail("nobody wants \(topic)") }
    count(words[0])
    if let last = delivered[topic] {
      let isSnapshot = words[0] == "snap"
      if number < last || (number == last && !isSnapshot) { fail("\(text) again (I22)") }
      if number > last + 1, !isSnapshot, !mayJump.contains(topic) { fail("\(text) skips (F51)") }
    }
    delivered[topic] = number
    mayJump.remove(topic)
  }

  private mutating func takeToken() {
    refill()
    level -= tokenSpan
    if level < 0 { fail("more is sent than the rate allows (F50)") }
  }

  private mutating func refill() {
    level = min(level + (now - levelAt).nanoseconds, Int64(settings.burst) * tokenSpan)
    levelAt = now
  }

  /// Where there is a token, nothing waits for one.
  mutating func checkNothingOutstanding() {
    refill()
    guard level >= tokenSpan else { return }
    for (link, account) in accounts where account.mayTalk && !account.isRetired {
      if account.told != Set(wanted.keys) { fail("\(link) has not been told what is wanted") }
      if !account.isReady { fail("\(link) is not ready, and nothing is missing") }
    }
  }
}
