import ConnectionFSM
import NetSim
import Testing
import Transports

/// What an app does with a `Connection`, as data, against the server of a `ByteStory`.
struct TalkStory: Sendable, CustomTestStringConvertible {
  enum Act: Sendable {
    case connect
    case post(String, lane: UInt8)
    /// Until it is, or has been since the last such act, in that phase.
    case until(Phase)
    /// Until so many messages have ended.
    case untilEnded(Int)
    /// Until so many messages have been read.
    case untilRead(Int)
    case close
  }

  let name: String
  var connectDeadline = TimeSpan.seconds(20)
  var attemptLimit: UInt32?
  let port: ByteStory.Port
  let acts: [Act]
  let seen: [String]
  let served: [[String]]?

  var testDescription: String { name }

  var scene: ByteStory {
    ByteStory(name, port: port, clients: [], see: [seen], servers: served)
  }

  /// Waits of milliseconds: the story is about order.
  func policy() throws -> Policy {
    try Policy(
      connectDeadline: connectDeadline, closeDeadline: .seconds(20),
      backoff: Backoff(
        first: .milliseconds(4), base: .milliseconds(2), cap: .milliseconds(8), jitter: .full,
        stability: .seconds(10), attemptLimit: attemptLimit),
      minimumDialSpacing: .milliseconds(1), heartbeat: nil,
      lanes: [
        Lane(.atMostOnce, timeToLive: nil, countLimit: 10),
        Lane(.atLeastOnce, timeToLive: nil, countLimit: 10),
      ])
  }
}

/// An app with a connection over a line framing, in which every line's echo acknowledges it.
final class TalkClient<World: StoryWorld>: StoryProgram, @unchecked Sendable {
  private let world: World
  private let loop: any EventLoop
  private let acts: [TalkStory.Act]
  private let connection: Connection
  private let journal = Journal()
  private var next = 0
  private var phasesPassed = 0
  private var read: [String] = []
  private var tasks: [Task<Void, Never>] = []
  private var limit = Instant.origin
  private(set) var isDone = false
  private(set) var seen: [String] = []
  let written: Int? = nil

  init(_ world: World, _ story: TalkStory) throws {
    self.world = world
    loop = world.dialer.eventLoop
    acts = story.acts
    let framing = try DelimiterFraming(delimiter: .lf, acknowledgement: .echo)
    let journal = journal
    connection = try Connection(
      StreamTransport(world.dialer) { framing }, policy: story.policy(), seed: 1
    ) { journal.record($0) }
  }

  func start() {
    limit = loop.now + .seconds(30)
    let messages = connection.messages(bufferingUpTo: 100)
    task { client in
      do {
        for try await message in messages {
          client.read.append(String(decoding: message.bytes, as: UTF8.self))
        }
      } catch {}
    }
    deadlineReached()
  }

  private func task(_ body: @escaping @Sendable (TalkClient) async -> Void) {
    tasks.append(Task(executorPreference: loop) { [self] in await body(self) })
  }

  private func end(_ what: [String]) {
    isDone = true
    for task in tasks { task.cancel() }
    seen = what
  }

  private func perform(_ act: TalkStory.Act) -> Bool {
    switch act {
    case .connect: connection.connect(to: world.endpoint(of: .server))
    case .post(let text, let lane):
      let journal = journal
      connection.post(Message(text), in: LaneID(lane)) { journal.ended(text, $0) }
    case .until(let phase):
      guard let place = journal.phases[phasesPassed...].firstIndex(of: phase) else { return false }
      phasesPassed = place + 1
    case .untilEnded(let count): return journal.outcomes.count >= count
    case .untilRead(let count): return read.count >= count
    case .close: task { await $0.connection.close() }
    }
    return true
  }

  /// What does not depend on the instants of either world.
  private var projection: [String] {
    [
      journal.phases.map { "\($0)" }.joined(separator: " → "), "\(journal.dials) dials",
      journal.causes.map { "\($0)" }.joined(separator: ", "),
      journal.outcomes.joined(separator: ", "), "read \(read.joined(separator: ", "))",
    ]
  }
}

extension TalkClient: DeadlineHandler {
  func deadlineReached() {
    while next < acts.count, perform(acts[next]) { next += 1 }
    if next == acts.count { return end(projection) }
    if loop.now > limit { return end(projection + ["stuck in \(acts[next])"]) }
    loop.arm(self, at: loop.now + .milliseconds(1))
  }
}
