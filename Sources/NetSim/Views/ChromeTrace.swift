public import ConnectionFSM

/// A trace in the Chrome trace-event format (the JSON object format), which Perfetto and
/// `chrome://tracing` open.
///
/// One process, the client. Its threads are the machine's state, its steps, and the network (what
/// was noted). Attempts, pings and messages are asynchronous slices: each has a track of its own
/// where it overlaps others. The number of messages without an end is a counter. Time is exact: in
/// microseconds, with the nanoseconds as decimals.
public struct ChromeTrace: TraceView {
  private let title: String
  private var chronicle = Chronicle()
  private var steps: [Event] = []
  private var causality = Causality()

  /// Makes an empty trace.
  /// - Parameter title: What the process is called, such as the scenario's name.
  public init(title: String) { self.title = title }

  /// Takes the next step of the trace.
  public mutating func add(_ record: TraceRecord) {
    chronicle.add(record)
    let line = TraceLine(record, parent: causality.parent(of: record))
    var details = [
      ("step", "\(line.sequence)"), ("disposition", line.disposition.json),
      ("from", line.from.json), ("to", line.to.json),
      ("effects", line.effects.joined(separator: ", ").json),
      ("waitsFor", line.waitsFor.json),
    ]
    if let parent = line.parent { details.append(("ledToByStep", "\(parent)")) }
    if let cause = line.cause { details.append(("cause", cause.json)) }
    steps.append(
      Event(
        "i", line.input, "step", at: record.instant, on: .steps, [("s", "t".json)],
        details: details))
  }

  /// Takes something that is no step: what the network or the device did.
  public mutating func note(_ text: String, at instant: Instant) {
    chronicle.note(text, at: instant)
  }

  /// The JSON text, with a newline at its end: an event a line.
  public var text: String {
    var events = steps
    events += chronicle.phases.map(phase)
    for attempt in chronicle.attempts { events += slices(of: attempt) }
    for ping in chronicle.pings { events += slices(of: ping) }
    for message in chronicle.messages { events += slices(of: message) }
    events += chronicle.notes.map { note in
      Event("i", note.text, "fault", at: note.instant, on: .network, [("s", "p".json)])
    }
    events += chronicle.depths.map { depth in
      Event(
        "C", "messages without an end", "queue", at: depth.instant, on: .state,
        details: [("messages", "\(depth.count)")])
    }
    // Stable: at one instant in the order given, in which slices nest.
    let order = events.indices.sorted {
      (events[$0].instant, $0) < (events[$1].instant, $1)
    }
    let lines = metadata + order.map { events[$0].text }
    return "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"package\":\(packageVersion.json),"
      + "\"title\":\(title.json)},\"traceEvents\":[\n"
      + lines.joined(separator: ",\n") + "\n]}\n"
  }
}

// MARK: Events

extension ChromeTrace {
  /// One line of the file.
  private struct Event: Sendable {
    let instant: Instant
    let text: String

    init(
      _ type: String, _ name: String, _ category: String, at instant: Instant, on track: Track,
      _ fields: [(String, String)] = [], details: [(String, String)] = []
    ) {
      self.instant = instant
      var fields =
        [
          ("name", name.json), ("cat", category.json), ("ph", type.json),
          ("ts", instant.microseconds), ("pid", "1"), ("tid", "\(track.rawValue)"),
        ] + fields
      if !details.isEmpty { fields.append(("args", object(details))) }
      text = object(fields)
    }
  }

  private enum Track: Int, CaseIterable {
    case state = 1
    case steps
    case network
    case attempts
    case heartbeats
    case messages

    var name: String {
      switch self {
      case .state: "state"
      case .steps: "steps"
      case .network: "network and device"
      case .attempts: "attempts and links"
      case .heartbeats: "heartbeats"
      case .messages: "messages"
      }
    }
  }

  private var metadata: [String] {
    func entry(_ kind: String, _ track: Int?, _ argument: String, _ value: String) -> String {
      var fields = [("name", kind.json), ("ph", "M".json), ("ts", "0"), ("pid", "1")]
      if let track { fields.append(("tid", "\(track)")) }
      return object(fields + [("args", object([(argument, value)]))])
    }
    var lines = [entry("process_name", nil, "name", "client: \(title)".json)]
    for track in Track.allCases {
      lines.append(entry("thread_name", track.rawValue, "name", track.name.json))
      lines.append(entry("thread_sort_index", track.rawValue, "sort_index", "\(track.rawValue)"))
    }
    return lines
  }

  private func phase(_ span: Chronicle.PhaseSpan) -> Event {
    var details = [("step", "\(span.step)")]
    if let cause = span.cause { details.append(("cause", "\(cause)".json)) }
    return Event(
      "X", "\(span.phase)", "state", at: span.start, on: .state,
      [("dur", Instant(nanoseconds: (span.end - span.start).nanoseconds).microseconds)],
      details: details)
  }

  /// A slice from one instant to another, which begins and ends with its identity.
  private func slice(
    _ name: String, _ category: String, _ id: String, on track: Track, _ start: Instant,
    _ end: Instant?, inner: [Event] = [], details: [(String, String)], atEnd: [(String, String)]
  ) -> [Event] {
    let end = end ?? chronicle.end
    let identity = [("id", id.json)]
    return [Event("b", name, category, at: start, on: track, identity, details: details)] + inner
      + [Event("e", name, category, at: end, on: track, identity, details: atEnd)]
  }

  private func slices(of attempt: Chronicle.Attempt) -> [Event] {
    let id = "\(attempt.epoch.rawValue)"
    let end = attempt.ended ?? chronicle.end
    var inner = slice(
      "dialling", "link", id, on: .attempts, attempt.dialled, attempt.opened ?? end, details: [],
      atEnd: [])
    if let opened = attempt.opened {
      inner += slice("open", "link", id, on: .attempts, opened, end, details: [], atEnd: [])
    }
    return slice(
      "\(attempt.epoch)", "link", id, on: .attempts, attempt.dialled, attempt.ended, inner: inner,
      details: [("endpoint", "\(attempt.endpoint)".json), ("step", "\(attempt.step)")],
      atEnd: [("cause", attempt.cause.map { "\($0)".json } ?? "none: the trace ends".json)])
  }

  private func slices(of ping: Chronicle.Ping) -> [Event] {
    let answer = ping.answered == nil ? "none" : "pong"
    return slice(
      "\(ping.epoch) ping \(ping.number)", "heartbeat", "\(ping.epoch.rawValue).\(ping.number)",
      on: .heartbeats, ping.sent, ping.answered ?? ping.ended, details: [("step", "\(ping.step)")],
      atEnd: [("answer", answer.json)])
  }

  private func slices(of message: Chronicle.Message) -> [Event] {
    let id = "\(message.id)"
    let sent = message.transmissions.map { transmission in
      Event(
        "n", "given to \(transmission.epoch)", "message", at: transmission.instant, on: .messages,
        [("id", id.json)])
    }
    return slice(
      "message \(id)", "message", id, on: .messages, message.taken, message.ended, inner: sent,
      details: [("bytes", "\(message.byteCount)")],
      atEnd: [("outcome", message.outcome.map { "\($0)".json } ?? "none: the trace ends".json)])
  }
}

private func object(_ fields: [(String, String)]) -> String {
  "{" + fields.map { "\($0.0.json):\($0.1)" }.joined(separator: ",") + "}"
}
