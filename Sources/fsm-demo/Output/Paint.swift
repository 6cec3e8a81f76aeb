/// Colour for what a reader looks for first; none where standard output is no terminal.
struct Paint {
  private let isOn = Console.usesColour

  func title(_ text: String) -> String { paint("1", text) }

  func alarm(_ text: String) -> String { paint("1;31", text) }

  func faint(_ text: String) -> String { paint("2", text) }

  private func paint(_ code: String, _ text: String) -> String {
    isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
