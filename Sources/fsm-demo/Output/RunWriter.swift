import ConnectionFSM
import Foundation
import NetSim

/// How a run is written.
enum RunFormat: String, CaseIterable {
  case text
  case jsonl
  /// A sequence diagram: client, network, server.
  case sequence
  /// Chrome trace events, for Perfetto.
  case chrome
  /// One page for a browser.
  case html
  /// The simulated bytes as TCP packets, for Wireshark.
  case pcapng
}

/// The options that every run has.
struct RunOptions {
  let seed: UInt64?
  let format: RunFormat
  /// The file to write to; nil is standard output.
  let path: String?

  init(format: RunFormat, path: String?) {
    seed = nil
    self.format = format
    self.path = path
  }

  init(_ arguments: inout ArgumentList) throws(Failure) {
    seed = try arguments.number(of: "--seed", in: 0...UInt64.max)
    format = try arguments.choice(of: "--format") ?? .text
    path = try arguments.value(of: "--output")
    guard format != .pcapng || path != nil || isatty(STDOUT_FILENO) == 0 else {
      throw arguments.usage("pcapng is binary and not for a terminal: name a file with --output")
    }
  }

  /// Whether standard output has room for words beside what was asked for.
  var tells: Bool { format == .text }

  /// A run of the machine alone has no bytes to capture.
  func requireNoBytes(of source: String) throws(Failure) {
    guard format == .pcapng else { return }
    throw Failure(
      .usage,
      "\(source): a story of the machine alone has no bytes to capture; a condition has, "
        + "--scenario commuter, and so has a story that says \"over\": \"bytes\"")
  }
}

/// Writes what a run has to tell: at once where the format goes line by line, else at its end.
struct RunWriter: Sendable {
  private let output: Output
  // One of these.
  private var lines: TraceWriter?
  private var view: (any TraceView)?
  private var capture: PacketCapture?

  /// Opens the output.
  /// - Parameter source: The file that is read meanwhile.
  init(
    _ options: RunOptions, title: String, seed: UInt64, reading source: String? = nil
  ) throws(Failure) {
    output =
      if let path = options.path {
        try Output(file: path, insteadOf: source)
      } else {
        .standard
      }
    switch options.format {
    case .text: lines = TraceWriter(.text, to: output)
    case .jsonl: lines = TraceWriter(.jsonl, to: output)
    case .sequence: view = SequenceDiagram()
    case .chrome: view = ChromeTrace(title: title)
    case .html: view = TracePage(title: title, seed: seed)
    case .pcapng: capture = PacketCapture(title: title)
    }
  }

  /// Whether it wants to see packets.
  var captures: Bool { capture != nil }

  func begin(policy: Policy, seed: UInt64) { lines?.begin(policy: policy, seed: seed) }

  mutating func step(_ record: TraceRecord) {
    lines?.step(record)
    view?.add(record)
  }

  mutating func note(_ text: String, at instant: Instant) {
    lines?.note(text, at: instant)
    view?.note(text, at: instant)
    capture?.note(text)
  }

  mutating func packet(_ segment: Segment) { capture?.add(segment) }

  /// Writes what is left to write.
  func finish() {
    if let view { output.write(Array(view.text.utf8)) }
    if let capture { output.write(capture.bytes) }
  }
}
