package import ConnectionFSM
package import Transports

/// Takes readings, each a line `NUMBER VALUE`, and sends every line back.
package final class Collector: ServerProgram {
  /// The readings, in the order in which they came.
  package private(set) var readings: [String] = []
  /// How many came again: a link had died between a line and its echo.
  package private(set) var repeatCount = 0

  private var lastNumber = 0
  private let note: (String) -> Void

  /// - Parameter note: Hears of each reading.
  package init(note: @escaping (String) -> Void = { _ in }) { self.note = note }

  package func received(_ message: Message, from client: Int) -> [ServerDeed] {
    let line = message.text
    // They come in order, so that the last number tells new ones from old ones.
    let number = Int(line.prefix { $0 != " " }) ?? 0
    if number > lastNumber {
      lastNumber = number
      readings.append(line)
      note(line)
    } else {
      repeatCount += 1
    }
    return [.send(message, to: client)]
  }
}
