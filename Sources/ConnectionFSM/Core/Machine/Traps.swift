// Our own bugs trap; weather never does.

extension Machine {
  /// The one way this package traps: with the machine's whole situation in the message.
  func trap(_ message: StaticString, _ input: Input?) -> Never {
    #if hasFeature(Embedded)
      fatalError("connection machine: broken invariant")
    #else
      fatalError(
        "\(message) (state: \(state), link: \(String(describing: primary)), "
          + "input: \(String(describing: input)), now: \(now.nanoseconds) ns)")
    #endif
  }
}

func trapUnless(_ condition: Bool, _ message: StaticString) {
  #if hasFeature(Embedded)
    if !condition { fatalError("connection machine: broken invariant") }
  #else
    if !condition { fatalError("\(message)") }
  #endif
}
