import ConnectionFSM

extension EventLoop {
  /// Runs work on this loop, after what was there before; a device asleep does it once awake.
  func later(_ work: @escaping () -> Void) {
    let confined = Confined(work: work)
    execute { confined.work() }
  }
}

/// Unchecked: the loops of a simulation share one thread.
private struct Confined: @unchecked Sendable {
  let work: () -> Void
}
