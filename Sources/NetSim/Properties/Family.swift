/// What a drawn story can be made of. Each seed leaves whole families out (swarm testing): what two
/// of them hide from each other when all are there shows when one of them is not.
enum Family: Int, CaseIterable, Sendable {
  // The application.
  case connects, closes, elsewhere, messages, bursts, replacements, demand, callbacks, partings
  // The device.
  case sleeps, lifecycle, timers
  // Dials.
  case servers, refusals, hangs, names, busyServers, fatalAnswers, hosts
  // Links.
  case resets, finishes, closeCodes, silence, traffic, blocks, viability, drains
  // The way.
  case paths, lies, interfaces, darkness, losses, delays
  // Those who answer, and answers to attempts that are over.
  case sessions, credentials, ghosts

  /// Whether it can bring a connection to rest that the application wants: then the application
  /// connects again once everything is well.
  var mayEnd: Bool {
    switch self {
    case .closes, .callbacks, .partings, .drains, .names, .fatalAnswers, .closeCodes, .sessions,
      .credentials, .ghosts:
      true
    case .connects, .elsewhere, .messages, .bursts, .replacements, .demand, .sleeps, .lifecycle,
      .timers, .servers, .refusals, .hangs, .busyServers, .hosts, .resets, .finishes, .silence,
      .traffic, .blocks, .viability, .paths, .lies, .interfaces, .darkness, .losses,
      .delays:
      false
    }
  }
}

/// Some of the families.
struct Families: Sendable {
  private(set) var list: [Family] = [.messages]

  init(from draws: inout RandomStream) {
    // Few or many: a chance of its own for each story.
    let chance = draws.next(through: 4)
    for family in Family.allCases where family != .messages && draws.next(through: 7) <= chance {
      list.append(family)
    }
  }

  func contains(_ family: Family) -> Bool { list.contains(family) }

  mutating func remove(_ family: Family) { list.removeAll { $0 == family } }
}
