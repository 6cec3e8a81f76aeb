import ConnectionFSM
import Foundation
import NetSim

/// A comparison of fleets as one page for a browser, which asks nothing of the network.
struct FleetPage {
  let title: String
  /// Sentences about fleet and server.
  let facts: [String]
  /// The command line that makes this page.
  let command: String
  /// The head of the table; the policy comes first.
  let columns: [String]
  let cells: [[String]]
  /// What is charted: of each row the first run.
  let rows: [FleetRow]
  /// How long the server was down.
  let shaded: TimeSpan
  /// The soonest that a server of this rate can have served all.
  let bound: TimeSpan?

  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title.html)</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <h1>\(title.html)</h1>
    <p>\(facts.map(\.html).joined(separator: " "))</p>
    \(legend)
    <h2>How many are connected again</h2>
    \(connected)
    <p class="how">Steeper is sooner. No line can be left of the dashed one, the soonest that this
    server can have shaken hands with everybody.</p>
    <h2>Dials that arrive at the server, in each 100 ms</h2>
    \(dials)
    <p class="how">The height is the square root, so that what is small beside a peak is seen too.
    A spike is clients that come in step; the highest is the load that the server must bear.</p>
    <h2>The server’s line</h2>
    \(queue)
    <p class="how">Who stands in line longer than its connect deadline gives up, and is served for
    nothing. A line that is full lets dials vanish; one that is empty before the end is time
    lost.</p>
    <h2>In figures</h2>
    \(table)
    <dl>
    <dt>dials</dt><dd>of a client</dd>
    <dt>refused</dt><dd>dials while the server was down</dd>
    <dt>dropped</dt><dd>dials that vanished: the line was full, or the server silent</dd>
    <dt>wasted</dt><dd>handshakes for clients that had given up</dd>
    <dt>peak</dt><dd>the most dials in 100 ms</dd>
    <dt>50 % … all</dt><dd>seconds until so many were back</dd>
    <dt>goodput</dt><dd>the share of handshakes that gave a client its link</dd>
    <dt>radio/h</dt><dd>wake-ups of a client’s radio in an hour</dd>
    </dl>
    <p class="how">The charts show the first seed. Made by <code>\(command.html)</code></p>
    </body>
    </html>

    """
  }

  // MARK: Parts

  /// Where the time axis ends: one fleet that needs an hour must not press the others together.
  private var end: Double {
    let ends = rows.map { Double($0.shown.series.count) / 10 }.sorted()
    guard let longest = ends.last else { return 1 }
    return max(1, min(longest, 3 * ends[(ends.count - 1) / 2]))
  }

  private func span(_ span: TimeSpan) -> Double { Double(span.nanoseconds) / 1e9 }

  private var legend: String {
    let items = rows.enumerated().map { place, row in
      let goesOn = Double(row.shown.series.count) / 10 > end ? " (goes on)" : ""
      return
        "<li><svg viewBox=\"0 0 36 10\"><path class=\"line s\(place % 11)\" d=\"M1 5H35\"/></svg>"
        + "\(row.name.html)\(goesOn)</li>"
    }
    return "<ul class=\"legend\">\(items.joined())</ul>"
  }

  private var connected: String {
    chart("Connected share over time", top: 100, unit: " %", tall: true, staysOn: true) {
      Double($1.connected) / Double($0.clients) * 100
    }
  }

  private var queue: String {
    let top = rows.flatMap { $0.shown.series }.map { Double($0.queue) }.max() ?? 1
    return chart("Length of the server's line over time", top: max(1, top), unit: "", tall: true) {
      Double($1.queue)
    }
  }

  /// A chart a policy: spikes of several in one could not be told apart.
  private var dials: String {
    let top = Double(rows.map { $0.shown.peak }.max() ?? 1)
    return rows.indices.map { place in
      let peak = rows[place].shown.peak
      return "<h3>\(rows[place].name.html): \(peak.grouped) at most</h3>"
        + chart(
          "Dials of \(rows[place].name) over time", top: max(1, top), unit: "", only: place,
          tall: false
        ) { Double($1.dials) }
    }.joined()
  }

  /// One chart for wide screens and one for phones, of which the style shows one.
  private func chart(
    _ label: String, top: Double, unit: String, only: Int? = nil, tall: Bool, staysOn: Bool = false,
    _ value: (FleetRun, FleetReport.Bin) -> Double
  ) -> String {
    let places = only.map { [$0] } ?? Array(rows.indices)
    let lines = places.map { place in
      let run = rows[place].shown
      var points = run.series.enumerated().map { bin in
        (time: Double(bin.offset) / 10, value: value(run, bin.element))
      }
      if staysOn, let last = points.last, last.time < end { points.append((end, last.value)) }
      return FleetChart.Line(style: place % 11, points: points, isFilled: only != nil)
    }
    return [("wide", 900.0, tall ? 300.0 : 120.0), ("narrow", 360.0, tall ? 240.0 : 120.0)].map {
      name, width, height in
      let chart = FleetChart(
        lines: lines, end: end, top: top, isRoot: only != nil, unit: unit, shaded: span(shaded),
        bound: bound.map(span), label: label.html, width: width, height: height)
      return "<div class=\"\(name)\">\(chart.svg)</div>"
    }.joined()
  }

  private var table: String {
    func row(_ cells: [String], _ tag: String) -> String {
      "<tr>" + cells.map { "<\(tag)>\($0.html)</\(tag)>" }.joined() + "</tr>"
    }
    return "<div class=\"table\"><table><thead>\(row(columns, "th"))</thead><tbody>"
      + cells.map { row($0, "td") }.joined() + "</tbody></table></div>"
  }
}
