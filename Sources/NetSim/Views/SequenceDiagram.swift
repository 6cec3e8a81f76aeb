public import ConnectionFSM

/// A trace as a sequence diagram in plain ASCII: three lanes, client, network and server, and time
/// going down. Each row is at most 100 columns wide.
///
/// It is drawn as the client sees it. An arrow to the server is known to have arrived by its
/// answer, or by that to a later one on the same link; one whose link ended without any ends in the
/// network's lane with an `x`, and one that still waits at the end of the trace ends in dots.
public struct SequenceDiagram: TraceView {
  var rows: [Row] = []
  private var questions: [Question] = []
  /// The row of bytes that arrived, with what was in them perhaps to come.
  var arrival: (row: Int, epoch: Epoch, instant: Instant)?

  /// Makes an empty diagram.
  public init() {}

  /// Takes the next step of the trace.
  public mutating func add(_ record: TraceRecord) {
    let first = rows.count
    // Answers first: they decide the fate of what this step may end.
    answer(record)
    draw(record)
    for effect in record.effects { draw(effect, of: record) }
    if record.from != record.to { drawWait(record) }
    if record.from != record.to || first == 0 {
      if rows.count == first { rows.append(Row(record.instant, .word(""))) }
      rows[first].phase = record.to
    }
  }

  /// Takes something that is no step: what the network or the device did.
  public mutating func note(_ text: String, at instant: Instant) {
    rows.append(Row(instant, .event(text.oneLine)))
  }

  /// The diagram, with a newline behind each row.
  public var text: String {
    var lines = [Row.head]
    var last: Instant?
    for row in rows {
      if let last, row.instant - last >= .seconds(1) { lines.append(Row.gap) }
      last = row.instant
      lines += row.lines
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

// MARK: What was asked, and whether it arrived

extension SequenceDiagram {
  /// How an arrow to the server ends.
  enum Fate: Sendable {
    case underWay
    case arrived
    case lost
  }

  struct Question: Sendable {
    enum Kind: Sendable, Equatable {
      case dial
      case session
      case close
      case ping(UInt32)
      case messages(MessageRange)
    }

    let epoch: Epoch
    let kind: Kind
    let row: Int
    /// The system took all of it, which ended it.
    var isWritten = false
  }

  // Answers of attempts that are over come within an attempt or two.
  private static let attemptLimit: UInt64 = 8

  mutating func ask(
    _ kind: Question.Kind, of epoch: Epoch, _ words: String, at instant: Instant
  ) {
    questions.append(Question(epoch: epoch, kind: kind, row: rows.count))
    rows.append(Row(instant, .toServer("\(epoch) \(words)", .underWay)))
  }

  fileprivate mutating func answer(_ record: TraceRecord) {
    switch record.input {
    case .session(let epoch, _): settle(epoch) { $0.kind == .session }
    case .transport(let epoch, let event):
      switch event {
      case .opened: settle(epoch) { $0.kind == .dial }
      case .failed(let cause) where cause.isTold: settle(epoch) { $0.kind == .dial }
      case .closed:
        // An end in order: what the system took before our close has arrived. What wants to be
        // acknowledged, and was not, stays in doubt.
        guard questions.contains(where: { $0.epoch == epoch && $0.kind == .close }) else { return }
        settle(epoch) { $0.kind == .close || $0.isWritten }
      case .pong(let number):
        let ping = questions.last { $0.epoch == epoch && $0.kind == .ping(number) }
        guard let ping else { return }
        // A stream is in order: what was sent before the ping has arrived, too.
        settle(epoch, through: ping.row) { question in
          if case .messages = question.kind { return true }
          return question.kind == .ping(number)
        }
      case .acknowledged(let id):
        settle(epoch) { question in
          guard case .messages(let range) = question.kind else { return false }
          return range.first.lane == id.lane && range.first <= id
        }
      case .failed, .received, .written, .writabilityChanged, .viabilityChanged, .drainRequested,
        .betterPathAvailable:
        return
      }
    case .connect, .close, .drain, .offer, .cancel, .resized, .demandChanged, .lifecycleChanged,
      .pathChanged, .policyReplaced, .deadlineReached, .credentials:
      return
    }
  }

  private mutating func settle(
    _ epoch: Epoch, through row: Int = .max, where matches: (Question) -> Bool
  ) {
    questions.removeAll { question in
      guard question.epoch == epoch, question.row <= row, matches(question) else {
        return false
      }
      rows[question.row].content.setFate(.arrived)
      return true
    }
  }

  mutating func noteWritten(_ range: MessageRange) {
    for place in questions.indices {
      if case .messages(let given) = questions[place].kind, given.contains(range.last) {
        questions[place].isWritten = true
      }
    }
  }

  /// A late answer may still say that something arrived.
  mutating func lose(_ epoch: Epoch) {
    for question in questions where question.epoch == epoch {
      rows[question.row].content.setFate(.lost)
    }
  }

  mutating func forget(before epoch: Epoch) {
    questions.removeAll { $0.epoch.rawValue + Self.attemptLimit < epoch.rawValue }
  }
}
