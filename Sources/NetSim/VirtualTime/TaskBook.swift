import ConnectionFSM

/// The tasks that a simulation has seen: their names, who made them, and whether they have ended.
///
/// A task is seen when its first job comes. Its name is known if ``SimulatedEventLoop/task(_:_:)``
/// made it, else as soon as it, while it runs, sleeps or gives a job to a loop; until then it goes
/// by a number in the order of appearance and by who made it.
struct TaskBook {
  private var records: [UInt64: TaskRecord] = [:]
  private var count = 0
  private var tidyAt = 256
  /// What the task that is being made is to be called.
  var nextName: String?
  /// Tasks that the runtime makes to end a sleep on a system clock; they are nobody's.
  private var helpers: Set<UInt64> = []
  private(set) var capturedIDs: [UInt64] = []

  /// Enters the job's task, if it has one that is new.
  /// - Returns: The record, and whether it is new.
  mutating func note(_ job: UnownedJob, on loop: SimulatedEventLoop) -> (TaskRecord, isNew: Bool)? {
    guard let id = Runtime.taskID(of: job) else { return nil }
    if let record = records[id] { return (record, false) }
    if records.count >= tidyAt { tidy() }
    count += 1
    let maker = Runtime.currentTask.flatMap { self.record(of: $0) }
    maker?.learnName()
    let label = TaskLabel(number: count, name: nextName.take())
    let record = TaskRecord(label, maker: maker?.label, loop: loop)
    if !Runtime.isInParent(job) { record.object = Runtime.object(job) }
    record.isChild = Runtime.isChild(job)
    records[id] = record
    return (record, true)
  }

  func record(of job: UnownedJob) -> TaskRecord? {
    Runtime.taskID(of: job).flatMap { records[$0] }
  }

  /// What to call the task with that number of the runtime.
  func name(ofID id: UInt64?) -> String {
    id.flatMap { records[$0] }?.description ?? "a task that the simulation has not seen"
  }

  mutating func captured(_ task: UnownedJob) {
    if let id = Runtime.taskID(of: task) { capturedIDs.append(id) }
  }

  mutating func addHelper(_ job: UnownedJob) {
    if let id = Runtime.taskID(of: job) { helpers.insert(id) }
  }

  /// Whether the job is one of a helper, which gives one job more on its way.
  mutating func helpers(contain job: UnownedJob) -> Bool {
    guard !helpers.isEmpty, let id = Runtime.taskID(of: job) else { return false }
    return helpers.remove(id) != nil
  }

  /// The tasks that have not ended, by number. Asked once, see ``Runtime/isUnended(_:)``.
  func unended() -> [TaskRecord] {
    records.values.filter { !$0.isChild && $0.object.map(Runtime.isUnended) ?? false }
      .sorted { $0.label.number < $1.label.number }
  }

  /// Forgets tasks that are gone, and every `async let`, which is entered again if it lives.
  private mutating func tidy() {
    records = records.filter { $0.value.object != nil }
    CapturedTasks.remove(capturedIDs.filter { records[$0] == nil })
    capturedIDs.removeAll { records[$0] == nil }
    tidyAt = max(256, records.count * 2)
  }
}

/// What a task is called: by its name, or by a number in the order of appearance.
struct TaskLabel: CustomStringConvertible {
  let number: Int
  var name: String?

  var description: String { name.map { "“\($0)”" } ?? "task \(number)" }
}

/// What is known of one task.
final class TaskRecord: CustomStringConvertible {
  private(set) var label: TaskLabel
  private let maker: TaskLabel?
  /// Where it was made, and where its jobs run if it prefers no loop.
  let loop: SimulatedEventLoop
  private var isAsked: Bool
  /// Whether its jobs have left the simulation and were brought back.
  var isCaptured = false
  var isChild = false
  weak var object: TaskObject?

  init(_ label: TaskLabel, maker: TaskLabel?, loop: SimulatedEventLoop) {
    self.label = label
    self.maker = maker
    self.loop = loop
    isAsked = label.name != nil
  }

  /// Asks the task for the name that it was made with; to be called while it runs.
  func learnName() {
    guard !isAsked else { return }
    isAsked = true
    if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, visionOS 26, *) { label.name = Task.name }
  }

  var description: String { maker.map { "\(label), made by \($0)" } ?? label.description }
}
