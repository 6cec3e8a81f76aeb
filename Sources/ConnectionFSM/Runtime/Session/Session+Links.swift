// The life of a link: login, its answer, what is wanted, ready, the end (I14).

/// What a link leaves to the one that resumes its session.
struct SessionRemains {
  var token: ResumeToken?
  let inbox: Int
  /// What the peer gives us for certain.
  let confirmed: [String]
  /// What it may give us: it was told, and has not answered.
  let uncertain: [String]

  /// Where nothing is confirmed all is uncertain: what was sent last may have died with the link.
  init(of link: SessionLink, confirms: Bool) {
    token = link.token
    inbox = link.inbox
    let asked = link.asked.topics
    let waiting = link.unconfirmed.topics + link.toRepeat.topics + link.ending.topics
    let unsure = Set(waiting)
    confirmed = confirms ? asked.filter { !unsure.contains($0) } : []
    uncertain = confirms ? waiting : asked
  }
}

extension Session {
  /// The link is ready for messages: log in, if the dialect has words for that.
  package mutating func start(
    _ epoch: Epoch, resuming: Bool, with credentials: Credentials?, at now: Instant,
    into actions: inout [SessionAction]
  ) {
    // The link begins anew after a refused resume.
    if let place = place(of: epoch) { links.remove(at: place) }
    // While another link is open, what is begun beside it takes nothing of its session.
    if !resuming { remains = nil }
    let inbox = remains?.inbox ?? InboxShelf.common
    links.append(SessionLink(epoch, resumes: remains != nil, inbox: inbox))
    if let login = dialect.login(resuming: remains?.token, with: credentials) {
      actions.append(.send(epoch, login))
    } else {
      links[links.count - 1].inbox = InboxShelf.common
      askForAll(on: links.count - 1)
    }
    talk(at: now, into: &actions)
  }

  /// The machine counts this link as the open one from here on.
  package mutating func opened(
    _ epoch: Epoch, at now: Instant, into actions: inout [SessionAction]
  ) {
    guard place(of: epoch) != nil else { return }
    openEpoch = epoch
    remains = nil
    for place in links.indices where links[place].epoch != epoch {
      links[place].retire()
      gaps.forget(filledBy: links[place].epoch)
    }
    clearInboxes()
    talk(at: now, into: &actions)
  }

  /// The link is gone.
  package mutating func ended(
    _ epoch: Epoch, at now: Instant, into actions: inout [SessionAction]
  ) {
    for id in requests.popLost(with: epoch) { actions.append(.requestFailed(id, .linkLost)) }
    guard let place = place(of: epoch) else { return }
    let link = links.remove(at: place)
    // One that has resumed has changed what the peer gives us, also if it never opened. One that
    // was replaced leaves nothing, also if it outlives the link that took over.
    if openEpoch == epoch || (link.isResumed && !link.isRetired) {
      remains = SessionRemains(of: link, confirms: settings.confirmationTimeout != nil)
    }
    if openEpoch == epoch { openEpoch = nil }
    gaps.forget(filledBy: epoch)
    clearInboxes()
    talk(at: now, into: &actions)
  }

  private mutating func clearInboxes() {
    inboxes.keep { [links, remains] id in
      remains?.inbox == id || links.contains { $0.inbox == id }
    }
  }
}

// MARK: The answer to the login

extension Session {
  mutating func accepted(_ token: ResumeToken?, on place: Int) {
    guard links[place].stage == .loggingIn else { return }
    // The old session is gone, if there was one to resume.
    if links[place].resumes { remains = nil }
    links[place].token = token
    links[place].inbox = inboxes.open()
    askForAll(on: place)
    clearInboxes()
  }

  mutating func resumed(_ token: ResumeToken?, on place: Int) {
    guard links[place].stage == .loggingIn else { return }
    // What nobody asked to resume has nothing of ours.
    guard links[place].resumes, let remains else { return accepted(token, on: place) }
    links[place].token = token ?? remains.token
    links[place].isResumed = true
    for topic in remains.confirmed { links[place].inherit(topic) }
    for topic in remains.uncertain where !wanted.contains(topic) { links[place].inherit(topic) }
    for topic in remains.confirmed + remains.uncertain {
      links[place].change(topic, isWanted: wanted.contains(topic))
    }
    askForAll(on: place)
  }

  mutating func resumeRefused(on place: Int, into actions: inout [SessionAction]) {
    guard links[place].stage == .loggingIn, links[place].resumes else { return }
    links[place].stage = .refused
    remains = nil
    actions.append(.report(links[place].epoch, .resumeRefused))
  }

  mutating func refused(
    _ refusal: Refusal, on place: Int, into actions: inout [SessionAction]
  ) {
    guard links[place].stage == .loggingIn || links[place].stage == .subscribing else { return }
    links[place].stage = .refused
    links[place].retire()
    gaps.forget(filledBy: links[place].epoch)
    actions.append(.report(links[place].epoch, .refused(refusal)))
  }

  /// Plans the subscription to all that is wanted and was not asked for.
  private mutating func askForAll(on place: Int) {
    links[place].stage = .subscribing
    for topic in wanted.topics { links[place].change(topic, isWanted: true) }
  }
}
