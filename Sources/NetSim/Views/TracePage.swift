public import ConnectionFSM

/// A trace as one HTML page that needs nothing else: a timeline of states, links, heartbeats,
/// faults and the queue, the step under the pointer with what led to it, and a table of the steps.
///
/// The page holds the trace as data and draws it in the browser, where foreign text only ever
/// becomes text; it loads nothing, and says so to the browser by a content security policy.
public struct TracePage: TraceView {
  private let title: String
  private let seed: UInt64
  private var chronicle = Chronicle()
  private var causality = Causality()
  private var statistics = Statistics()
  /// The steps as JSON, in order.
  private var steps: [String] = []
  /// How many steps came before each note.
  private var places: [Int] = []

  /// Makes an empty page.
  /// - Parameters:
  ///   - title: Its heading, such as the scenario's name.
  ///   - seed: What the run was drawn from.
  public init(title: String, seed: UInt64) {
    self.title = title
    self.seed = seed
  }

  /// Takes the next step of the trace.
  public mutating func add(_ record: TraceRecord) {
    chronicle.add(record)
    statistics.add(record)
    let line = TraceLine(record, parent: causality.parent(of: record))
    steps.append(
      array([
        "\(line.sequence)", "\(line.instant)", line.parent.map(String.init) ?? "0",
        line.input.json, line.disposition.json, line.from.json, line.to.json,
        line.effects.joined(separator: ", ").json, line.waitsFor.json, optional(line.until),
        optional(line.cause),
      ]))
  }

  /// Takes something that is no step: what the network or the device did.
  public mutating func note(_ text: String, at instant: Instant) {
    chronicle.note(text, at: instant)
    places.append(steps.count)
  }

  /// The page.
  public var text: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8"/>
    <meta name="viewport" content="width=device-width, initial-scale=1"/>
    <meta name="color-scheme" content="light dark"/>
    <meta http-equiv="Content-Security-Policy" \
    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"/>
    <title>\(title.html)</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <header>
    <h1>\(title.html)</h1>
    <p>\(summary.html)</p>
    </header>
    \(facts)
    \(Self.frame)
    <script type="application/json" id="data">
    \(data)
    </script>
    <script>
    \(Self.script)
    </script>
    </body>
    </html>

    """
  }
}

// MARK: Words

extension TracePage {
  private var length: TimeSpan { chronicle.end - (chronicle.start ?? chronicle.end) }

  private var summary: String {
    "\(length.spoken), \(steps.count) steps, seed \(seed); "
      + "connection-fsm \(packageVersion)"
  }

  private var facts: String {
    let open = chronicle.phases.filter { $0.phase == .open }
      .reduce(Int64(0)) { $0 + ($1.end - $1.start).nanoseconds }
    let share = length > .zero ? open / max(1, length.nanoseconds / 100) : 0
    let unanswered = chronicle.pings.count { $0.answered == nil && $0.ended != nil }
    var entries = [
      ("Open", "\(TimeSpan.nanoseconds(open).spoken)", "\(share) % of the time"),
      (
        "Attempts", "\(chronicle.attempts.count)",
        "\(chronicle.attempts.count { $0.opened != nil }) led to a link"
      ),
      ("Pings", "\(chronicle.pings.count)", "\(unanswered) without an answer"),
    ]
    let outcomes = Outcome.allCases.compactMap { outcome in
      statistics.ended[outcome].map { "\($0) \(outcome == .inDoubt ? "in doubt" : "\(outcome)")" }
    }
    let words = outcomes.isEmpty ? "none ended" : outcomes.joined(separator: ", ")
    entries.append(("Messages", "\(chronicle.messages.count)", words))
    let cells = entries.map { name, figure, words in
      "<div><dt>\(name)</dt><dd>\(figure.html)<small>\(words.html)</small></dd></div>"
    }
    return "<dl class=\"facts\">\n" + cells.joined(separator: "\n") + "\n</dl>"
  }

  /// What the script fills.
  private static let frame = """
    <main>
    <section aria-label="Timeline" class="card">
    <div class="bar">
    <span id="range"></span>
    <button type="button" id="out" title="Zoom out (-)">&#8722;</button>
    <button type="button" id="in" title="Zoom in (+)">+</button>
    <button type="button" id="all" title="Show all (0)">All</button>
    </div>
    <div id="plot" tabindex="0" role="application" \
    aria-label="Timeline; arrow keys go from step to step, + and - zoom">
    <svg id="chart" aria-hidden="true"></svg>
    </div>
    <ul id="legend"></ul>
    </section>
    <section id="detail" class="card" aria-live="polite" aria-label="Step"></section>
    <section class="card" aria-label="Steps">
    <h2>Steps</h2>
    <button type="button" id="earlier" hidden="hidden"></button>
    <table>
    <thead><tr><th>#</th><th>Time</th><th>What happened</th><th>State</th><th>What it did</th></tr>
    </thead>
    <tbody id="rows"></tbody>
    </table>
    <button type="button" id="later" hidden="hidden"></button>
    </section>
    <noscript><p class="card">The timeline is drawn by a script in this page.</p></noscript>
    </main>
    """
}

// MARK: Data

extension TracePage {
  private var data: String {
    let phases = chronicle.phases.map { span in
      array([
        "\(span.phase)".json, time(span.start), time(span.end), optional(span.cause),
        "\(span.step)",
      ])
    }
    let attempts = chronicle.attempts.map { attempt in
      array([
        "\(attempt.epoch.rawValue)", "\(attempt.endpoint)".json, time(attempt.dialled),
        time(attempt.opened), time(attempt.ended), optional(attempt.cause), "\(attempt.step)",
      ])
    }
    let pings = chronicle.pings.map { ping in
      array([
        "\(ping.epoch.rawValue)", "\(ping.number)", time(ping.sent), time(ping.answered),
        time(ping.ended), "\(ping.step)",
      ])
    }
    let notes = zip(chronicle.notes, places).map { note, place in
      array([time(note.instant), note.text.json, "\(place)"])
    }
    let depths = chronicle.depths.map { array([time($0.instant), "\($0.count)"]) }
    let lists = [
      ("phases", phases), ("attempts", attempts), ("pings", pings), ("notes", notes),
      ("depths", depths), ("steps", steps),
    ]
    let fields = lists.map { "\($0.json):[\n\($1.joined(separator: ",\n"))]" }
    return "{\"start\":\(time(chronicle.start ?? chronicle.end)),\"end\":\(time(chronicle.end)),"
      + fields.joined(separator: ",\n") + "}"
  }

  private func array(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }

  private func time(_ instant: Instant?) -> String {
    instant.map { "\($0.nanoseconds)" } ?? "null"
  }

  private func optional(_ number: Int64?) -> String { number.map { "\($0)" } ?? "null" }

  private func optional(_ text: some CustomStringConvertible) -> String { text.description.json }

  private func optional(_ text: (some CustomStringConvertible)?) -> String {
    text.map { $0.description.json } ?? "null"
  }
}
