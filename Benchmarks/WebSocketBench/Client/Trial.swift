import ConnectionFSM

/// What is asked for: as with the clients of others, but for the mode.
struct Trial: Sendable {
  enum Mode: String {
    case transport, connection
  }

  let port: UInt16
  let size: Int
  let inFlight: Int
  let count: Int
  let mode: Mode

  init?(_ arguments: some Collection<String>) {
    let words = Array(arguments)
    guard (4...5).contains(words.count), let port = UInt16(words[0]), let size = Int(words[1]),
      let inFlight = Int(words[2]), let count = Int(words[3]),
      let mode = Mode(rawValue: words.count == 5 ? words[4] : "transport"),
      size >= 0, inFlight > 0, count > 0
    else { return nil }
    self.port = port
    self.size = size
    self.inFlight = inFlight
    self.count = count
    self.mode = mode
  }

  var message: Message { Message(bytes: [UInt8](repeating: 97, count: size)) }

  /// MB/s counts the payload once, though it goes and comes.
  func line(_ stopwatch: Stopwatch) -> String {
    let rate = Double(count) / seconds(stopwatch.elapsed)
    let megabytes = rate * Double(size) / 1e6
    let processor = seconds(stopwatch.processor) * 1e6 / Double(count)
    return "\(mode.rawValue) size=\(size) win=\(inFlight) n=\(count) rt/s=\(Int(rate)) "
      + "MB/s=\(rounded(megabytes)) us_cpu/msg=\(rounded(processor))"
  }

  private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

  /// To hundredths.
  private func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
