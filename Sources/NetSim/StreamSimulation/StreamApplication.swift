import ConnectionFSM

/// The program on the client: it calls the connection as the story says, from tasks of all kinds,
/// and keeps what it is told.
///
/// Confined to the simulation's thread. What it does it does on the device's loop, so that it
/// stands still when the device does.
final class StreamApplication: @unchecked Sendable {
  private let loop: SimulatedEventLoop
  private let log: StreamLog
  private var connection: Connection?
  private var sends: [String: Task<Void, Never>] = [:]
  private var tasks: [Task<Void, Never>] = []
  private var readers: [Task<Void, Never>] = []
  /// What it does inside the next callbacks, in the order of the story.
  private var callbacks: [(moment: StreamMoment, calls: [StreamCall])] = []
  /// A callback runs: nothing else of the connection may.
  private(set) var isCalled = false
  private let inbox = Inbox()

  /// What a consumer keeps. An actor: its jobs are simulated like all others.
  private actor Inbox {
    private(set) var states: [Explanation] = []

    func entered(_ state: Explanation) { states.append(state) }
  }

  init(_ connection: Connection, on loop: SimulatedEventLoop, _ log: StreamLog) {
    self.connection = connection
    self.loop = loop
    self.log = log
    let messages = connection.messages(bufferingUpTo: 1 << 20)
    let states = connection.states()
    readers.append(
      loop.task("reader of messages") { [log] in
        do {
          for try await message in messages { log.delivered(message) }
        } catch { log.fail(Violation("I17", "\(error)")) }
      })
    readers.append(
      loop.task("reader of states") { [inbox] in
        for await state in states { await inbox.entered(state) }
      })
  }
}

// MARK: Calls

extension StreamApplication {
  func call(_ call: StreamCall) {
    guard let connection else { return }
    switch call {
    case .connect(let number): connection.connect(to: StreamStage.endpoint(number))
    case .demand(let isNeeded): connection.demandChanged(to: isNeeded)
    case .close: tasks.append(loop.task("close") { await connection.close() })
    case .release: self.connection = nil
    case .send(let messages): for message in messages { send(message, connection) }
    case .cancel(let label): cancel(label)
    }
  }

  func change(_ lifecycle: Lifecycle) { connection?.lifecycleChanged(to: lifecycle) }

  private func send(_ message: StreamMessage, _ connection: Connection) {
    let work: @Sendable () async -> Void = { [self] in
      log.offered(message.label)
      let end: StreamBooks.End
      do throws(Rejection) {
        end = .success(
          try await connection.send(
            Message(bytes: message.payload, kind: .text), in: LaneID(message.lane)))
      } catch {
        end = .failure(error)
      }
      ended(message.label, end)
    }
    switch message.way {
    case .task: sends[message.label] = loop.task("send \(message.label)", work)
    // With a preference: what a task without one does comes a job later in debug builds than in
    // release builds, since only the optimizer leaves out its changes of executor.
    case .unstructured:
      sends[message.label] = Task(executorPreference: loop) { await work() }
    case .detached:
      sends[message.label] = Task.detached(executorPreference: loop) { await work() }
    case .post:
      log.offered(message.label)
      connection.post(
        Message(bytes: message.payload, kind: .text), in: LaneID(message.lane)
      ) { [self] end in
        inCallback { ended(message.label, end) }
      }
    }
  }

  /// Takes a message back, unless it was posted.
  private func cancel(_ label: String) {
    guard let task = sends[label] else { return }
    log.cancelled(label)
    task.cancel()
  }

  private func ended(_ label: String, _ end: StreamBooks.End) {
    log.ended(label, end)
    react(.end)
  }
}

// MARK: Callbacks

extension StreamApplication {
  /// From now on, the next time that it is told so.
  func expect(_ moment: StreamMoment, _ calls: [StreamCall]) {
    callbacks.append((moment, calls))
  }

  /// What waits for a callback is not called any more.
  func forgetCallbacks() { callbacks = [] }

  /// The connection tells of a step.
  func hears(_ record: TraceRecord) {
    guard !callbacks.isEmpty else { return }
    inCallback {
      if record.from != record.to {
        switch record.to {
        case .open: react(.open)
        case .connecting, .backingOff, .offline: react(.connecting)
        case .idle, .waitingForCredentials, .suspended, .authenticating, .closing, .closed: break
        }
      }
      if record.effects.contains(where: { if case .ended = $0 { true } else { false } }) {
        react(.closed)
      }
    }
  }

  private func inCallback(_ body: () -> Void) {
    if isCalled { log.fail(Violation("I17", "a callback was called inside another one")) }
    isCalled = true
    body()
    isCalled = false
  }

  private func react(_ moment: StreamMoment) {
    guard let place = callbacks.firstIndex(where: { $0.moment == moment }) else { return }
    let calls = callbacks.remove(at: place).calls
    for call in calls { self.call(call) }
  }
}

// MARK: The end

extension StreamApplication {
  /// Closes, unless the connection was let go of, and waits until everything that it began has
  /// ended.
  func close() async {
    // Behind what the story has told it to do.
    await loop.task("end of the story") {}.value
    if let connection { await loop.task("last close") { await connection.close() }.value }
    let begun = tasks + sends.values
    await withDiscardingTaskGroup { group in
      for task in begun { group.addTask { await task.value } }
    }
    tasks = []
    sends = [:]
  }

  /// Lets go of the connection.
  /// - Returns: The connection, if anybody else has it.
  func release() -> Connection? {
    weak let left = connection
    connection = nil
    return left
  }

  /// What the consumer of states heard, once there is nothing more to hear.
  func statesHeard() async -> [Explanation] {
    for reader in readers { await reader.value }
    return await inbox.states
  }
}
