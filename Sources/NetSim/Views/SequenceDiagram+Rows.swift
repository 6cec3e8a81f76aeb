import ConnectionFSM

// How a row looks. Lanes stand at fixed columns, so that an eye or a script finds them again.

extension SequenceDiagram {
  /// A row, or several where words need more.
  struct Row: Sendable {
    enum Content: Sendable {
      case toServer(String, Fate)
      case toClient(String)
      /// What the client does or learns by itself.
      case word(String)
      /// What the network, the server or the device did.
      case event(String)

      mutating func setFate(_ fate: Fate) {
        if case .toServer(let words, _) = self { self = .toServer(words, fate) }
      }
    }

    let instant: Instant
    var content: Content
    /// The phase that the machine went to in this step.
    var phase: Phase?

    init(_ instant: Instant, _ content: Content) {
      self.instant = instant
      self.content = content
    }
  }
}

extension SequenceDiagram.Row {
  private static let client = 26
  private static let network = 61
  private static let server = 96
  /// Between two lanes.
  private static let half = network - client - 1
  private static let whole = server - client - 1

  /// The lanes' names stand around them.
  static let head =
    "time".paddedLeft(to: 9) + "  state" + "client".paddedLeft(to: client + 3 - 16)
    + "network".paddedLeft(to: network + 4 - (client + 3))
    + "server".paddedLeft(to: server + 3 - (network + 4))

  static let gap = line("", "", empty)

  private static let empty =
    String(repeating: " ", count: half) + ":" + String(repeating: " ", count: half)

  var lines: [String] {
    let bodies = bodies
    return bodies.enumerated().map { place, body in
      let isFirst = place == 0
      return Self.line(
        isFirst ? instant.milliseconds : "", isFirst ? phase.map { $0.label } ?? "" : "", body)
    }
  }

  private static func line(_ time: String, _ phase: String, _ body: String) -> String {
    let head = time.paddedLeft(to: 9) + "  " + phase
    return head + "|".paddedLeft(to: client + 1 - head.count) + body + "|"
  }

  private var bodies: [String] {
    switch content {
    case .word(""): return [Self.empty]
    case .word(let words):
      return words.wrapped(at: Self.whole - 4).map { Self.over(Self.empty, at: 2, "\($0) ") }
    case .event(let words):
      let lines = words.wrapped(at: Self.whole - 8)
      return lines.enumerated().map { place, line in
        let mark = lines.count == 1 ? " ** \(line) ** " : place == 0 ? " ** \(line) " : " \(line) "
        return Self.over(Self.empty, at: (Self.whole - mark.count) / 2, mark)
      }
    case .toServer(let words, let fate):
      let words = words.prefix(Self.whole - 8)
      switch fate {
      case .arrived:
        let start = "-- \(words) "
        return [start + Self.dashes(Self.whole - 1 - start.count) + ">"]
      case .lost, .underWay:
        let start = "-- \(words) "
        let end = fate == .lost ? "-x" : "..."
        let arrow = start + Self.dashes(Self.half + 1 - end.count - start.count) + end
        return [Self.over(Self.empty, at: 0, arrow)]
      }
    case .toClient(let words):
      let end = " \(words.prefix(Self.whole - 8)) --"
      return ["<" + Self.dashes(Self.whole - 1 - end.count) + end]
    }
  }

  private static func dashes(_ count: Int) -> String {
    String(repeating: "-", count: max(0, count))
  }

  private static func over(_ body: String, at place: Int, _ text: String) -> String {
    String(body.prefix(place)) + text + String(body.dropFirst(place + text.count))
  }
}

extension Phase {
  /// As short as the column is wide.
  fileprivate var label: String { self == .waitingForCredentials ? "credentials" : "\(self)" }
}
